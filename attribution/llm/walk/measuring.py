"""Measures what a model's judgements are worth: a kind of judgement when the first one of this kind is due.

What was measured is kept beside the replies, for the server, the model and its temperature, so that controls are asked
once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Mapping
from functools import cache

import msgspec
from pydantic import BaseModel, ConfigDict, ValidationError

from attribution.llm.transport.budget import Limits, LlmBudget
from attribution.llm.transport.cache import content_hash
from attribution.llm.transport.client import LlmClient
from attribution.llm.walk.asking import (
    DROPPED,
    HOLDS,
    KINDS,
    SAME,
    SUPPORTS,
    Asker,
    Fact,
    Opinion,
    StepShown,
    controls,
    prompt,
)
from attribution.llm.walk.reliability import Counts, Reliability
from attribution.verdicts.usage import Usage

_TRUSTED = 0.9
"""The share of right controls from which a model may explore the graph by itself."""


class Measured(BaseModel):
    """What controls of one kind told, in the form that is kept.

    Attributes:
        right: the number of right replies.
        cases: the number of controls.
        true: as in ``Counts``.
        false: as in ``Counts``.
        problems: why some replies could not be used.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    right: int
    cases: int
    true: tuple[int, int, int]
    false: tuple[int, int, int]
    problems: tuple[str, ...] = ()


class Measure:
    """The controls of a run. After a control that can't be asked, nothing more is measured in this run."""

    def __init__(self, client: LlmClient) -> None:
        self._client = client
        self._known: dict[str, Measured] = {}
        self._problems: tuple[str, ...] = ()
        self._lock = asyncio.Lock()

    async def of(self, kind: str) -> tuple[Reliability, Usage]:
        """What is known after the controls of a kind of judgement, and what was used for them now."""
        async with self._lock:
            return await self._of(kind)

    async def may_explore(self) -> tuple[bool, Usage]:
        """Whether the model is good enough to explore the graph by itself, and what was used to find out now.

        Kinds with few controls come first. The others are left out once too many replies are wrong.
        """
        sizes = {kind: len(getattr(_controls(), kind)) for kind in KINDS}
        bearable = (1 - _TRUSTED) * sum(sizes.values())
        used = Usage()
        async with self._lock:
            for kind in sorted(KINDS, key=sizes.__getitem__):
                if self._wrong() > bearable:
                    break
                _, more = await self._of(kind)
                used += more
            return set(KINDS) <= self._known.keys() and self._wrong() <= bearable, used

    def _wrong(self) -> int:
        return sum(one.cases - one.right for one in self._known.values())

    async def _of(self, kind: str) -> tuple[Reliability, Usage]:
        used = Usage()
        if kind not in self._known:
            kept = await self._kept(kind)
            if kept is not None:
                self._known[kind] = kept
            elif not self._problems:
                used = await self._ask(kind)
        return self._reliability(), used

    def _reliability(self) -> Reliability:
        known: Mapping[str, Measured] = self._known
        counts = {kind: Counts(one.true, one.false) for kind, one in known.items() if kind != DROPPED}
        right = {kind: (one.right, one.cases) for kind, one in known.items()}
        steps = min(len(one.steps) for one in _controls().dropped)
        problems = dict.fromkeys([*self._problems, *(problem for one in known.values() for problem in one.problems)])
        return Reliability(counts, right, steps, tuple(problems))

    async def _kept(self, kind: str) -> Measured | None:
        if self._client.cache is None:
            return None
        key = self._key(kind)
        kept = (await self._client.cache.get([key])).get(key)
        try:
            return None if kept is None else Measured.model_validate_json(kept)
        except ValidationError:  # another version of MemTrace has kept it in another form
            return None

    async def _ask(self, kind: str) -> Usage:
        """Ask for the controls of a kind. The calls are charged to the run, and not to the budget of a failure."""
        asker = Asker(self._client, LlmBudget(Limits(), "trial", self._client.run_budget))
        told = await _TOLD[kind](asker)
        if asker.gave_up:
            self._problems = tuple(asker.problems)
        else:
            found = told.model_copy(update={"problems": tuple(asker.problems)})
            self._known[kind] = found
            if self._client.cache is not None:
                await self._client.cache.put(self._key(kind), found.model_dump_json().encode())
        return asker.budget.spent

    def _key(self, kind: str) -> str:
        settings = self._client.settings
        asked = msgspec.json.encode(getattr(_controls(), kind)).decode()
        parts = (settings.base_url.rstrip("/"), settings.model, str(settings.temperature))
        return content_hash("controls", *parts, prompt(kind), asked)


async def _same(asker: Asker) -> Measured:
    return await _opinions((one.same, asker.same(one.question, one.right, one.answer)) for one in _controls().same)


async def _supports(asker: Asker) -> Measured:
    asked = ((one.supports, asker.supports(one.question, one.right, one.messages)) for one in _controls().supports)
    return await _opinions(asked)


async def _opinions(asked: Iterable[tuple[bool, Awaitable[Opinion | None]]]) -> Measured:
    """The measure of judgements with yes or no, asked one after the other: what is right, and the judgement."""
    right, counts = [], Counts()
    for expected, judgement in asked:
        opinion = await judgement
        said = None if opinion is None else opinion.yes
        counts = _counted(counts, expected, said)
        right.append(said is expected)
    return _measured(right, counts)


async def _holds(asker: Asker) -> Measured:
    right, counts = [], Counts()
    for one in _controls().holds:
        picked = await asker.holds(Fact(one.question, one.right, one.said), one.texts)
        for number in range(len(one.texts)):
            said = None if picked is None or (picked[1].yes and picked[0] != number) else picked[1].yes
            counts = _counted(counts, number + 1 in one.holds, said)
        right.append(picked is not None and (picked[0] + 1 in one.holds if picked[1].yes else not one.holds))
    return _measured(right, counts)


async def _dropped(asker: Asker) -> Measured:
    right = []
    for one in _controls().dropped:
        shown = [StepShown(step.name, step.given, step.made) for step in one.steps]
        chosen = await asker.dropped(Fact(one.question, one.right, one.said), shown)
        right.append(chosen is not None and chosen + 1 == one.step)
    return _measured(right, Counts())


_TOLD = {SAME: _same, HOLDS: _holds, SUPPORTS: _supports, DROPPED: _dropped}


def _measured(right: list[bool], counts: Counts) -> Measured:
    return Measured(right=sum(right), cases=len(right), true=counts.true, false=counts.false)


def _counted(counts: Counts, expected: bool, said: bool | None) -> Counts:
    """The counts with one more control; ``said`` is None if there was no usable reply."""
    cases, yes, no = counts.true if expected else counts.false
    more = (cases + 1, yes + (said is True), no + (said is False))
    return Counts(more, counts.false) if expected else Counts(counts.true, more)


class _SameControl(msgspec.Struct):
    question: str
    right: list[str]
    answer: str
    same: bool


class _HoldsControl(msgspec.Struct):
    question: str
    right: list[str]
    said: str
    texts: list[str]
    holds: list[int]


class _SupportsControl(msgspec.Struct):
    question: str
    right: list[str]
    messages: list[str]
    supports: bool


class _Step(msgspec.Struct):
    name: str
    given: str
    made: str


class _DroppedControl(msgspec.Struct):
    question: str
    right: list[str]
    said: str
    steps: list[_Step]
    step: int


class _Controls(msgspec.Struct):
    same: list[_SameControl]
    holds: list[_HoldsControl]
    supports: list[_SupportsControl]
    dropped: list[_DroppedControl]


@cache
def _controls() -> _Controls:
    return msgspec.json.decode(controls(), type=_Controls)
