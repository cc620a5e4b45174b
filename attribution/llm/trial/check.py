"""Tries out a model: whether it answers, which forms of replies work, its speed, and settings that do not fit it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from attribution.llm.transport.abilities import Abilities
from attribution.llm.transport.cache import Cache
from attribution.llm.transport.client import LlmClient
from attribution.llm.transport.dialect import Dialect, Format
from attribution.llm.transport.errors import BudgetError, LlmError, Problem
from attribution.llm.transport.listed import Listed
from attribution.llm.transport.settings import LlmSettings
from attribution.llm.transport.text_calls import without_thoughts
from attribution.llm.trial.advice import advised, is_unlisted, names
from attribution.llm.trial.asking import Asking, Timed
from attribution.llm.trial.forms import TOOLS, FormResult, general_problem, try_forms
from attribution.llm.trial.speed import Speed, measure_speed
from attribution.verdicts.usage import Usage

_COUNT = "Count from 1 to 40, separated by commas."


@dataclass
class ModelCheck:
    """What is known of a model after its trial.

    Attributes:
        listed: the models that the server lists; None if it lists none.
        forms: whether each form of replies works; empty if the model gave no reply.
        abilities: what later runs will remember.
        thinks: whether the model thinks before it replies.
        notes: what should be set otherwise, or will go wrong.
        error: why the trial ended early, and what to do; None if it was finished.
        spent: what the trial used.
    """

    listed: tuple[Listed, ...] | None = None
    forms: list[FormResult] = field(default_factory=list)
    abilities: Abilities | None = None
    speed: Speed | None = None
    thinks: bool = False
    notes: list[str] = field(default_factory=list)
    error: str | None = None
    spent: Usage = field(default_factory=Usage)

    @property
    def is_usable(self) -> bool:
        """Whether a failure can be attributed with the model: some form of replies works."""
        return any(one.works for one in self.forms)


async def check_model(settings: LlmSettings, cache: Cache | None) -> ModelCheck:
    """Try out the model of some settings, with six requests at most that a good server answers at once.

    Args:
        settings: the model, and its server.
        cache: keeps the abilities of this server and model; earlier ones are replaced.

    Raises:
        InputError: the key's file can't be read.
    """
    check = ModelCheck()
    async with Asking(settings) as asking:
        try:
            await _tried(asking, check)
        except LlmError as error:
            check.error = advised(error, settings, check.listed)
        except BudgetError as error:
            check.error = str(error)
        check.spent = asking.budget.spent
    if check.abilities is not None:
        async with LlmClient(settings, cache) as client:
            await client.remember(check.abilities)
    return check


async def _tried(asking: Asking, check: ModelCheck) -> None:
    settings = asking.settings
    check.listed = await asking.listed()
    plain, first = await _plain(asking)
    if is_unlisted(settings.model, check.listed):
        check.notes.append(
            f"The server answers, but does not list the model {settings.model!r}. {names(check.listed)} "
            "Some servers answer every name with the model that they have."
        )
    problem = general_problem(first.reply, asking.reply_tokens)
    if problem is not None:
        check.notes.append(f"Asked to count to 40: {problem}.")
    check.forms = await try_forms(asking, plain)
    replies = [first, *(one.timed for one in check.forms if one.timed is not None)]
    check.thinks = any(map(_has_thought, replies))
    check.abilities = Abilities(_dialect(plain, check.forms), _works(check.forms, TOOLS))
    check.speed = await measure_speed(asking, plain, replies)
    check.notes += _advice(settings, check, replies)


async def _plain(asking: Asking) -> tuple[Dialect, Timed]:
    """A dialect that the server understands, and the reply to a first request."""
    dialect = Dialect()
    while True:
        try:
            return dialect, await asking.ask(dialect, _COUNT)
        except LlmError as error:
            weaker = dialect.weaker(str(error), structured=False)
            if error.kind is not Problem.UNSUPPORTED or weaker is None:
                raise
            dialect = weaker


def _has_thought(timed: Timed) -> bool:
    said = timed.reply.content.strip()
    return timed.reply.has_thought or without_thoughts(said) != said


def _works(forms: Sequence[FormResult], form: str) -> bool:
    return any(one.works for one in forms if one.form == form)


def _dialect(plain: Dialect, forms: Sequence[FormResult]) -> Dialect:
    """The strictest form of JSON that works; where none does, words are tried."""
    strictest = next((one for one in Format if _works(forms, one)), Format.TEXT)
    return Dialect(plain.output_limit, plain.temperature, strictest)


def _advice(settings: LlmSettings, check: ModelCheck, replies: Sequence[Timed]) -> list[str]:
    found = []
    if check.thinks:
        found.append(
            "The model thinks before it replies. Its thoughts count as reply: MEMTRACE_LLM_OUTPUT_TOKENS "
            f"({settings.output_tokens:,}) must have room for both."
        )
    size = next((one.context_tokens for one in check.listed or () if settings.model in one.names), None)
    if size is None and check.listed and len(check.listed) == 1:
        size = check.listed[0].context_tokens
    if size is not None and size < settings.context_tokens:
        found.append(
            f"The model's context has {size:,} tokens: set MEMTRACE_LLM_CONTEXT_TOKENS={size} "
            f"(now {settings.context_tokens:,})."
        )
    if any(one.reply.tokens is None for one in replies):
        found.append("The server does not report tokens: they are estimated from the length of the texts.")
    slowest = check.speed and check.speed.output and settings.reply_tokens / check.speed.output
    if slowest and slowest > settings.timeout:
        found.append(
            f"A reply of {settings.reply_tokens:,} tokens would take {slowest:,.0f} s, and a request may take "
            f"{settings.timeout:,.0f} s: lower MEMTRACE_LLM_OUTPUT_TOKENS, or raise MEMTRACE_LLM_TIMEOUT."
        )
    if settings.max_seconds is not None and check.speed is not None and check.speed.input < 200:
        found.append(
            f"The model is slow, and a failure may take {settings.max_seconds:,.0f} s: MEMTRACE_LLM_MAX_SECONDS "
            "allows more, and MEMTRACE_LLM_CONCURRENCY=1 lets each request have the whole server."
        )
    return found
