"""The messages between a server and the child that writes its events; see ``api.processes.children``."""

from __future__ import annotations

from api.processes.children import Message


class Arrived(Message, frozen=True):
    """Packets have come to these lanes of the journal."""

    lanes: list[int]


class Stop(Message, frozen=True):
    """Finish the current work within so many seconds, and end."""

    seconds: float


class Told(Message, frozen=True):
    """The counts since the child started, by the names of ``Tally``; and the damage of the store, if any."""

    tally: dict[str, int]
    damage: str | None


ToChild = Arrived | Stop
