"""Labels in a file of their own: read, matched by external ids, and scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attribution.benchmark.run import run
from attribution.benchmark.trivial import ANSWERING, WORDLESS
from attribution.labels import Label, read_labels
from attribution.run import Options
from ingest.files.opening import plain_name
from schema.errors import InputError
from schema.kinds import ErrorType
from tests.attribution.benchmark.sample import SAMPLE, truth


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
    assert (scores.whole.cases, scores.whole.primary, scores.whole.accepted) == (3, 2, 3)
    assert {kind: share.cases for kind, share in scores.by_kind.items()} == {"several": 1, "plain": 2}
    assert list(scores.by_trace) == ["assistant"]
    assert scores.by_type["DeletionError"].primary == 0
    assert set(scores.trivial) == {ANSWERING, WORDLESS}
    share, _ = scores.trivial[ANSWERING]
    assert share.primary == sum(one["primary"]["type"] == ErrorType.RESPONSE for one in records)
    assert found.document()["labels"]["whole"] == {"cases": 3, "primary": 2, "accepted": 3}


async def test_a_label_that_names_no_failure_is_an_error(tmp_path: Path) -> None:
    records = [*lines(), lines()[0] | {"query_id": "nobody-asked@1"}]
    found = await run([SAMPLE], Options(), labels=labels_in(written(tmp_path, records)))
    assert ["nobody-asked@1" in str(error) for _, error in found.errors] == [True]


@pytest.mark.parametrize("line", ["{", '{"query_id": "q"}', '{"query_id": "q", "primary": {"type": "X", "op": null}}'])
def test_bad_lines_are_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(f"{json.dumps(lines()[0])}\n{line}\n", "utf-8")
    with pytest.raises(InputError, match="line 2"):
        read_labels(path)


def test_files_without_labels_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no label"):
        read_labels(written(tmp_path, []))
    with pytest.raises(InputError, match="can't be read"):
        read_labels(tmp_path / "none.jsonl")


def test_traces_are_named_by_their_files() -> None:
    assert [plain_name(Path(name)) for name in ("a.json", "a.json.zst", "x/a.json.gz")] == ["a", "a", "a"]
