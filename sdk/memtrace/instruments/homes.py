"""The trace and session of a call, by id and name. The events of a trace and of a session are sent once."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from memtrace.ids import new_id, trace_id
from memtrace.instruments.program_name import namespace, program
from memtrace.kinds import MAX_ID_CHARACTERS, MAX_NAME_CHARACTERS
from memtrace.raw_events import SESSION, TRACE, RawEvent
from memtrace.recent import Recent
from memtrace.sink import emit
from memtrace.steps import TraceState

MAX_SESSIONS = 20_000
ONE_TRACE = "MEMTRACE_ONE_TRACE"
"""The environment variable that puts the calls of a run outside of ``memtrace.trace`` into one trace, if it is 1."""
_RUN = "MEMTRACE_RUN"


@dataclass(frozen=True, slots=True)
class Home:
    """The trace and session of a call.

    Attributes:
        trace: the trace's id.
        name: the trace's name for people.
        session: a session's name, such as a conversation's id; None for the session of this process.
        attributes: attributes of the trace, such as the memory's store.
        is_open: whether the trace may turn out to be a part of another one (``memtrace.undecided``).
    """

    trace: str
    name: str
    session: str | None = None
    attributes: tuple[tuple[str, str], ...] = ()
    is_open: bool = False


_run_id = new_id()
_run_pid = os.getpid()
_told_sessions: Recent[str, bool] = Recent(MAX_SESSIONS)


def tell(trace: TraceState, home: Home, session: str) -> None:
    """Send the events of the trace and the session, each once in a process."""
    events = beginning(trace, home)
    key = f"{trace.id} {session}"
    if _told_sessions.get(key) is None:
        _told_sessions.set(key, True)
        name = home.session or f"run of {program()}"
        events.append((SESSION, {"name": name[:MAX_NAME_CHARACTERS]}, trace.id, time.time_ns(), session))
    if events:
        emit(events)


def beginning(trace: TraceState, home: Home) -> list[RawEvent]:
    """The event of the trace, if it is not sent yet in this process."""
    if trace.is_told:
        return []
    trace.is_told = True
    said: dict[str, Any] = {"name": home.name[:MAX_NAME_CHARACTERS]} if home.name else {}
    if home.attributes:
        said["attributes"] = dict(home.attributes)
    return [(TRACE, said, trace.id, time.time_ns(), trace.id)]


def session_id(home: Home) -> str:
    """The id of a home's session, the same in every process that names the session."""
    return f"session-{digest(home.trace, home.session or run())}"[:MAX_ID_CHARACTERS]


def run() -> str:
    """An id of this process; a forked process gets an id of its own."""
    global _run_id, _run_pid
    if os.getpid() != _run_pid:
        _run_id, _run_pid = new_id(), os.getpid()
    return _run_id


def together() -> str | None:
    """The id of the one trace of this run; None if the user did not ask for one."""
    if os.environ.get(ONE_TRACE, "").strip() != "1":
        return None
    return trace_id("run", namespace(), os.environ.get(_RUN) or run())


def digest(*texts: str) -> str:
    """A digest of texts."""
    return blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def forget() -> None:
    """Forget which sessions were sent."""
    global _told_sessions  # noqa: PLW0603 (one recorder a process)
    _told_sessions = Recent(MAX_SESSIONS)
