"""Small judgements by a model: each one a short prompt, a reply of at most 60 tokens, and a quote that is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from attribution.llm.agent.quotes import find_quote
from attribution.llm.transport.budget import LlmBudget
from attribution.llm.transport.cache import content_hash
from attribution.llm.transport.client import LlmClient
from attribution.llm.transport.conversation import Conversation, byte_size
from attribution.llm.transport.data import data_block
from attribution.llm.transport.errors import BudgetError, LlmError, Problem
from attribution.llm.transport.reply_faults import told
from attribution.llm.transport.schemas import Rejected, json_part, schema_of

F = TypeVar("F", bound=BaseModel)

REPLY_TOKENS = 60
"""The longest reply."""
SAME, HOLDS, SUPPORTS, DROPPED = "same", "holds", "supports", "dropped"
KINDS = (SAME, HOLDS, SUPPORTS, DROPPED)
"""The kinds of judgements; each is also the name of its prompt."""
_BYTES_PER_TOKEN = 2
"""A low estimate for prompts, so that no prompt is larger than expected."""
_FRAME_TOKENS = 64
"""Tokens that a server's template may add to a prompt."""
_ABOUT_ONE_REQUEST = frozenset({Problem.INVALID, Problem.REFUSED, Problem.LENGTH, Problem.CONTEXT})
"""Problems of one judgement. After any other problem the next judgement would fail, too."""


