"""Failures and right answers from the judges in a recorded file."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest

from ingest.files.registry import import_path
from schema.models import WHOLE_VALUE_BYTES, Variable
from store.contract.protocol import Database
from store.shared.paging import elements
from tests.graph_files import conversation

pytestmark = pytest.mark.one_engine

QUESTIONS = 6
"""Number of questions; the judge rejects answers 0 and 3."""


@pytest.mark.parametrize(
    ("no", "yes", "right"),
    [("0", "1", True), ("0.0", "1.0", True), ("'no'", "'Yes'", True), ("0", "3", None), ("0", "perhaps", None)],
)
async def test_an_answer_is_right_where_its_judge_said_yes(
    database: Database, tmp_path: Path, no: str, yes: str, right: bool | None
) -> None:
    graph = conversation(20, QUESTIONS)
    for node in graph.nodes.values():
        if node["class_name"] == "judge_score":
            node["value"] = no if node["value"] == "0" else yes
    store = database.project(f"test-{uuid4().hex}")
    path = graph.write(tmp_path / "graph.json")
    for _ in range(2):
        report = await import_path(store, path)
        answers = await elements(store, Variable, report.trace_id, ["Answer"])
        assert [answer.right for answer in answers] == [False, right, right] * 2


async def test_of_scores_on_a_longer_scale_none_says_yes(database: Database, tmp_path: Path) -> None:
    graph = conversation(20, QUESTIONS)
    scores = [key for key, node in graph.nodes.items() if node["class_name"] == "judge_score"]
    best = graph.text("5", "variable", "judge_score")
    last = [edge for edge in graph.edges if edge["target_full_node_id"] in scores][-1]
    last["target_full_node_id"] = best
    store = database.project(f"test-{uuid4().hex}")
    report = await import_path(store, graph.write(tmp_path / "graph.json"))
    answers = await elements(store, Variable, report.trace_id, ["Answer"])
    assert [answer.right for answer in answers] == [False, None, None] * 2


async def test_a_judge_that_read_no_question_or_no_answer_calls_nothing_right(
    database: Database, tmp_path: Path
) -> None:
    graph = conversation(20, QUESTIONS)
    judges = [one["op_id"] for one in graph.operations if one["op_name"] == "llm-judge"]
    unread = {(judges[1], "query"), (judges[2], "prediction")}
    graph.edges[:] = [
        one
        for one in graph.edges
        if (one["op_id"], graph.nodes[one["source_full_node_id"]]["class_name"]) not in unread
    ]
    store = database.project(f"test-{uuid4().hex}")
    report = await import_path(store, graph.write(tmp_path / "graph.json"))
    answers = await elements(store, Variable, report.trace_id, ["Answer"])
    assert [answer.right for answer in answers] == [False, None, None, False, True, True]


async def test_a_failure_has_its_texts_whole_however_long_they_are(database: Database, tmp_path: Path) -> None:
    graph = conversation(20, 1)
    long = {kind: f"{kind} " * WHOLE_VALUE_BYTES for kind in ("query", "prediction", "golden_answers")}
    for node in graph.nodes.values():
        if node["class_name"] in long:
            node["value"] = repr(long[node["class_name"]])
    store = database.project(f"test-{uuid4().hex}")
    await import_path(store, graph.write(tmp_path / "graph.json"))
    (failure,) = (await store.failures()).items
    assert failure.question == long["query"]
    assert failure.prediction == long["prediction"]
    assert failure.gold_answers == (long["golden_answers"],)
