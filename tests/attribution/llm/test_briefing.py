"""The parts that a model reads of a failure, of the trace and of the free pass's verdict: all fields and lengths."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attribution.llm.agent import briefing, search
from attribution.llm.agent.briefing import describe_failure, describe_hint, describe_trace
from attribution.llm.agent.check import checked
from attribution.llm.agent.pieces import checked_with_pieces
from attribution.llm.agent.proposal import Proposal
from attribution.llm.agent.rendering import HIDDEN, clip, listed, show_operation, show_variable
from attribution.llm.agent.search import search_values
from attribution.llm.agent.view import FailureView
from attribution.llm.transport.cache import FileCache
from attribution.llm.transport.schemas import Rejected
from attribution.verdicts.verdict import CandidateVerdict, Link, PieceLoss, Step, Verdict
from schema.errors import StoreError
from schema.kinds import ErrorType, Status, VariableKind
from tests.attribution.llm.story import Story


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (None, None),
        ("", ""),
        ("abc", "abc"),
        ("abcd", "abc… (+1 characters)"),
        ("a" * 1_203, "aaa… (+1,200 characters)"),
    ],
)
def test_a_long_text_is_cut_and_says_so(text: str | None, wanted: str | None) -> None:
    assert clip(text, 3) == wanted


@pytest.mark.parametrize(
    ("count", "start", "wanted"),
    [
        (0, 0, {"items": []}),
        (2, 0, {"items": ["0", "1"]}),
        (3, 0, {"items": ["0", "1"], "start": 0, "of": 3}),
        (3, 2, {"items": ["2"], "start": 2, "of": 3}),
        (3, 3, {"items": [], "start": 3, "of": 3}),
    ],
)
def test_a_long_list_says_how_many_there_are(count: int, start: int, wanted: dict[str, Any]) -> None:
    assert listed(range(count), 2, str, start) == wanted


async def test_a_failure_with_its_variables_and_evidence(story: Story) -> None:
    document = await describe_failure(story.case)
    assert document == {
        "question": "When did Mara move?",
        "answer": "In April.",
        "kind": "plain",
        "gold_answers": ["March 2025"],
        "evidence": [{"variable": story.v("message"), "value": story.variables["message"].preview}],
        "question_variable": story.v("question-0"),
        "answer_variable": story.v("answer-0"),
    }
    unknown = replace(story.failure, question_id="none", answer_id=None, gold_answers=())
    document = await describe_failure(FailureView(story.graph, unknown, []))
    assert (document["gold_answers"], document["evidence"]) == ("unknown", [])
    assert not {"question_variable", "answer_variable", "more_evidence", "pieces"} & document.keys()


@pytest.mark.parametrize(("count", "further"), [(20, 0), (21, 1), (61, 40)])
async def test_twenty_messages_of_the_evidence_are_shown(story: Story, count: int, further: int) -> None:
    document = await describe_failure(FailureView(story.graph, story.failure, [story.variables["message"].id] * count))
    assert len(document["evidence"]) == 20
    assert document.get("more_evidence", []) == [story.v("message")] * further


def test_operations_of_one_name_are_counted_together(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    document = describe_trace(story.case)
    assert document["variables"] == len(story.variables)
    own = story.op("update")
    update = {"kind": "Update", "name": "update", "count": 1, "first": own, "last": own, "candidates": {"items": [own]}}
    skim = story.op("skim")
    assert update in document["operations"]["items"]
    assert {"kind": "Extraction", "name": "skim", "count": 1, "first": skim, "last": skim} | {
        "candidates": {"items": []}
    } in document["operations"]["items"]
    for one in story.graph.operations.values():
        one_name = replace(one, name="n" * 81, kind=story.operations["update"].kind)
        story.graph.operations[one.id] = one_name
    (group,) = describe_trace(story.case)["operations"]["items"]
    assert group == {
        "kind": "Update",
        "name": "n" * 80 + "… (+1 characters)",
        "count": len(story.operations),
        "first": "op0",
        "last": f"op{len(story.operations) - 1}",
        "candidates": {"items": [f"op{number}" for number in (1, 2, 4, 6, 7, 8, 9, 10, 11)]},
    }
    monkeypatch.setattr(briefing, "_TRIED", 3)
    (group,) = describe_trace(story.case)["operations"]["items"]
    assert group["candidates"] == {"items": ["op9", "op10", "op11"]}


def test_the_free_passs_verdict_with_all_its_parts(story: Story) -> None:
    v, ops = story.variables, story.operations

    def step(name: str, holds: bool, quote: str = "") -> Step:
        return Step(v[name].id, ops["update"].id, Link.DERIVATION, quote, holds)

    path = [step("message", True, "q" * 301), step("unit", True), step("unit", True), step("newer", False)]
    path += [step("read-0", False), step("answer-0", False), replace(step("unit", False), variable_id="none")]
    hint = Verdict(
        ErrorType.UPDATE,
        ops["update"].id,
        0.456,
        "it was dropped",
        tuple(path),
        (CandidateVerdict(ErrorType.JUDGE, None, None, ""), CandidateVerdict(ErrorType.RETRIEVAL, "gone", 0.123, "or")),
        losses=(PieceLoss("March", ErrorType.UPDATE, ops["update"].id, 0.789, "r", (), reached=False),),
    )
    document = describe_hint(story.case, hint)
    assert document == {
        "error_type": "UpdateError",
        "operation": story.op("update"),
        "confidence": 0.46,
        "reason": "it was dropped",
        "steps": [
            {"variable": story.v("message"), "holds": True, "quote": "q" * 300 + "… (+1 characters)"},
            {"variable": story.v("unit"), "holds": True, "quote": ""},
            {"variable": story.v("newer"), "holds": False, "quote": ""},
        ],
        "pieces": [
            {
                "piece": "March",
                "error_type": "UpdateError",
                "operation": story.op("update"),
                "reached": False,
                "confidence": 0.79,
            }
        ],
        "alternatives": [
            {"error_type": "LLMAsAJudgeError", "operation": None, "confidence": None, "reason": ""},
            {"error_type": "RetrievalError", "operation": None, "confidence": 0.12, "reason": "or"},
        ],
    }
    hidden = FailureView(story.graph, story.gold_free, story.evidence)
    gold = replace(hint, path=(step("gold-0", True), step("unit", False)))
    assert [one["variable"] for one in describe_hint(hidden, gold)["steps"]] == [story.v("unit")]


def test_an_operation_and_a_variable_in_a_line(story: Story) -> None:
    graph, update, unit = story.graph, story.operations["update"], story.variables["unit"]
    assert show_operation(story.case, update.id, comment=True) == {
        "operation": story.op("update"),
        "kind": "Update",
        "name": "update",
    }
    graph.operations[update.id] = replace(update, status=Status.ERROR, comment="c" * 301, name=None)
    told = {"operation": story.op("update"), "kind": "Update", "name": None, "status": "error"}
    assert show_operation(story.case, update.id) == told
    assert show_operation(story.case, update.id, comment=True) == told | {"comment": "c" * 300 + "… (+1 characters)"}
    graph.operations[update.id] = replace(update, status=Status.UNKNOWN)
    assert "status" not in show_operation(story.case, update.id)
    line = show_variable(story.case, unit.id, 4)
    assert line.pop("time") == unit.created_at.isoformat()[:19] if unit.created_at else ""
    assert line == {
        "variable": story.v("unit"),
        "kind": "MemoryUnit",
        "name": "unit-1",
        "version": 0,
        "bytes": unit.size,
        "preview": f"Mara… (+{len(unit.preview) - 4} characters)",
    }
    graph.variables[unit.id] = replace(unit, created_at=None)
    assert not {"time", "preview"} & show_variable(story.case, unit.id, 0).keys()
    hidden = FailureView(graph, story.gold_free, story.evidence)
    assert show_variable(hidden, story.variables["gold-0"].id)["preview"] == HIDDEN


async def test_a_search_in_too_large_a_trace_says_so(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    assert await search_values(story.case, " ", None) == {"error": "words: give at least one"}
    whole = await search_values(story.case, "mara", None)
    assert "note" not in whole
    assert "note" not in await search_values(story.case, "2025", VariableKind.JUDGEMENT)
    monkeypatch.setattr(search, "_MOST", 1)
    several = await search_values(story.case, "mara", None)
    assert (len(several["hits"]), several["of"]) == (1, len(whole["hits"]))
    assert several["note"] == "more names hold them: use more words"
    message = story.variables["message"].size
    for most, hits in ((message, 1), (message - 1, 0)):
        monkeypatch.setattr(search, "_MOST_BYTES", most)
        monkeypatch.setattr(search, "_CHUNK", 1)
        story.graph.variables.pop(story.variables["settings"].id, None)
        found = await search_values(story.case, "mara", None)
        assert len(found["hits"]) == hits
        assert found["note"] == "the trace is too large to search all of it: name a kind"


async def test_twenty_steps_may_be_cited(story: Story) -> None:
    steps = [*[story.proposal()["steps"][0]] * 18, *story.proposal()["steps"][1:]]
    with pytest.raises(Rejected) as caught:
        await checked(story.case, Proposal.model_validate(story.proposal(steps=steps)))
    assert all("does not follow from" in problem for problem in caught.value.problems)


async def test_a_message_without_the_detail_is_no_evidence(story: Story) -> None:
    """An operation that had only this message has nothing to do with the answer."""
    steps = [{"variable": story.v("beside"), "quote": "a long move", "holds": False}]
    proposal = story.proposal(error_type="ExtractionError", operation=story.op("skim"), steps=steps)
    with pytest.raises(Rejected) as caught:
        await checked(story.case, Proposal.model_validate(proposal))
    assert caught.value.problems[0] == (
        f"operation: {story.op('skim')} has nothing to do with this answer, its question, its evidence or the memory"
    )


async def test_a_piece_begins_with_a_quote(story: Story) -> None:
    piece = {
        "error_type": None,
        "operation": None,
        "reached": True,
        "confidence": 0.8,
        "reason": "It is there.",
        "steps": [{"variable": story.v("newer"), "quote": "", "holds": False}],
    }
    with pytest.raises(Rejected) as caught:
        await checked_with_pieces(story.case, Proposal.model_validate(story.proposal(pieces=[piece])))
    assert caught.value.problems == ["pieces.0.steps.0: quote the message that tells the piece"]


async def test_a_reply_that_can_not_be_kept_or_read_is_told_with_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "replies"
    folder.write_text("a file", "utf-8")
    cache = FileCache(folder)
    with pytest.raises(StoreError) as caught:
        await cache.put("ab" * 32, b"reply")
    assert str(caught.value).startswith(f"{folder}: a reply can't be kept: ")
    folder.unlink()
    await cache.put("ab" * 32, b"reply")
    assert await cache.get(["ab" * 32, "cd" * 32]) == {"ab" * 32: b"reply"}

    def fail(*_: Any) -> Any:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "read_bytes", fail)
        with pytest.raises(StoreError) as caught:
            await cache.get(["ab" * 32])
    assert str(caught.value) == f"{folder}: a reply that was kept can't be read: Input/output error"
    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", fail)
        with pytest.raises(StoreError) as caught:
            await cache.put("ef" * 32, b"reply")
    assert str(caught.value) == f"{folder}: a reply can't be kept: Input/output error"
    assert [path.is_file() for path in folder.rglob("*")].count(True) == 1  # nothing is half-written
