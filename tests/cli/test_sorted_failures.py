"""`memtrace failures --sort` lists failures as the store sorts them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from api.cli.failures import STORE_SORTS
from schema.kinds import ErrorType, VariableKind
from store.contract.answers import FailureKey
from tests.cli.conftest import Cli
from tests.factory import TraceBuilder


def test_the_names_are_those_of_the_store() -> None:
    assert set(STORE_SORTS) == {key.value for key in FailureKey}


@pytest.mark.parametrize(
    ("options", "order"),
    [
        (("--sort", "confidence"), [1, 2, 0, 3]),
        (("--sort", "confidence", "--descending"), [0, 2, 1, 3]),
        (("--sort", "errorType"), [2, 0, 1, 3]),
        (("--sort", "operation", "--descending"), [2, 1, 0, 3]),
        (("--sort", "time", "--descending"), [3, 2, 1, 0]),
    ],
)
def test_they_stand_in_the_order_that_is_asked_for(
    stored: Callable[[TraceBuilder], Cli], options: tuple[str, ...], order: list[int]
) -> None:
    trace = TraceBuilder("default", "sorted")
    said = ((0.9, ErrorType.RETRIEVAL, "a"), (0.1, ErrorType.UPDATE, "b"), (0.5, ErrorType.DELETION, "c"))
    failures = [
        trace.failure(trace.variable(f"q{n}", f"What is {n}?", kind=VariableKind.QUERY)) for n in range(len(said) + 1)
    ]
    for failure, (confidence, kind, name) in zip(failures, said, strict=False):
        operation = trace.operation(name, name=name)
        trace.attribution(failure, "flow", confidence=confidence, error_type=kind, operation_id=operation.id)
    cli = stored(trace)
    listed = [one["id"] for one in cli("failures", "--json", *options).json]
    assert listed == [failures[place].id for place in order]
    shown = cli("failures", *options).out
    places = [shown.index(f"What is {place}?") for place in order]
    assert places == sorted(places)


def test_a_direction_alone_turns_the_list_round(sample: Cli) -> None:
    listed = sample("failures", "--json").json
    assert sample("failures", "--descending", "--json").json == listed[::-1]
    assert "--sort" in sample("failures", "--sort", "nothing", code=2).err
