"""What a server and the process that writes its events say to each other; see ``api.processes.children``."""

from __future__ import annotations

from api.processes.children import Message


class Arrived(Message, frozen=True):
    """Packets have come to these lanes of the journal."""

    lanes: list[int]


class Stop(Message, frozen=True):
    """Finish the current work within so many seconds, and end."""

    seconds: float


class Told(Message, frozen=True):
    """What was done since the process started, by the names of ``Tally``; and what of the store is damaged."""

    tally: dict[str, int]
    damage: str | None


ToChild = Arrived | Stop
