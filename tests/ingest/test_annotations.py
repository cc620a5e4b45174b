"""What a failure takes from the annotations of a recorded file, and what from the judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from ingest.files.registry import import_path
from schema.models import Attribution, Failure, Variable
from store.contract.protocol import Database, GraphStore
from store.shared.paging import elements
from tests.graph_files import GraphFile, conversation

pytestmark = pytest.mark.one_engine


def written(path: Path, graph: dict[str, Any]) -> Path:
    path.write_text(json.dumps(graph))
    return path


async def imported(store: GraphStore, path: Path, graph: GraphFile, *records: dict[str, Any]) -> Failure:
    """The one failure of an imported graph with one question and these annotations."""
    whole = graph.as_dict()
    named = {node["class_name"]: key for key, node in graph.nodes.items()}
    whole["data"]["annotations"] = [
        {"query_id": named["query"], "prediction_id": named["prediction"], **record} for record in records
    ]
    await import_path(store, written(path, whole))
    (failure,) = (await store.failures()).items
    return failure


async def verdicts_of(store: GraphStore, failure: Failure) -> list[Attribution]:
    return sorted(await store.attributions([failure.id]), key=lambda one: one.reason or "")


@pytest.mark.parametrize(
    ("said", "gold"),
    [
        ({}, ("amber",)),
        ({"golden_answers": None}, ("amber",)),
        ({"golden_answers": "candle"}, ("candle",)),
        ({"golden_answers": ["candle", "ember"]}, ("candle", "ember")),
        ({"golden_answers": []}, ()),
        ({"golden_answers": 3}, ("3",)),
        ({"golden_answers": ["candle", 3, ["a"]]}, ("candle", "3", '["a"]')),
    ],
)
async def test_gold_answers(database: Database, tmp_path: Path, said: dict[str, Any], gold: tuple[str, ...]) -> None:
    store = database.project(f"test-{uuid4().hex}")
    failure = await imported(store, tmp_path / "graph.json", conversation(5, 1), said)
    assert failure.gold_answers == gold


@pytest.mark.parametrize(
    ("of_judge", "of_records", "evidence"),
    [
        (["U1:D1:3", "U1:D1:1"], [None], [3, 1]),
        (["U1:D1:3"], [[]], [3]),
        (["U1:D1:3"], [["U1:D1:2@1", "U1:D1:0@1"]], [2, 0]),
        (["U1:D1:3"], [["U1:D1:2@1", "U1:D1:2@1"]], [2]),
        (["U1:D1:3"], [["U1:D1:2@1"], []], [2]),
        (["U1:D1:3"], [["U1:D1:2@1"], ["U1:D1:4@1"]], [4]),
        (["U1:D1:3", "U1:D9:9", 7, ["U1:D1:1"]], [None], [3]),
        ("U1:D1:3", [None], []),
        (7, [None], []),
    ],
)
async def test_evidence(
    database: Database, tmp_path: Path, of_judge: Any, of_records: list[list[str] | None], evidence: list[int]
) -> None:
    graph = conversation(5, 1)
    for node in graph.nodes.values():
        if node["class_name"] == "query":
            node["metadata"] = {"evidence": of_judge}
    store = database.project(f"test-{uuid4().hex}")
    records = [{"source_evidence_ids": one} for one in of_records]
    failure = await imported(store, tmp_path / "graph.json", graph, *records)
    messages = {one.id: one.external_id for one in await elements(store, Variable, failure.trace_id, ["Message"])}
    assert [messages[one] for one in failure.evidence_ids] == [f"U1:D1:{number}@1" for number in evidence]


async def test_verdicts(database: Database, tmp_path: Path) -> None:
    store = database.project(f"test-{uuid4().hex}")
    failure = await imported(
        store,
        tmp_path / "graph.json",
        conversation(5, 1),
        {"final_error_type": "UpdateError", "final_op_id": "op-00000001", "reason": "1", "final_reason": "none"},
        {"final_error_type": "JudgeError", "final_reason": "2", "reason": ""},
        {"final_error_type": "ResponseError", "final_op_id": None, "reason": ["3"]},
        {"final_error_type": None, "reason": "no verdict"},
    )
    third, first, second = await verdicts_of(store, failure)
    assert [(one.error_type, one.reason) for one in (first, second, third)] == [
        ("UpdateError", "1"),
        ("LLMAsAJudgeError", "2"),
        ("ResponseError", None),
    ]
    assert (first.operation_id is None, second.operation_id, third.operation_id) == (False, None, None)
    assert {(one.method, one.author, one.confidence) for one in (first, second, third)} == {
        ("human", "annotation", None)
    }