class _Form(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Same(_Form):
    quote: str
    same: bool


class _Holds(_Form):
    number: int
    quote: str
    holds: bool


class _Supports(_Form):
    quote: str
    supports: bool


class _Dropped(_Form):
    quote: str
    step: int


@dataclass(frozen=True, slots=True)
class Opinion:
    """The model's yes or no on one text; a yes has a quote of the text."""

    yes: bool
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Fact:
    """What the answer needed.

    Attributes:
        right: the gold answers; empty if there are none.
        said: the sentence of the evidence that states the fact; shown if there are no gold answers.
    """

    question: str
    right: Sequence[str]
    said: str

    def document(self) -> dict[str, Any]:
        """The fact as data for a prompt, the same in all prompts about the fact."""
        # Beside the right answers, small models would quote the sentence of the evidence, and not the text.
        known = {"right_answers": list(self.right)} if self.right else {"fact": self.said}
        return {"question": self.question, **known}


@dataclass(frozen=True, slots=True)
class StepShown:
    """A step of a program, with a text that the step was given and a text that the step made."""

    name: str
    given: str
    made: str


@dataclass(slots=True)
class Allowance:
    """The most that may be asked for one failure, and what was asked so far.

    Attributes:
        prompt_tokens: of prompts, without what the server had read before.
        reply_tokens: of replies.
    """

    judgements: int = 30
    prompt_tokens: int = 8_000
    reply_tokens: int = 1_500
    asked: int = 0
    read: int = 0
    replied: int = 0

    def permits(self, prompt_tokens: int) -> bool:
        """Whether a further judgement with a prompt of at most this size stays within all limits."""
        return (
            self.asked < self.judgements
            and self.read + prompt_tokens <= self.prompt_tokens
            and self.replied + REPLY_TOKENS <= self.reply_tokens
        )


@dataclass(slots=True)
class Asker:
    """Asks a model for judgements. What can't be had is None, and ``problems`` has the reason.

    Attributes:
        client: of the model; it caches replies by the content of the request.
        budget: charged with the calls.
        allowance: limits for one failure; None for no limits.
        problems: why judgements could not be had, each reason once.
        gave_up: whether the model or its server can't be asked any more.
    """

    client: LlmClient
    budget: LlmBudget
    allowance: Allowance | None = None
    problems: list[str] = field(default_factory=list)
    gave_up: bool = False

    async def same(self, question: str, right: Sequence[str], answer: str) -> Opinion | None:
        """Whether an answer says what a right answer says."""
        document = {"question": question, "right_answers": list(right), "answer": answer}
        reply = await self._ask(SAME, document, _Same)
        return None if reply is None else self._checked(reply.same, reply.quote, [answer])

    async def holds(self, fact: Fact, texts: Sequence[str]) -> tuple[int, Opinion] | None:
        """The index of the text that comes nearest to telling a fact, and whether it tells the fact.

        A no is about all texts.
        """
        numbered = [{"number": number, "text": text} for number, text in enumerate(texts, 1)]
        reply = await self._ask(HOLDS, fact.document() | {"texts": numbered}, _Holds)
        if reply is None or not 1 <= reply.number <= len(texts):
            return None
        opinion = self._checked(reply.holds, reply.quote, [texts[reply.number - 1]])
        return None if opinion is None else (reply.number - 1, opinion)

    async def supports(self, question: str, right: Sequence[str], messages: Sequence[str]) -> Opinion | None:
        """Whether messages support the expected answer."""
        document = {"question": question, "expected_answers": list(right), "messages": list(messages)}
        reply = await self._ask(SUPPORTS, document, _Supports)
        return None if reply is None else self._checked(reply.supports, reply.quote, messages)

    async def dropped(self, fact: Fact, steps: Sequence[StepShown]) -> int | None:
        """The index of the step that lost a fact."""
        shown = [
            {"number": number, "name": one.name, "given": one.given, "made": one.made}
            for number, one in enumerate(steps, 1)
        ]
        reply = await self._ask(DROPPED, fact.document() | {"steps": shown}, _Dropped)
        if reply is None or not 1 <= reply.step <= len(steps):
            return None
        chosen = reply.step - 1
        return None if self._checked(True, reply.quote, [steps[chosen].given]) is None else chosen

    def _checked(self, yes: bool, quote: str, texts: Sequence[str]) -> Opinion | None:
        """An opinion; None for a yes that rests on words which no text has."""
        if not yes:
            return Opinion(False)
        found = next((one for text in texts if (one := find_quote(text, quote)) is not None), None)
        if found is None:
            self._note("a quote does not stand in its text")
            return None
        return Opinion(True, found)

    async def _ask(self, kind: str, document: Mapping[str, Any], form: type[F]) -> F | None:
        if self.gave_up:
            return None
        conversation = Conversation(prompt(kind), data_block(document))
        schema = schema_of(form)
        size = _FRAME_TOKENS + sum(map(byte_size, conversation.messages)) // _BYTES_PER_TOKEN
        if self.allowance is not None:
            if not self.allowance.permits(size):
                self._note("a failure's limit of judgements is reached")
                return None
            self.allowance.asked += 1
        before = self.budget.spent
        cached = 0
        try:
            reply = await self.client.complete(conversation, self.budget, schema=schema, reply_tokens=REPLY_TOKENS)
            cached = reply.tokens.cached if reply.tokens is not None else 0
            return form.model_validate_json(json_part(told(reply.content)))
        except (LlmError, BudgetError) as error:
            self._note(str(error))
            self.gave_up = not (isinstance(error, LlmError) and error.kind in _ABOUT_ONE_REQUEST)
        except (ValidationError, Rejected):
            self._note("a reply does not have the form that was asked for")
        finally:
            if self.allowance is not None:
                spent = self.budget.spent
                self.allowance.read += spent.input_tokens - before.input_tokens - cached
                self.allowance.replied += spent.output_tokens - before.output_tokens
        return None

    def _note(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


@cache
def controls() -> bytes:
    """The file of controls: judgements whose right reply is known (see ``reliability``)."""
    return files("attribution.llm.walk").joinpath("controls.json").read_bytes()


@cache
def prompt(kind: str) -> str:
    """The fixed part of the prompts of one kind of judgement."""
    return files("attribution.llm.walk").joinpath("prompts", f"{kind}.md").read_text("utf-8").strip()


def walk_hash() -> str:
    """SHA-256 of all prompts and controls."""
    return content_hash(*map(prompt, KINDS), controls().decode())
