"""Labels and verdicts of people, on both engines: what is told goes in whole, and comes out as it went in."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from attribution.review.labelling import LabelsImported, export_labels, import_labels
from attribution.review.labels import Label, NumberedLabel
from attribution.review.people import Judgement, record_verdict
from attribution.verdicts.stored import every_failure
from schema.errors import InputError, NotFoundError
from schema.ids import make_id
from schema.kinds import ErrorType, OperationKind, VariableKind
from schema.models import Attribution
from store.contract.protocol import Database, GraphStore
from tests.contract.samples import assistant
from tests.factory import TraceBuilder
from tests.rich_trace import rich

pytestmark = pytest.mark.one_engine

UPDATE = {"type": "UpdateError", "op": "update"}
RESPONSE = {"type": "ResponseError", "op": "answer"}
LABEL: dict[str, Any] = {
    "trace": "assistant",
    "query_id": "question",
    "prediction_id": "answer",
    "primary": UPDATE,
    "also": [RESPONSE, {"type": "AnnotationError", "op": None}],
    "several": True,
    "inferred": False,
    "sure": 0.75,
    "why": "the update kept Oslo",
    "author": "Ada",
    "topic": "homes",
}


async def imported(store: GraphStore, *records: dict[str, Any]) -> LabelsImported:
    """What an import of some labels says."""
    labels = [NumberedLabel(number, Label.model_validate(record)) for number, record in enumerate(records, 1)]
    return await import_labels(store, labels, "somebody", "labels.jsonl")


async def exported(store: GraphStore) -> list[dict[str, Any]]:
    """The labels of a project, as in a file."""
    return [label.model_dump(mode="json") for label in await export_labels(store)]


async def people(store: GraphStore) -> list[Attribution]:
    """The verdicts of people that a project has."""
    failures = [failure.id for failure in await every_failure(store, None)]
    return [one for one in await store.attributions(failures) if one.method == "human"]


async def test_a_label_comes_out_as_it_went_in(store: GraphStore) -> None:
    await assistant(store.project_id).write(store)
    assert await imported(store, LABEL) == LabelsImported(1, 0, [])
    assert await exported(store) == [LABEL]
    (verdict,) = await people(store)
    assert (verdict.error_type, verdict.author, verdict.confidence) == (ErrorType.UPDATE, "Ada", 0.75)
    update = await store.resolve("update")
    assert verdict.operation_id == update.id


async def test_importing_again_changes_nothing(store: GraphStore) -> None:
    await assistant(store.project_id).write(store)
    await imported(store, LABEL)
    before = await people(store)
    assert await imported(store, LABEL) == LabelsImported(1, 1, [])
    assert await people(store) == before
    assert await imported(store, LABEL | {"why": "otherwise"}) == LabelsImported(1, 0, [])
    assert [(one.id, one.reason) for one in await people(store)] == [(before[0].id, "otherwise")]


async def test_what_was_said_through_any_door_is_unchanged_by_its_own_labels(store: GraphStore) -> None:
    """Evidence, marks of gold answers, abstentions, and operations of those that judge are no part of a label."""
    full, bare = rich(store.project_id)
    for trace in (full, bare):
        await trace.write(store)
    wrong, lost, both = full.failures
    update = next(one for one in full.operations if one.external_id == "change-1")
    evidence = ((wrong.evidence_ids[0], "is 5"),)
    for author, said in (
        ("Ada", Judgement(wrong.id, ErrorType.UPDATE, update.id, evidence=evidence, confidence=0.0)),
        ("Ben", Judgement(wrong.id, None, reason="", confidence=1.0)),
        ("Ada", Judgement(lost.id, ErrorType.ANNOTATION, also=((ErrorType.UPDATE, update.id),))),
        ("Ada", Judgement(bare.failures[0].id, ErrorType.JUDGE)),
    ):
        await record_verdict(store, said, author)
    before, labels = await people(store), await exported(store)
    assert [(one["query_id"], one["author"]) for one in labels] == [
        ("q", "Ada"),
        ("asked-age", "Ada"),
        ("asked-age", "Ben"),
        ("asked-age", "Zoë|<i>"),
        ("asked-home", "Ada"),
    ]
    assert await imported(store, *labels) == LabelsImported(5, 5, [])
    assert await people(store) == before
    assert await export_labels(store, [both.id]) == []


async def test_labels_go_from_one_project_to_another(store: GraphStore, database: Database) -> None:
    await assistant(store.project_id).write(store)
    await imported(store, LABEL, LABEL | {"primary": RESPONSE, "author": "Bo", "also": []})
    other = database.project(f"{store.project_id}-other")
    await assistant(other.project_id).write(other)
    assert await exported(other) == []
    labels = await exported(store)
    assert [label["author"] for label in labels] == ["Ada", "Bo"]
    assert await imported(other, *labels) == LabelsImported(2, 0, [])
    assert await exported(other) == labels
    assert {one.project_id for one in await people(other)} == {other.project_id}


@pytest.mark.parametrize(
    ("change", "missing", "words"),
    [
        ({"trace": "elsewhere"}, "trace", "'elsewhere'"),
        ({"query_id": "nobody-asked"}, "failure", "'nobody-asked'"),
        ({"prediction_id": "nobody-said"}, "prediction", "'nobody-said'"),
        ({"primary": {"type": "UpdateError", "op": "none"}}, "operation", "'none'"),
        ({"primary": {"type": "UpdateError", "op": None}}, "operation", "needs the operation at fault"),
        ({"primary": {"type": "AnnotationError", "op": "update"}}, "operation", "takes no operation"),
        ({"primary": {"type": "ResponseError", "op": "verdict"}}, "operation", "judges answers"),
        ({"also": [RESPONSE, {"type": "UpdateError", "op": "none"}]}, "operation", "'none'"),
    ],
)
async def test_what_cannot_be_matched_is_listed_and_left_out(
    store: GraphStore, change: dict[str, Any], missing: str, words: str
) -> None:
    trace = assistant(store.project_id, "assistant")
    # A trace that is known by the name of its file only.
    trace.trace = replace(trace.trace, attributes='{"smartcomment":{"file":"talk"}}')
    trace.operation("verdict", kind=OperationKind.JUDGE)
    await trace.write(store)
    found = await imported(store, LABEL | change, LABEL | {"trace": "talk"})
    assert [(one.line, one.missing) for one in found.unmatched] == [(1, missing)]
    assert words in found.unmatched[0].reason
    assert found.imported == 1
    assert await exported(store) == [LABEL | {"trace": "talk"}]


@pytest.mark.parametrize("name", ["the assistant", "assistant", "talk", None])
async def test_a_trace_has_several_names(store: GraphStore, name: str | None) -> None:
    trace = assistant(store.project_id)
    trace.trace = replace(trace.trace, attributes='{"smartcomment":{"file":"talk"}}')
    await trace.write(store)
    await assistant(store.project_id, "another").write(store)
    if name is None:
        found = await imported(store, LABEL | {"trace": None})
        assert "several traces" in found.unmatched[0].reason
    else:
        assert (await imported(store, LABEL | {"trace": name})).imported == 1
        assert [label["trace"] for label in await exported(store)] == ["talk"]


async def test_a_trace_without_the_name_of_a_file_is_known_by_what_is_in_it(store: GraphStore) -> None:
    await assistant(store.project_id).write(store)
    other = TraceBuilder(store.project_id, "other")
    question = other.variable("question", kind=VariableKind.QUERY)
    other.failure(question, other.variable("answer", kind=VariableKind.ANSWER))
    await other.write(store)
    # Both have the question and the answer, and only one has the operations.
    assert (await imported(store, LABEL | {"trace": "some-file"})).imported == 1
    (verdict,) = await people(store)
    assert verdict.trace_id == (await store.resolve("assistant")).id


async def test_two_labels_of_one_person_are_refused_before_anything_is_written(store: GraphStore) -> None:
    await assistant(store.project_id).write(store)
    with pytest.raises(InputError, match="line 2: line 1 is about the same failure"):
        await imported(store, LABEL, LABEL | {"primary": RESPONSE})
    with pytest.raises(InputError, match="line 2: 'flow' is a method"):
        await imported(store, LABEL, LABEL | {"author": "flow"})
    assert await people(store) == []


async def test_what_people_say_through_any_door_is_a_label(store: GraphStore) -> None:
    trace = assistant(store.project_id)
    failure = trace.failures[0]
    ids = {operation.external_id: operation.id for operation in trace.operations}
    for number, kind in enumerate((ErrorType.RETRIEVAL, ErrorType.JUDGE)):
        # As an annotation of a graph file is stored: a label names no judge.
        operation, id_ = ids["retrieve"], make_id("Attribution", failure.id, str(number))
        more = {"error_type": kind, "operation_id": operation, "author": "annotation", "confidence": None}
        trace.attribution(failure, "human", id=id_, reason=None, seconds=None, **more)
    await trace.write(store)
    await record_verdict(store, Judgement(failure.id, None, reason="I can't tell"), "Eve")
    await record_verdict(store, Judgement(failure.id, ErrorType.UPDATE, ids["update"], "old"), "Cy")
    plain: dict[str, Any] = {"trace": "assistant", "query_id": "question", "prediction_id": "answer", "also": []}
    labels = [
        plain | {"primary": UPDATE, "author": "Cy", "sure": None, "why": "old"},
        plain | {"primary": None, "author": "Eve", "sure": None, "why": "I can't tell"},
        plain
        | {"primary": {"type": "LLMAsAJudgeError", "op": None}, "author": "annotation", "sure": None, "why": None},
    ]
    assert await exported(store) == labels
    before = await people(store)
    assert await imported(store, *labels) == LabelsImported(3, 3, [])
    assert await people(store) == before


async def test_a_verdict_holds_what_else_would_be_accepted(store: GraphStore) -> None:
    trace = assistant(store.project_id)
    ids = {operation.external_id: operation.id for operation in trace.operations}
    await trace.write(store)
    judge = trace.failures[0].id
    also = ((ErrorType.ANNOTATION, None), (ErrorType.RETRIEVAL, ids["retrieve"]), (ErrorType.UPDATE, ids["update"]))
    said = await record_verdict(store, Judgement(judge, ErrorType.UPDATE, ids["update"], also=also), "Ada")
    assert said in await people(store)
    assert [label["also"] for label in await exported(store)] == [
        [{"type": "AnnotationError", "op": None}, {"type": "RetrievalError", "op": "retrieve"}]
    ]


async def test_a_verdict_that_cannot_be_is_refused(store: GraphStore) -> None:
    trace = assistant(store.project_id)
    update = trace.operations[1].id
    judge = trace.operation("verdict", kind=OperationKind.JUDGE).id
    await trace.write(store)
    other = assistant(store.project_id, "other")
    await other.write(store)
    failure = trace.failures[0].id
    for judgement, words in (
        (Judgement(failure, ErrorType.UPDATE), "UpdateError needs the operation"),
        (Judgement(failure, ErrorType.ANNOTATION, update), "AnnotationError takes no operation"),
        (Judgement(failure, ErrorType.RESPONSE, judge), "judges answers"),
        (Judgement(failure, ErrorType.RETRIEVAL, update), "of kind Update, which can't be at fault for RetrievalError"),
        (Judgement(failure, ErrorType.UPDATE, other.operations[1].id), "another trace"),
        (Judgement(failure, ErrorType.UPDATE, update, also=((ErrorType.RETRIEVAL, None),)), "also: RetrievalError"),
        (Judgement(failure, ErrorType.UPDATE, update, also=((ErrorType.JUDGE, None),) * 101), "more than 100"),
    ):
        with pytest.raises(InputError, match=words):
            await record_verdict(store, judgement, "Ada")
    for author in ("", "x" * 201, "human", "llm"):
        with pytest.raises(InputError, match="author"):
            await record_verdict(store, Judgement(failure, ErrorType.UPDATE, update), author)
    with pytest.raises(NotFoundError):
        await record_verdict(store, Judgement(failure, ErrorType.UPDATE, make_id("no")), "Ada")
    assert await people(store) == []
