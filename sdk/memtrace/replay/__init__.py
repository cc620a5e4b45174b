"""Runs a recorded program again, with changed calls: what would the answer have been?

``memtrace.trace(..., program="module:function", input={...})`` keeps the data for replays.
"""

from memtrace.replay.calls import Call
from memtrace.replay.do import Do
from memtrace.replay.keeping import folder_of
from memtrace.replay.runs import Ask, Limits, Replayed, ReplayedCall, ReplayedOperation, Replayer, ReplayError, run
from memtrace.replay.seams import model_url, place, state
from memtrace.replay.snapshots import (
    LangGraphStoreSnapshot,
    PathSnapshot,
    Snapshot,
    SqliteSnapshot,
    ValueSnapshot,
)

__all__ = [
    "Ask",
    "Call",
    "Do",
    "LangGraphStoreSnapshot",
    "Limits",
    "PathSnapshot",
    "ReplayError",
    "Replayed",
    "ReplayedCall",
    "ReplayedOperation",
    "Replayer",
    "Snapshot",
    "SqliteSnapshot",
    "ValueSnapshot",
    "folder_of",
    "model_url",
    "place",
    "run",
    "state",
]
