"""What the recorder says of a wrong answer, and what it keeps to itself."""

from __future__ import annotations

import json

import memtrace
import pytest
from memtrace import kinds, redact
from memtrace.events import Feedback, decode
from memtrace.exporters.memory import MemoryExporter
from memtrace.exporters.prepare import Preparation
from memtrace.raw_events import FEEDBACK, TRACE


@memtrace.operation(kind="Generation", output="Answer")
def generate(query: str) -> str:
    return "because of " + query


def test_inside_the_trace_values_variables_and_names_will_do(recorded: MemoryExporter) -> None:
    with memtrace.trace(id="t"):
        message = memtrace.variable("Bo is a poodle.", "Message", "m")
        query = memtrace.variable("What is Bo?", "Query")
        answer = generate(query)
        found = [memtrace.find(one) for one in (answer, query, message)]
        ids = [one.id for one in found if one is not None]
        memtrace.feedback(answer, gold="a poodle", evidence=["m"], comment="a user wrote")
        memtrace.feedback(found[0], evidence=[message])
        memtrace.feedback(ids[0], question=query)
    whole, less, least = recorded.of("feedback")
    assert {name: whole[name] for name in ("trace", "answer", "question", "gold", "evidence", "comment")} == {
        "trace": "t",
        "answer": ids[0],
        "question": ids[1],
        "gold": ["a poodle"],
        "evidence": [ids[2]],
        "comment": "a user wrote",
    }
    assert (less["question"], less["evidence"]) == (ids[1], [ids[2]])
    assert "gold" not in less
    assert (least["answer"], least["question"]) == (ids[0], ids[1])


def test_what_nobody_knows_is_a_fault_and_no_event() -> None:
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter)
    before = memtrace.fault_counts().get("feedback", 0)
    memtrace.feedback("0" * 32)  # in no trace
    with memtrace.trace():
        memtrace.feedback("an answer that was never recorded", "gold")
    memtrace.configure(exporter=MemoryExporter())
    assert exporter.of("feedback") == []
    assert memtrace.fault_counts()["feedback"] == before + 2


def test_evidence_that_nobody_knows_keeps_nothing_else_out(caplog: pytest.LogCaptureFixture) -> None:
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter)
    with memtrace.trace():
        message = memtrace.variable("Bo is a poodle.", "Message", "m")
        memtrace.feedback(generate("What is Bo?"), "a poodle", evidence=["nobody", message])
    memtrace.configure(exporter=MemoryExporter())
    (said,) = exporter.of("feedback")
    assert (said["gold"], said["evidence"]) == (["a poodle"], [exporter.of("variable")[0]["variable"]])
    (told,) = (record.getMessage() for record in caplog.records if "evidence" in record.getMessage())
    assert "'nobody' (a text of 6 characters) is no known variable of the trace" in told
    assert __file__ in told


def test_a_trace_that_is_not_sampled_says_nothing(recorded: MemoryExporter) -> None:
    memtrace.configure(exporter=recorded, sampling=0.0)
    memtrace.feedback("0" * 32, "gold", trace="t")
    with memtrace.trace():
        memtrace.feedback("0" * 32, "gold")
    memtrace.configure(exporter=recorded, sampling=1.0)
    assert recorded.of("feedback") == []


def test_masks_see_gold_answers_and_comments() -> None:
    said = {"gold": ["write to a@b.example", "no"], "comment": "c@d.example said so"}
    line = Preparation(redactions=redact.EVERYTHING).line((FEEDBACK, said, "t", 0, "a", None))
    assert b"@" not in line
    assert json.loads(line)["gold"] == ["write to [EMAIL]", "no"]


def test_much_is_cut_to_what_the_platform_takes(recorded: MemoryExporter) -> None:
    long = ["\N{BRAIN}" * 30_000] * 200
    memtrace.feedback("0" * 32, long, ["1" * 32] * 200, "x" * 30_000, trace="t")
    (said,) = recorded.of("feedback")
    event = decode(json.dumps(said))
    assert isinstance(event, Feedback)
    assert 1 <= len(event.gold) < kinds.MAX_SAID
    assert len(json.dumps(said, ensure_ascii=False).encode()) < 256 << 10


def test_masks_see_numbers_and_keep_the_type_of_all_else() -> None:
    """A card's number may be written as a number; a truth value is no number."""
    attributes = {
        "card": 4111111111111111,
        "n": 5,
        "share": 0.5,
        "flag": True,
        "none": None,
        "a@b.example": ["x@y.example"],
    }
    event = Preparation(redactions=redact.EVERYTHING)((TRACE, {"attributes": attributes}, "t", 0, "a"))
    assert event["attributes"] == {
        "card": "[CARD]",
        "n": 5,
        "share": 0.5,
        "flag": True,
        "none": None,
        "[EMAIL]": ["[EMAIL]"],
    }
    assert event["attributes"]["flag"] is True
    upper = Preparation(redactions=(str.upper,))((TRACE, {"attributes": {"flag": True}}, "t", 0, "a"))
    assert upper["attributes"] == {"FLAG": True}
