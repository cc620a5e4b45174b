"""The cases of a file, and a store in which no label is left."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from attribution.benchmark.cases import BenchFile, load
from attribution.benchmark.controls import control_failures
from attribution.verdicts.stored import by_id, every_failure
from ingest.files.registry import import_path
from schema.errors import InputError
from schema.kinds import ErrorType, Origin
from schema.models import Element, Trace, as_json
from store.contract.protocol import Database, GraphStore
from store.open import open_database
from tests.attribution.benchmark.sample import SAMPLE, truth, write_benchmark

MARK = "label-that-nobody-may-see"


@pytest_asyncio.fixture
async def embedded(tmp_path: Path) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path / 'test.db'}") as opened:
        yield opened


@pytest.fixture
def store(embedded: Database) -> GraphStore:
    return embedded.project("benchmark")


def marked() -> list[dict[str, Any]]:
    """The annotations of the sample, with a mark in every text that a method must not see."""
    return [record | {"reason": MARK, "fault": {"kind": MARK}, MARK: 1} for record in truth()["failures"]]


async def everything(store: GraphStore, trace_id: str) -> str:
    """All that a method could read about labels."""
    trace = (await by_id(store, Trace, [trace_id]))[trace_id]
    failures = await every_failure(store, trace_id)
    verdicts = await store.attributions([failure.id for failure in failures])
    elements: list[Element] = [trace, *failures, *verdicts]
    return json.dumps([as_json(element) for element in elements])


async def test_cases(store: GraphStore, tmp_path: Path) -> None:
    path = write_benchmark(tmp_path / "mem0")
    found = await load(store, path)
    assert (found.path, found.split) == (str(path), "mem0")
    assert [case.record for case in found.annotated] == truth()["failures"]
    assert [case.record for case in found.controls] == truth()["controls"]
    for case, record in zip(found.annotated, truth()["failures"], strict=True):
        assert case.label is not None
        assert (case.label.error_type, case.label.operation) == (record["final_error_type"], record["final_op_id"])
        assert case.evidence == tuple(record["source_evidence_ids"])
        assert case.failure.question == record["query"]
        assert case.failure.gold_answers == tuple(record["golden_answers"])
    assert {case.label for case in found.controls} == {None}


async def test_no_label_is_left_in_the_store(store: GraphStore, tmp_path: Path) -> None:
    path = write_benchmark(tmp_path, annotations=marked())
    report = await import_path(store, path)
    operations = [record["final_op_id"] for record in truth()["failures"]]
    # The test can fail: after a plain import they are there.
    assert MARK in await everything(store, report.trace_id)
    found = await load(store, path)
    left = await everything(store, report.trace_id)
    assert MARK not in left
    assert not [operation for operation in operations if operation in left]
    assert "controls" not in left
    verdicts = await store.attributions([case.failure.id for case in found.annotated])
    assert [(one.error_type, one.operation_id, one.reason) for one in verdicts] == [(None, None, None)] * 3
    assert {case.failure.attributes for case in (*found.annotated, *found.controls)} == {"{}"}


async def test_loading_again_gives_the_same(store: GraphStore, tmp_path: Path) -> None:
    path = write_benchmark(tmp_path)
    assert await load(store, path) == await load(store, path)


async def test_a_control_is_what_an_import_makes_of_a_failure(store: GraphStore, tmp_path: Path) -> None:
    records = truth()["failures"]
    report = await import_path(store, SAMPLE)
    failures = {failure.id: failure for failure in await every_failure(store, report.trace_id)}
    named = [{key: record[key] for key in ("query_id", "prediction_id")} for record in records]
    for made in await control_failures(store, report.trace_id, named, "file"):
        imported = failures.pop(made.id)
        assert made == replace(imported, created_at=None)
    assert not failures


async def test_a_shared_answer_is_the_one_of_its_own_question(store: GraphStore, tmp_path: Path) -> None:
    found = await load(store, write_benchmark(tmp_path))
    by_question = {case.record["query_id"]: case for case in (*found.annotated, *found.controls)}
    right, wrong = by_question["query:assistant-qa-5@1"], by_question["query:assistant-qa-6@1"]
    assert right.record["prediction_id"] == wrong.record["prediction_id"]
    assert right.failure.answer_id != wrong.failure.answer_id
    assert right.failure.gold_answers == ("Kiln House",)
    assert right.failure.origin is Origin.JUDGE
    assert right.failure.prediction == wrong.failure.prediction


async def test_a_record_without_labels_has_none(store: GraphStore, tmp_path: Path) -> None:
    annotations = truth()["failures"]
    annotations[0] |= {"final_error_type": None, "final_op_id": None}
    found = await load(store, write_benchmark(tmp_path, annotations=annotations))
    assert [case.label is None for case in found.annotated] == [True, False, False]


async def test_two_records_of_one_failure_are_two_cases(store: GraphStore, tmp_path: Path) -> None:
    first, *rest = truth()["failures"]
    second = first | {"final_error_type": "ExtractionError"}
    found = await load(store, write_benchmark(tmp_path, annotations=[first, second, *rest]))
    assert len(found.annotated) == 4
    assert len({case.failure.id for case in found.annotated}) == 3
    kinds = [case.label.error_type for case in found.annotated if case.label and case.record["query"] == first["query"]]
    assert sorted(kinds) == [ErrorType.EXTRACTION, ErrorType.UPDATE]


async def test_further_error_types_may_be_accepted(store: GraphStore, tmp_path: Path) -> None:
    annotations = truth()["failures"]
    annotations[0] |= {"accepted_error_types": ["ExtractionError", "JudgeError"]}
    found = await load(store, write_benchmark(tmp_path, annotations=annotations))
    label = found.annotated[0].label
    assert label is not None
    assert label.accepted == {ErrorType.EXTRACTION, ErrorType.JUDGE}


async def test_a_file_with_controls_only(store: GraphStore, tmp_path: Path) -> None:
    found: BenchFile = await load(store, write_benchmark(tmp_path, annotations=[]))
    assert (len(found.annotated), len(found.controls)) == (0, 5)


@pytest.mark.parametrize(
    ("annotations", "controls", "place", "problem"),
    [
        ([], [], "data", "neither annotations nor controls"),
        ([], {"query_id": "q"}, "data.controls", "Expected 'array'"),
        ([], [7], "data.controls[0]", "Expected 'object'"),
        ([], [{"query_id": "query:none@1"}], "data.controls[0].query_id", "'query:none@1' is not in the file"),
        ([], [{}], "data.controls[0].query_id", "None is not in the file"),
        (
            [],
            [{"query_id": "query:assistant-qa-1@1", "prediction_id": "x"}],
            "data.controls[0].prediction_id",
            "'x' is not in the file",
        ),
    ],
)
async def test_what_is_no_benchmark_is_refused(
    store: GraphStore, tmp_path: Path, annotations: Any, controls: Any, place: str, problem: str
) -> None:
    path = write_benchmark(tmp_path, annotations=annotations, controls=controls)
    with pytest.raises(InputError) as refused:
        await load(store, path)
    assert (refused.value.source, refused.value.place) == (str(path), place)
    assert problem in refused.value.problem


@pytest.mark.parametrize("accepted", [["Nonsense"], "UpdateError", [1]])
async def test_accepted_error_types_must_be_some(store: GraphStore, tmp_path: Path, accepted: Any) -> None:
    annotations = truth()["failures"]
    annotations[1] |= {"accepted_error_types": accepted}
    path = write_benchmark(tmp_path, annotations=annotations)
    with pytest.raises(InputError) as refused:
        await load(store, path)
    assert refused.value.place == "data.annotations[1].accepted_error_types"
