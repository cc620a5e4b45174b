"""What a user says now, in a message that a program wrote with kept notes."""

from __future__ import annotations

import pytest
from memtrace.identity import Variable
from memtrace.instruments.handed_out import Given, Text
from memtrace.instruments.said_now import remember_turn, said_now
from memtrace.steps import TraceState

NOTE = "The bicycle is behind the boathouse"


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("Where is my bicycle?", "Where is my bicycle?"),
        ("Where is my bicycle?\n", "Where is my bicycle?"),
        ('Where is my bicycle?\r\n  "\r\n', "Where is my bicycle?"),
        ("Say it in French.\n", ""),
    ],
)
def test_a_message_that_ends_in_a_question_about_one_note(end: str, said: str) -> None:
    trace = TraceState("t")
    note = Text(NOTE, 0, {"t": [Given(NOTE, "t", Variable("n", "n", 1, "Response", 0))]})
    assert said_now(trace, f"Notes:\n{NOTE}\n\n{end}", [note]).partition("\n")[0] == said
    remember_turn(trace, "I put it behind the boathouse.", Variable("m", "m", 1, "Message", 0))
    assert said_now(trace, f"I put it behind the boathouse.\n{NOTE}\n\n{end}", [note]) == ""
