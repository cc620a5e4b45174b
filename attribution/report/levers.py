"""Levers: possible changes, and the failures that each change would affect.

A change of a prompt affects the failures whose blamed operation used the prompt. A change of settings affects the
failures whose blamed operation has these settings. Only a new run shows whether a change repairs the failures.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import msgspec

from attribution.report.failure_report import OperationRef, PromptRef
from attribution.report.model import Lever
from attribution.report.shares import share
from schema.kinds import ErrorType

Kind = Literal["prompt", "settings", "data"]

_DATA = "questions and gold answers of the data set"
_ORDER: tuple[Kind, ...] = ("prompt", "settings", "data")


class _Explained(Protocol):
    """The part of a case that levers need."""

    @property
    def number(self) -> int: ...

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


def levers(attributed: Sequence[_Explained], total: int) -> list[Lever]:
    """Possible changes, the change with most affected failures first.

    Args:
        attributed: cases with an error type.
        total: the number of failures with a verdict.
    """
    touched: dict[_Name, list[_Explained]] = defaultdict(list)
    for case in attributed:
        for name in _levers_of(case):
            touched[name].append(case)
    found = [_lever(name, cases, total) for name, cases in touched.items()]
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


def _lever(name: _Name, cases: Sequence[_Explained], total: int) -> Lever:
    kinds = Counter(case.error_type for case in cases)
    return Lever(
        kind=name.kind,
        share=share(f"{name.kind}:{name.key}", name.label, len(cases), total),
        settings=_settings(cases) if name.kind == "settings" else {},
        error_types={kind.value: kinds[kind] for kind in ErrorType if kinds[kind]},
        cases=[case.number for case in cases],
    )


def _settings(cases: Sequence[_Explained]) -> dict[str, list[Any]]:
    """The distinct values of each setting, in a fixed order."""
    values: dict[str, dict[bytes, Any]] = defaultdict(dict)
    for case in cases:
        for name, value in case.operation.settings.items() if case.operation else ():
            values[name][msgspec.json.encode(value)] = value
    return {name: [found for _, found in sorted(each.items())] for name, each in sorted(values.items())}
