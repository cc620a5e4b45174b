"""What the instruments forget where a recording begins anew."""

from __future__ import annotations

from memtrace.instruments import homes, joining, placing


def test_sessions_that_were_sent_and_the_last_trace_are_forgotten() -> None:
    told = homes._told_sessions
    joining.last.set("trace")
    placing.forget()
    assert joining.last.get() is None
    assert homes._told_sessions is not told
