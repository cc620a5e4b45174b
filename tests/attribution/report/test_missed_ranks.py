"""The ranks of units that searches did not return, and the prompts that lost answers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from uuid import uuid4

import pytest

from attribution.report import changes, missed_ranks
from attribution.report.changes import levers_of
from attribution.report.lost_answers import prompts_that_lost
from attribution.report.missed_ranks import Missed, MissedRank, holder
from schema.kinds import ErrorType, OperationKind, VariableKind
from schema.models import Failure, Operation, Usage, Variable
from store.contract.protocol import Database, GraphStore
from tests.factory import TraceBuilder

pytestmark = pytest.mark.one_engine


@dataclass(frozen=True)
class Held:
    variable_id: str
    holds: bool


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("", None),
        ("a", None),
        ("a b", None),
        ("a b-", "a"),
        ("a b c- d-", "b"),
        ("a- b-", None),
        ("a- b c-", "b"),
        ("a b- c d-", "a"),
    ],
)
def test_the_last_variable_that_held_the_words(path: str, found: str | None) -> None:
    """A minus after a variable says that it lacks the words."""
    assert holder([Held(word.rstrip("-"), not word.endswith("-")) for word in path.split()]) == found


@pytest.fixture
def store(database: Database) -> GraphStore:
    return database.project(f"test-{uuid4().hex}")


@pytest.fixture
def trace(store: GraphStore) -> TraceBuilder:
    return TraceBuilder(store.project_id)


def search(trace: TraceBuilder, name: str, *roles: str | None) -> tuple[Operation, list[Variable]]:
    """A search that rated a unit for each role, listed the other way round."""
    found = trace.operation(name, kind=OperationKind.RETRIEVAL)
    units = [trace.variable(f"{name} unit {place}") for place in range(len(roles))]
    usages = [
        Usage(found.id, unit.id, role, place) for place, (unit, role) in enumerate(zip(units, roles, strict=True))
    ]
    trace.usages += usages[::-1]
    return found, units


@pytest.mark.parametrize(
    ("roles", "held", "rank"),
    [
        (["returned", "considered", "considered"], [2], MissedRank(1, 3)),
        (["returned", "returned", "considered"], [2, 1], MissedRank(2, 2)),
        (["returned", "considered"], [], MissedRank(1, None)),
        (["considered"], [0], MissedRank(0, 1)),
        (["input", "returned", None, "considered"], [3], MissedRank(1, 2)),
        (["input", None], [0], None),
    ],
)
async def test_the_rank_of_what_was_missed(
    store: GraphStore, trace: TraceBuilder, roles: list[str | None], held: list[int], rank: MissedRank | None
) -> None:
    searched, units = search(trace, "s", *roles)
    search(trace, "other", "returned", "returned")
    await trace.write(store)
    missed = Missed("f", trace.trace.id, searched.id, frozenset(units[place].id for place in held))
    found = await missed_ranks.missed_ranks(store, [missed])
    assert found == ({} if rank is None else {"f": rank})


async def test_each_failure_has_the_rank_of_its_own_search(
    store: GraphStore, trace: TraceBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = TraceBuilder(store.project_id, "other")
    missed = []
    for number, built in enumerate((trace, trace, other)):
        searched, units = search(built, f"s{number}", "returned", *["considered"] * number)
        missed.append(Missed(f"f{number}", built.trace.id, searched.id, frozenset({units[number].id})))
    for built in (trace, other):
        await built.write(store)
    expected = {f"f{number}": MissedRank(1, number + 1) for number in range(3)}
    assert await missed_ranks.missed_ranks(store, missed) == expected
    size = sum((await store.counts([trace.trace.id]))[trace.trace.id].values())
    monkeypatch.setattr(missed_ranks, "MOST_ELEMENTS", size)
    assert await missed_ranks.missed_ranks(store, missed) == expected
    monkeypatch.setattr(missed_ranks, "MOST_ELEMENTS", size - 1)
    assert (await missed_ranks.missed_ranks(store, missed)).keys() == {"f2"}


def failed(trace: TraceBuilder, number: int) -> Failure:
    return trace.failure(trace.variable(f"q{number}", kind=VariableKind.QUERY))


def path(*steps: tuple[Variable, bool]) -> list[dict[str, object]]:
    return [
        {"variableId": one.id, "operationId": None, "link": "derivation", "quote": "", "holds": holds}
        for one, holds in steps
    ]


async def test_levers_of_verdicts(store: GraphStore, trace: TraceBuilder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "_DETAILS", 2)
    prompt = trace.variable("prompt", kind=VariableKind.PROMPT, name="the prompt")
    searched, units = search(trace, "s", "returned", "considered", "considered")
    steps = [trace.operation(f"step {number}") for number in range(2)]
    trace.use(steps[0], prompt)
    verdicts = [
        trace.attribution(
            failed(trace, 0),
            error_type=ErrorType.RETRIEVAL,
            operation_id=searched.id,
            evidence=json.dumps(path((units[1], True), (units[0], False))),
        ),
        trace.attribution(failed(trace, 1), error_type=ErrorType.UPDATE, operation_id=steps[0].id),
        trace.attribution(failed(trace, 2), error_type=ErrorType.UPDATE, operation_id=steps[1].id),
        trace.attribution(failed(trace, 3), error_type=ErrorType.UPDATE, operation_id=steps[0].id),
        trace.attribution(failed(trace, 4), error_type=None),
        trace.attribution(failed(trace, 5), error_type=ErrorType.ANNOTATION),
    ]
    await trace.write(store)
    found = {lever.share.key: lever for lever in await levers_of(store, verdicts)}
    assert {key: (lever.share.count, lever.share.total, lever.cases) for key, lever in found.items()} == {
        "prompt:the prompt": (2, 6, [2, 4]),
        "settings:Retrieval:operation s": (1, 6, [1]),
        "settings:Update:operation step 1": (1, 6, [3]),
        "data:data": (1, 6, [5]),
    }
    reach = found["settings:Retrieval:operation s"].reach
    assert reach is not None
    assert (reach.now, reach.k, reach.finds, reach.of) == (1, 2, 1, 1)


async def test_prompts_that_lost_answers(store: GraphStore, trace: TraceBuilder) -> None:
    other = TraceBuilder(store.project_id, "other")
    ids: dict[str, list[str]] = {}
    for built, names in ((trace, ["b", "a", "b"]), (other, ["a", "c"])):
        for number, name in enumerate(names):
            prompt = built.variable(f"p{number}", kind=VariableKind.PROMPT, name=name)
            ids.setdefault(name, []).append(prompt.id)
            step = built.operation(f"step {number}")
            built.use(step, prompt, built.variable(f"v{number}"))
            if name != "c":
                kind = ErrorType.UPDATE if number else ErrorType.EXTRACTION
                built.attribution(failed(built, number), error_type=kind, operation_id=step.id)
        await built.write(store)
    found = await prompts_that_lost(store)
    assert [(one.name, one.recorded, one.failures, dict(one.error_types)) for one in found] == [
        ("a", 2, 2, {"ExtractionError": 1, "UpdateError": 1}),
        ("b", 2, 2, {"ExtractionError": 1, "UpdateError": 1}),
        ("c", 1, 0, {}),
    ]
    assert found[0].variable_id in ids["a"]
    assert [one.variable_id for one in found[1:]] == [ids["b"][0], ids["c"][0]]
    of_one = await prompts_that_lost(store, other.trace.id)
    assert [(one.name, one.recorded, one.failures) for one in of_one] == [("a", 1, 1), ("c", 1, 0)]
