"""Labels in a file of their own: read, matched by external ids, and scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attribution.benchmark.run import run
from attribution.benchmark.trivial import ANSWERING, WORDLESS
from attribution.review.labelling import export_labels, import_labels
from attribution.review.labels import Label, labels_of, read_labels
from attribution.run import Options
from attribution.statistics.intervals import wilson
from ingest.files.opening import plain_name
from ingest.files.registry import import_path
from schema.errors import InputError
from schema.kinds import ErrorType
from schema.outside_json import read_json
from store.open import open_database
from tests.attribution.benchmark.sample import SAMPLE, truth, write_benchmark
from tests.data import data_folder, needs_data


def lines(**more: Any) -> list[dict[str, Any]]:
    """The truth about the sample's wrong answers, as labels."""
    return [
        {
            "trace": "assistant",
            "query_id": record["query_id"],
            "prediction_id": record["prediction_id"],
            "primary": {"type": record["final_error_type"], "op": record["final_op_id"]},
            **more,
        }
        for record in truth()["failures"]
    ]


def written(folder: Path, records: list[dict[str, Any]]) -> Path:
    path = folder / "labels.jsonl"
    path.write_text("\n".join(json.dumps(record) for record in records), "utf-8")
    return path


def labels_in(path: Path) -> list[Label]:
    return [one.label for one in read_labels(path)]


async def test_a_method_is_scored_against_labels(tmp_path: Path) -> None:
    records = lines()
    records[0] |= {"several": True, "agreed": True}
    wrong = {"type": "DeletionError", "op": "nobody"}
    records[1] |= {"primary": wrong, "also": [records[1]["primary"]]}
    found = await run([SAMPLE], Options(), labels=labels_in(written(tmp_path, records)))
    scores = found.labelled
    assert scores is not None
    assert (scores.cases, scores.primary, scores.accepted) == (3, 2 / 3, 1)
    assert (scores.primary_interval, scores.accepted_interval) == (wilson(2, 3), wilson(3, 3))
    assert {kind: share.cases for kind, share in scores.by_kind.items()} == {"several": 1, "plain": 2}
    assert list(scores.by_trace) == ["assistant"]
    assert scores.by_type["DeletionError"].primary == 0
    assert set(scores.trivial) == {ANSWERING, WORDLESS}
    answering = sum(one["primary"]["type"] == ErrorType.RESPONSE for one in records)
    assert scores.trivial[ANSWERING].primary == answering / 3
    assert list(scores.by_system) == ["MemoryAgent"]
    assert scores.conversation_intervals is None
    assert scores.kappa.type == pytest.approx(4 / 7)
    assert scores.kappa.joint == pytest.approx(4 / 7)
    metrics = found.document()["metrics"]
    assert (metrics["primary"], metrics["accepted"], metrics["total_cases"]) == (2 / 3, 1, 3)
    assert metrics["byKind"]["plain"]["cases"] == 2
    assert metrics["trivial"][ANSWERING]["macroF1"] == scores.trivial[ANSWERING].macro_f1
    assert metrics["riskCoverage"]["curve"][-1]["coverage"] == 1


async def test_without_labels_the_metrics_have_none_of_their_numbers(tmp_path: Path) -> None:
    metrics = (await run([write_benchmark(tmp_path)], Options())).document()["metrics"]
    assert not {"primary", "accepted", "byKind"} & set(metrics)
    assert set(metrics["riskCoverage"]) == {"curve", "area", "accuracy"}


async def test_what_several_people_say_of_a_failure_is_accepted(tmp_path: Path) -> None:
    truth_of_first = lines()[0]
    wrong = truth_of_first | {"primary": {"type": "DeletionError", "op": "nobody"}, "author": "Ada"}
    records = [wrong, truth_of_first | {"author": "Bo", "inferred": True}]
    scores = (await run([SAMPLE], Options(), labels=labels_in(written(tmp_path, records)))).labelled
    assert scores is not None
    assert (scores.cases, scores.primary, scores.accepted) == (1, 0, 1)
    assert "inferred" in scores.by_kind


async def test_a_graph_may_be_named_by_its_own_id(tmp_path: Path) -> None:
    records = lines(trace="assistant-sample")
    found = await run([SAMPLE], Options(), labels=labels_in(written(tmp_path, records)))
    assert found.labelled is not None
    assert found.labelled.cases == 3


async def test_a_label_that_names_no_failure_is_an_error(tmp_path: Path) -> None:
    records = [*lines(), lines()[0] | {"query_id": "nobody-asked@1"}]
    found = await run([SAMPLE], Options(), labels=labels_in(written(tmp_path, records)))
    assert ["nobody-asked@1" in str(error) for _, error in found.errors] == [True]


_DEEP = '{"query_id": "q", "primary": null, "more": %s}'


@pytest.mark.parametrize(
    "line",
    [
        "{",
        '{"query_id": "q"}',
        '{"query_id": "q", "primary": {"type": "X", "op": null}}',
        *(_DEEP % ("[" * depth + "]" * depth) for depth in (101, 900, 50_000)),
    ],
    ids=["cut", "no-primary", "no-type", "deep-101", "deep-900", "deep-50000"],
)
def test_bad_lines_are_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(f"{json.dumps(lines()[0])}\n{line}\n", "utf-8")
    with pytest.raises(InputError, match="line 2"):
        read_labels(path)


def test_reading_ends_where_no_more_bad_lines_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []

    def counted(line: bytes) -> object:
        read.append(line)
        return read_json(line)

    monkeypatch.setattr("attribution.review.labels.read_json", counted)
    with pytest.raises(InputError, match=r"line 1: .*no labels either: line 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …"):
        labels_of(b"{}\n" * 100_000, "labels.jsonl")
    assert len(read) == 12


def test_files_without_labels_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no label"):
        read_labels(written(tmp_path, []))
    with pytest.raises(InputError, match="can't be read"):
        read_labels(tmp_path / "none.jsonl")


def test_traces_are_named_by_their_files() -> None:
    names = ("a.json", "a.json.zst", "x/a.json.gz", "a.ndjson.zst", "a.ndjson")
    assert {plain_name(Path(name)) for name in names} == {"a"}


@needs_data
async def test_labels_of_real_failures_go_through_a_project(tmp_path: Path) -> None:
    data = data_folder()
    assert data is not None
    labels = read_labels(data / "natural" / "labels.jsonl")
    own = [one for one in labels if one.label.trace == "rag_locomo-1"]
    async with await open_database(f"sqlite:///{tmp_path / 'test.db'}") as database:
        store = database.project("project")
        await import_path(store, data / "traces" / "rag_locomo-1.json.zst")
        found = await import_labels(store, labels, "somebody", "labels.jsonl")
        assert (found.imported, found.unchanged) == (len(own), 0)
        others = {one.number for one in labels} - {one.number for one in own}
        assert {one.line for one in found.unmatched if one.missing == "trace"} == others
        again = {one.query_id: one for one in await export_labels(store)}
        assert again == {one.label.query_id: one.label.model_copy(update={"author": "somebody"}) for one in own}


async def test_labels_that_fit_no_file_are_an_error(tmp_path: Path) -> None:
    records = lines() + lines()
    for number, one in enumerate(records):
        one["trace"] = f"elsewhere {number}"
    found = await run([SAMPLE], Options(), labels=labels_in(written(tmp_path, records)))
    ((_, error),) = found.errors
    assert "none of the 6 labels belongs to these files: they name the traces elsewhere 0" in str(error)
    assert "and 1 more; read: assistant" in str(error)
