"""A model that judges whether a detail is in a text."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from attribution.llm.agent.prompt import prompt, prompt_hashes
from attribution.llm.agent.proposal import Probability
from attribution.llm.agent.quotes import find_quote
from attribution.llm.transport.budget import LlmBudget
from attribution.llm.transport.cache import content_hash
from attribution.llm.transport.client import LlmClient
from attribution.llm.transport.conversation import Conversation
from attribution.llm.transport.data import data_block
from attribution.llm.transport.errors import BudgetError, LlmError, Problem
from attribution.needed.presence import PresenceAnswer, PresenceQuestion

PROMPT = "presence"

_BATCH_QUESTIONS = 8
_BATCH_CHARACTERS = 24_000
_CHARACTERS_PER_TOKEN = 2
"""A low estimate, so that a batch fits into the context of any model."""
_OVERLAP = 500


class Judgement(BaseModel):
    """The answer to one question."""

    model_config = ConfigDict(extra="forbid")

    number: int
    present: bool
    quote: str
    confidence: Probability


class Judgements(BaseModel):
    """The answers to a batch of questions."""

    model_config = ConfigDict(extra="forbid")

    judgements: list[Judgement]


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a text that is judged at once."""

    key: str
    detail: str
    text: str


class LlmPresence:
    """A ``PresenceJudge``: asks in batches, caches the answers, and rejects quotes that are not in the text.

    Attributes:
        problems: why questions stayed undecided, for the verdict's details.
    """

    def __init__(self, client: LlmClient, budget: LlmBudget) -> None:
        """A judge for one failure.

        Args:
            client: the model; its cache keeps the answers.
            budget: charged with the calls.
        """
        self._client = client
        self._budget = budget
        self._given_up = False
        self._one_at_a_time = asyncio.Lock()
        self.problems: list[str] = []

    async def judge(self, questions: Sequence[PresenceQuestion]) -> list[PresenceAnswer | None]:
        """One answer for each question; None if the model, its server or the budget prevented an answer."""
        parts = [self._parts(question) for question in questions]
        answers = await self._answers({part.key: part for own in parts for part in own})
        return [_joined([answers.get(part.key) for part in own]) for own in parts]

    def _parts(self, question: PresenceQuestion) -> list[_Part]:
        settings = self._client.settings
        depends_on = (settings.base_url, settings.model, prompt_hashes(PROMPT)[PROMPT])
        # Longer texts are judged part by part.
        window = max(self._batch_characters() * 2 // 3, 2 * _OVERLAP)
        starts = range(0, max(len(question.text) - _OVERLAP, 1), window - _OVERLAP)
        texts = [question.text[start : start + window] for start in starts]
        return [
            _Part(content_hash("presence", *depends_on, question.detail, text), question.detail, text) for text in texts
        ]

    def _batch_characters(self) -> int:
        settings = self._client.settings
        return min(_BATCH_CHARACTERS, _CHARACTERS_PER_TOKEN * (settings.context_tokens - settings.reply_tokens))

    async def _answers(self, parts: dict[str, _Part]) -> dict[str, PresenceAnswer]:
        # A failure's batches run one by one, because the charge of a running call would take the room of the next call.
        # Different failures run side by side.
        async with self._one_at_a_time:
            cache = self._client.cache
            kept = await cache.get(list(parts)) if cache else {}
            answers = {key: _decoded(body) for key, body in kept.items()}
            for batch in _batches(
                [part for key, part in parts.items() if key not in answers], self._batch_characters()
            ):
                if self._given_up:
                    break
                for part, answer in zip(batch, await self._ask(batch), strict=True):
                    if answer is not None:
                        answers[part.key] = answer
                        if cache:
                            await cache.put(part.key, _encoded(answer))
            return answers

    async def _ask(self, batch: list[_Part]) -> list[PresenceAnswer | None]:
        asked = [{"number": number, "detail": part.detail, "text": part.text} for number, part in enumerate(batch)]
        conversation = Conversation(prompt(PROMPT), f"Is it there?\n{data_block(asked)}")
        try:
            reply = await self._client.structured(conversation, Judgements, self._budget, _as_it_is)
        except (LlmError, BudgetError) as error:
            self.problems.append(str(error))
            # After a useless reply the next batch may still succeed; after any other error it would fail, too.
            self._given_up = not (isinstance(error, LlmError) and error.kind in _ABOUT_ONE_BATCH)
            return [None] * len(batch)
        by_number: dict[int, Judgement] = {}
        for judgement in reply.judgements:
            by_number.setdefault(judgement.number, judgement)
        return [_verified(part, by_number.get(number)) for number, part in enumerate(batch)]


_ABOUT_ONE_BATCH = frozenset({Problem.INVALID, Problem.REFUSED, Problem.LENGTH, Problem.CONTEXT})


async def _as_it_is(judgements: Judgements) -> Judgements:
    return judgements


def _verified(part: _Part, judgement: Judgement | None) -> PresenceAnswer | None:
    if judgement is None:
        return None
    if not judgement.present:
        return PresenceAnswer(False, "", judgement.confidence)
    quote = find_quote(part.text, judgement.quote)
    return None if quote is None else PresenceAnswer(True, quote, judgement.confidence)


def _joined(answers: list[PresenceAnswer | None]) -> PresenceAnswer | None:
    """The answer for a text from the answers for its parts: one yes is enough; a no needs a sure no for each part."""
    decided = [answer for answer in answers if answer is not None]
    present = [answer for answer in decided if answer.present]
    if present:
        return max(present, key=lambda answer: answer.confidence)
    if not decided or len(decided) < len(answers):
        return None
    return min(decided, key=lambda answer: answer.confidence)


def _batches(parts: Sequence[_Part], characters: int) -> Iterator[list[_Part]]:
    batch: list[_Part] = []
    size = 0
    for part in parts:
        length = len(part.text) + len(part.detail)
        if batch and (len(batch) == _BATCH_QUESTIONS or size + length > characters):
            yield batch
            batch, size = [], 0
        batch.append(part)
        size += length
    if batch:
        yield batch


def _encoded(answer: PresenceAnswer) -> bytes:
    return json.dumps([answer.present, answer.quote, answer.confidence]).encode()


def _decoded(data: bytes) -> PresenceAnswer:
    present, quote, confidence = json.loads(data)
    return PresenceAnswer(present, quote, confidence)
