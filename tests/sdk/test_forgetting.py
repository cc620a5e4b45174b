"""What the instruments forget where a recording begins anew."""

from __future__ import annotations

from memtrace.instruments import placing


def test_sessions_that_were_sent_and_the_last_trace_are_forgotten() -> None:
    told = placing._told_sessions
    placing._last.set("trace")
    placing.forget()
    assert placing._last.get() is None
    assert placing._told_sessions is not told
