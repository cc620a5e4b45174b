"""Levers: possible changes, and the failures that each change would affect.

A change of a prompt affects the failures whose blamed operation used the prompt. A change of settings affects the
failures whose blamed operation has these settings. Only a new run shows whether a change repairs the failures.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Literal, Protocol

import msgspec

from attribution.report.failure_report import OperationRef, PromptRef
from attribution.report.missed_ranks import MissedRank
from attribution.report.model import Lever, Reach
from attribution.report.shares import share
from schema.kinds import ErrorType

Kind = Literal["prompt", "settings", "data"]

_DATA = "questions and gold answers of the data set"
_MOST_LOCATIONS = 3
_ENOUGH = 0.75
"""The share of the rated units that a proposed number of results would contain."""
_MOST_TIMES = 5
"""The most that is proposed, in multiples of the number of results now: more would be another search."""
_ORDER: tuple[Kind, ...] = ("prompt", "settings", "data")


class _Explained(Protocol):
    """The part of a case that levers need."""

    @property
    def number(self) -> int: ...

    @property
    def failure_id(self) -> str: ...

    @property
    def error_type(self) -> ErrorType | None: ...

    @property
    def operation(self) -> OperationRef | None: ...

    @property
    def prompts(self) -> Sequence[PromptRef]: ...


@dataclass(frozen=True, slots=True)
class _Name:
    kind: Kind
    key: str
    label: str


def levers(attributed: Sequence[_Explained], total: int, ranks: Mapping[str, MissedRank] | None = None) -> list[Lever]:
    """Possible changes, the change with most affected failures first.

    Args:
        attributed: cases with an error type.
        total: the number of failures with a verdict.
        ranks: of what searches missed, by failure.
    """
    touched: dict[_Name, list[_Explained]] = defaultdict(list)
    for case in attributed:
        for name in _levers_of(case):
            touched[name].append(case)
    found = [_lever(name, cases, total, ranks or {}) for name, cases in touched.items()]
    return sorted(found, key=lambda lever: (-lever.share.count, _ORDER.index(lever.kind), lever.share.key))


def _levers_of(case: _Explained) -> Iterator[_Name]:
    if case.error_type is ErrorType.ANNOTATION:
        yield _Name("data", "data", _DATA)
        return
    for prompt in case.prompts:
        yield _Name("prompt", prompt.key, f"prompt {prompt.key}")
    operation = case.operation
    if operation is not None and (operation.settings or not case.prompts):
        yield _Name("settings", operation.key, f"settings of {operation.label}")


def _lever(name: _Name, cases: Sequence[_Explained], total: int, ranks: Mapping[str, MissedRank]) -> Lever:
    kinds = Counter(case.error_type for case in cases)
    places = Counter(case.operation.location for case in cases if case.operation and case.operation.location)
    settings = _settings(cases) if name.kind == "settings" else {}
    return Lever(
        kind=name.kind,
        share=share(f"{name.kind}:{name.key}", name.label, len(cases), total),
        settings=settings,
        locations=[place for place, _ in places.most_common(_MOST_LOCATIONS)],
        reach=_reach(settings, cases, ranks) if name.kind == "settings" else None,
        error_types={kind.value: kinds[kind] for kind in ErrorType if kinds[kind]},
        cases=[case.number for case in cases],
    )


def _reach(
    settings: Mapping[str, Sequence[Any]], cases: Sequence[_Explained], ranks: Mapping[str, MissedRank]
) -> Reach | None:
    """The least number of results that would contain most of what was missed; None if the ranks say of none."""
    missed = [case for case in cases if case.error_type is ErrorType.RETRIEVAL]
    rated = [ranks[case.failure_id] for case in missed if case.failure_id in ranks]
    now = max((one.returned for one in rated), default=0)
    known = sorted(one.rank for one in rated if one.rank is not None and now < one.rank <= _MOST_TIMES * now)
    if not known:
        return None
    k = known[max(0, ceil(_ENOUGH * len(known)) - 1)]
    named = [name for name, values in settings.items() if list(values) == [now] and not isinstance(values[0], bool)]
    finds = sum(rank <= k for rank in known)
    return Reach(setting=named[0] if named else None, now=now, k=k, finds=finds, of=len(missed))


def _settings(cases: Sequence[_Explained]) -> dict[str, list[Any]]:
    """The distinct values of each setting, in a fixed order."""
    values: dict[str, dict[bytes, Any]] = defaultdict(dict)
    for case in cases:
        for name, value in case.operation.settings.items() if case.operation else ():
            values[name][msgspec.json.encode(value)] = value
    return {name: [found for _, found in sorted(each.items())] for name, each in sorted(values.items())}
