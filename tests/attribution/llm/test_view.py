"""What a model may see and name of a failure in its trace."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attribution.llm.agent.view import FailureView
from attribution.trace.graph import TraceGraph
from schema.kinds import OperationKind, VariableKind
from store.contract.protocol import Database
from tests.attribution.llm.story import Story
from tests.factory import TraceBuilder


@pytest.mark.parametrize(
    "alias", ["", "op", "v", "op999", "opx", "op-1", "op 1", "o1", "op1.0", "op1234567890123", "v١"]
)
def test_an_invented_name_means_nothing(story: Story, alias: str) -> None:
    assert story.case.operation(alias) is None
    assert story.case.variable(alias) is None


def test_names_are_of_one_sort(story: Story) -> None:
    case = story.case
    for name, operation in story.operations.items():
        assert case.operation(f" {story.op(name)}\n") == operation
        assert case.operation_alias(operation.id) == story.op(name)
        assert case.variable(story.op(name)) is None
    for name, variable in story.variables.items():
        found = case.variable(story.v(name))
        assert found is not None
        assert found.id == variable.id
        assert case.variable_alias(variable.id) == story.v(name)
        assert case.operation(story.v(name)) is None


def test_without_gold_answers_what_tells_them_is_hidden(story: Story) -> None:
    hidden = {name for name, one in story.variables.items() if not story.case.may_show(one.id)}
    blind = FailureView(story.graph, story.gold_free, story.evidence)
    hidden_blind = {name for name, one in story.variables.items() if not blind.may_show(one.id)}
    assert (hidden, hidden_blind) == (set(), {"gold-0", "judgement-0", "gold-1", "judgement-1"})


def test_only_evidence_of_the_trace_counts(story: Story) -> None:
    case = FailureView(story.graph, story.failure, [*story.evidence, "0" * 32])
    assert case.evidence == story.evidence


def test_an_operation_ended_all_that_it_ended(story: Story) -> None:
    ended = {name: story.case.ended(one.id) for name, one in story.operations.items()}
    assert {name: found for name, found in ended.items() if found} == {
        "update": [story.variables["unit"].id],
        "tidy": [story.variables["unit-3"].id],
    }


def test_what_is_not_near_the_failure_is_out_of_reach(story: Story) -> None:
    within = {name for name, one in story.operations.items() if one.id in story.case.reach}
    assert set(story.operations) - within == {"configure", "skim"}
    beside = story.case.reach_of([story.variables["beside"].id])
    assert beside == {story.operations["skim"].id}


def test_the_past_of_an_answer_that_was_not_recorded_is_empty(story: Story) -> None:
    assert story.variables["unit"].id in story.case.answer_past
    for unknown in (None, "0" * 32):
        view = FailureView(story.graph, replace(story.failure, answer_id=unknown), story.evidence)
        assert not view.answer_past


async def test_an_operation_serves_another_question_if_it_has_others_only(sqlite_database: Database) -> None:
    store = sqlite_database.project("served")
    builder = TraceBuilder(store.project_id)
    builder.session("talk")
    mine, theirs = (builder.variable(name, name, kind=VariableKind.QUERY) for name in ("mine", "theirs"))
    message = builder.variable("message", "tea", kind=VariableKind.MESSAGE)

    def operation(name: str, kind: OperationKind, *used: str) -> None:
        sources = [{"mine": mine, "theirs": theirs, "message": message}[one] for one in used]
        made_by = builder.operation(name, name=name, kind=kind)
        builder.use(made_by, *sources)
        result = builder.variable(f"by {name}", name, made_by, kind=VariableKind.OTHER)
        builder.derive(result, *sources, by=made_by)

    served: dict[str, tuple[OperationKind, list[str]]] = {
        "answering": (OperationKind.GENERATION, ["theirs"]),
        "mine": (OperationKind.RETRIEVAL, ["mine"]),
        "both": (OperationKind.RETRIEVAL, ["mine", "theirs"]),
        "neither": (OperationKind.RETRIEVAL, ["message"]),
        "extraction": (OperationKind.EXTRACTION, ["theirs"]),
        "theirs": (OperationKind.RETRIEVAL, ["theirs"]),
        "answers theirs": (OperationKind.GENERATION, ["theirs", "message"]),
        "judges theirs": (OperationKind.JUDGE, ["theirs"]),
    }
    for name, (kind, used) in served.items():
        operation(name, kind, *used)
    answer = next(one for one in builder.variables if one.external_id == "by answering")
    failure = builder.failure(mine, answer)
    await builder.write(store)
    view = FailureView(await TraceGraph.load(store, builder.trace.id), failure, [])
    found = {one.name for one in builder.operations if view.serves_another(one)}
    assert found == {"theirs", "answers theirs", "judges theirs"}


async def test_a_full_name_means_the_operations_that_may_matter_or_else_all(sqlite_database: Database) -> None:
    store = sqlite_database.project("called")
    builder = TraceBuilder(store.project_id)
    builder.session("talk")
    mine, theirs = (builder.variable(name, name, kind=VariableKind.QUERY) for name in ("mine", "theirs"))
    beside = builder.variable("beside", "a setting", kind=VariableKind.OTHER)
    kinds = {mine.id: OperationKind.GENERATION, theirs.id: OperationKind.RETRIEVAL, beside.id: OperationKind.OTHER}
    for name, given in (
        ("answer", mine),
        ("look", mine),
        ("look", beside),
        ("configure", beside),
        ("start", beside),
        ("start", beside),
        ("search", theirs),
    ):
        step = builder.operation(f"{name} {len(builder.operations)}", name=name, kind=kinds[given.id])
        builder.use(step, given)
        made = builder.variable(f"of {step.external_id}", name, step, kind=VariableKind.OTHER)
        builder.derive(made, given, by=step)
    answer = next(one for one in builder.variables if one.external_id == "of answer 0")
    failure = builder.failure(mine, answer)
    await builder.write(store)
    view = FailureView(await TraceGraph.load(store, builder.trace.id), failure, [])

    def meant(name: str) -> list[str]:
        return [one.external_id for one in view.called(name)]

    assert meant("look") == ["look 1"], "the other one is out of reach"
    assert meant("configure") == ["configure 3"], "nothing else has the name"
    assert meant("start") == ["start 4", "start 5"]
    assert meant("search") == meant("unknown") == [], "it served another question"
    found = {name: view.operation(name) for name in ("look", "configure", "start", "search")}
    assert {name: one.external_id for name, one in found.items() if one} == {
        "look": "look 1",
        "configure": "configure 3",
    }
