"""What is made of the messages of a pull: those with a status are answers of the server, not packets."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any, cast

import pytest
from nats.errors import TimeoutError as NatsTimeoutError

from ingest.queue.nats.connection import ANSWER_SECONDS
from ingest.queue.nats.pull import Pull
from schema.errors import StoreError


def status(code: str, said: str = "") -> Any:
    """A message of the server about the pull."""
    return SimpleNamespace(data=b"", headers={"Status": code, "Description": said})


def packet(text: str) -> Any:
    """A message with data; a header of its own makes it no status."""
    return SimpleNamespace(data=text.encode(), headers={"Status": "100"} if text == "b" else None)


class Inbox:
    """A subscription with these messages."""

    def __init__(self, *messages: Any) -> None:
        self._messages = deque(messages)
        self.waits: list[float] = []

    @property
    def pending_msgs(self) -> int:
        """How many messages wait."""
        return len(self._messages)

    async def next_msg(self, timeout: float) -> Any:  # noqa: ASYNC109 (the name of the package)
        """The next message."""
        self.waits.append(timeout)
        if not self._messages:
            raise NatsTimeoutError
        return self._messages.popleft()


def pull(inbox: Inbox) -> Pull:
    """A pull that listens to the inbox, and asks for nothing."""
    made = Pull.__new__(Pull)
    made._subscription = cast("Any", inbox)
    return made


BEAT, NONE, GONE = status("100", "Idle Heartbeat"), status("404", "No Messages"), status("409", "Consumer Deleted")


@pytest.mark.parametrize(
    ("messages", "seconds", "found"),
    [
        ([packet("a"), packet("b"), packet("c")], 1.0, ["a", "b"]),
        ([packet("a")], 1.0, ["a"]),
        ([BEAT, packet("a"), BEAT, packet("b")], 1.0, ["a", "b"]),
        ([packet("a"), NONE, packet("b")], 1.0, ["a"]),
        ([NONE], 1.0, []),
        ([BEAT], 0.0, []),
        ([], 0.0, []),
    ],
)
async def test_packets_are_collected_until_there_are_no_more(
    messages: list[Any], seconds: float, found: list[str]
) -> None:
    inbox = Inbox(*messages)
    assert [one.data.decode() for one in await pull(inbox)._collect(2, seconds)] == found
    assert all(0 < wait <= max(seconds, 0.001) for wait in inbox.waits)


async def test_silence_and_refusals_are_errors() -> None:
    with pytest.raises(NatsTimeoutError):
        await pull(Inbox(BEAT))._collect(1, ANSWER_SECONDS)
    with pytest.raises(StoreError, match="NATS: 409 Consumer Deleted"):
        await pull(Inbox(packet("a"), GONE))._collect(2, ANSWER_SECONDS)
