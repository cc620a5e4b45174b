"""What is blamed most: counted by hand on both engines, and against a closure of each right answer."""

from __future__ import annotations

from math import sqrt
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attribution.blame import rank as module
from attribution.blame.model import Blamed, By
from attribution.blame.rank import blame, chosen_verdicts
from attribution.trace.dependent_answers import Links, Members
from schema.models import Derivation, Operation, Session, Variable
from store.contract.protocol import Database, GraphStore
from store.shared.paging import elements
from tests.attribution.blamed import Project, make_project
from tests.factory import TraceBuilder

pytestmark = pytest.mark.one_engine


@pytest.fixture
async def seeded(database: Database) -> tuple[GraphStore, Project]:
    """The project of ``make_project``, written."""
    store = database.project(f"test-{uuid4().hex}")
    project = make_project(store.project_id)
    await project.write(store)
    return store, project


async def ranked(store: GraphStore, by: By, trace_id: str | None = None) -> list[Blamed]:
    return (await blame(store, await chosen_verdicts(store, trace_id), [by], None if trace_id is None else [trace_id]))[
        by
    ]


def row(element: Operation | Variable | Session, name: str, failed: float, passed: int) -> Blamed:
    """What is expected of an element: by hand, the total is 0.8 and 1 and 0.6."""
    score = round(failed / sqrt(2.4 * (failed + passed)), 4)
    return Blamed(element.id, name, element.trace_id, failed, passed, score)


async def test_operations(seeded: tuple[GraphStore, Project]) -> None:
    store, project = seeded
    extract_a, extract_b = project.one.extractions
    answering = next(one for one in project.one.trace.operations if one.external_id == "answer-wrong-2")
    assert await ranked(store, By.OPERATION) == [
        row(extract_b, "extract", 1.8, 1),
        row(answering, "answer", 0.6, 0),
        row(extract_a, "extract", 0.8, 2),
    ]
    assert row(extract_b, "extract", 1.8, 1).score == 0.6944


async def test_all_operations_of_a_name_are_one(seeded: tuple[GraphStore, Project]) -> None:
    """A failure that blames two of them counts once, and so does a right answer that rests on both."""
    store, project = seeded
    calls = {one.id for one in project.one.extractions}
    extracting, answering = await ranked(store, By.NAME)
    assert (extracting.name, extracting.failed, extracting.passed) == ("extract", 1.8, 3)
    assert extracting.id in calls
    assert extracting.score == round(1.8 / sqrt(2.4 * 4.8), 4)
    assert (answering.name, answering.failed, answering.passed) == ("answer", 0.6, 3)
    (inside, _) = await ranked(store, By.NAME, project.one.trace.trace.id)
    assert (inside.failed, inside.passed) == (1.8, 2)


async def test_prompts_of_equal_text_are_one(seeded: tuple[GraphStore, Project]) -> None:
    store, project = seeded
    one = project.one
    answer_prompt = one.prompts["answer"]
    expected = [row(one.prompt, "extraction-prompt", 1.8, 3), row(answer_prompt, "answer-prompt", 0.6, 3)]
    assert await ranked(store, By.PROMPT) == expected
    inside = [row(one.prompt, "extraction-prompt", 1.8, 2), row(answer_prompt, "answer-prompt", 0.6, 2)]
    assert await ranked(store, By.PROMPT, one.trace.trace.id) == inside


async def test_units_are_where_the_way_ends(seeded: tuple[GraphStore, Project]) -> None:
    store, project = seeded
    unit_a, unit_b = project.one.units
    assert await ranked(store, By.UNIT) == [
        row(unit_a, "noted a", 1.4, 2),
        row(unit_b, "noted b", 0.8, 1),
    ]


async def test_sessions(seeded: tuple[GraphStore, Project]) -> None:
    store, project = seeded
    build, ask = project.one.trace.sessions
    assert await ranked(store, By.SESSION) == [
        row(build, "construction, session 1", 1.8, 2),
        row(ask, "evaluation, session 2", 0.6, 2),
    ]


async def test_a_trace_without_failures_blames_nothing(seeded: tuple[GraphStore, Project]) -> None:
    store, project = seeded
    for by in By:
        assert await ranked(store, by, project.two.trace.trace.id) == []


async def test_one_answer_at_a_time_gives_the_same(
    seeded: tuple[GraphStore, Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, _ = seeded
    verdicts = await chosen_verdicts(store)
    expected = await blame(store, verdicts, list(By))
    monkeypatch.setattr(module, "_ANSWERS", 1)
    assert await blame(store, verdicts, list(By)) == expected


async def test_passed_agrees_with_the_closures(seeded: tuple[GraphStore, Project]) -> None:
    store, project = seeded
    trace_id = project.one.trace.trace.id
    right = [one.id for one in await elements(store, Variable, trace_id, ["Answer"]) if one.right]
    closures = await store.closures([[id_] for id_ in right])
    operations = await elements(store, Operation, trace_id)
    by_hand = {one.id: sum(one in closure.operations for closure in closures) for one in operations}
    found = await ranked(store, By.OPERATION)
    assert {one.id: one.passed for one in found} == {one.id: by_hand[one.id] for one in found}


def _derivation(target: int, source: int) -> Derivation:
    trace = TraceBuilder("p")
    made = trace.operation(f"made-{target}")
    pair = [trace.variable(str(number)) for number in (target, source)]
    return trace.derive(pair[0], pair[1], by=made)[0]


@given(
    edges=st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda pair: pair[0] > pair[1])),
    answers=st.lists(st.integers(0, 9), unique=True),
)
def test_answers_rest_on_what_is_in_their_closure(edges: set[tuple[int, int]], answers: list[int]) -> None:
    trace = TraceBuilder("p")
    ids = [trace.variable(str(number)).id for number in range(10)]
    makers = [trace.operation(f"made-{number}").id for number in range(10)]
    links = Links()
    for target, source in edges:
        links.add(_derivation(target, source))
    members: Members[str] = Members()
    for id_ in ids:
        members.variables[id_].append(id_)
    for id_ in makers:
        members.operations[id_].append(id_)
    found = links.resting([ids[number] for number in answers], members)
    for place, answer in enumerate(answers):
        past = {answer}
        while more := {source for target, source in edges if target in past} - past:
            past |= more
        expected = {ids[one] for one in past} | {makers[target] for target, _ in edges if target in past}
        assert {key for key, bits in found.items() if bits >> place & 1} == expected
