"""Child processes for work that takes the processor for long: how a child starts, and how parent and child talk.

A child is a module that is run with ``python -m``. Parent and child talk over the child's standard input and output.
Each message is its length in four bytes and its data. The first message is pickled: it holds what the child has to
know, such as the settings, whose secrets must be neither in arguments nor in JSON that a log might show.

A child ends when its standard input does. The kernel closes the pipe when the parent is gone, even if it was killed, so
that no child outlives its parent. ``concurrent.futures.ProcessPoolExecutor`` can't replace this module: its workers
hold both ends of their pipes and outlive a parent that was killed, and before Python 3.14 it can't kill a busy worker.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import struct
import sys
import threading
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

HEADER = struct.Struct(">I")

GONE = (ConnectionError, asyncio.IncompleteReadError)
"""Errors that the parent meets after its child has ended."""


class Message(msgspec.Struct, frozen=True, tag=True):
    """A message in JSON; its ``type`` is the name of the class."""


async def start_child(module: str, first: object) -> Process:
    """Start a module as a process.

    Args:
        module: the module's name.
        first: what ``Parent.first`` is in the child.
    """
    # The child gets a session of its own, because interrupts from a terminal are for the parent. Its standard error is
    # the parent's standard output, where the log goes.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module), stdin=PIPE, stdout=PIPE, stderr=1, start_new_session=True
    )
    send(process, pickle.dumps(first))
    return process


def send(process: Process, data: bytes) -> None:
    """Send data to a child."""
    assert process.stdin is not None
    process.stdin.write(HEADER.pack(len(data)) + data)


def say(process: Process, message: Message) -> None:
    """Send a message to a child."""
    send(process, msgspec.json.encode(message))


async def heard(process: Process) -> bytes:
    """The next message of a child.

    Raises:
        asyncio.IncompleteReadError: the child has ended.
        ConnectionError: the child has ended.
    """
    assert process.stdout is not None
    (length,) = HEADER.unpack(await process.stdout.readexactly(HEADER.size))
    return await process.stdout.readexactly(length)


async def kill(process: Process) -> None:
    """End a child at once, and close its pipes."""
    with suppress(ProcessLookupError):  # it may have ended by itself
        process.kill()
    with suppress(*GONE):
        await process.communicate()


class Parent:
    """The child's side of the pipes to its parent.

    Attributes:
        first: the object that the parent gave to ``start_child``; None if the parent is gone already.
    """

    def __init__(self) -> None:
        """Take over standard input and output. Printed text goes to standard error, for the log."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # the parent says when to stop
        self._incoming = os.fdopen(os.dup(0), "rb")
        self._outgoing = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        self._lock = threading.Lock()
        pickled = self.hear()
        # Safe: the data come from the parent.
        self.first: Any = None if pickled is None else pickle.loads(pickled)  # noqa: S301

    def hear(self) -> bytes | None:
        """The next message; None if the parent is gone."""
        header = self._incoming.read(HEADER.size)
        if len(header) < HEADER.size:
            return None
        (length,) = HEADER.unpack(header)
        data = self._incoming.read(length)
        return data if len(data) == length else None

    def send(self, data: bytes) -> None:
        """Send data; several threads may do so."""
        with self._lock:
            self._outgoing.write(HEADER.pack(len(data)))
            self._outgoing.write(data)
            self._outgoing.flush()

    def say(self, message: Message) -> None:
        """Send a message."""
        self.send(msgspec.json.encode(message))

    def listen(self, take: Callable[[bytes], None]) -> None:
        """Give each message to ``take``, on a thread of its own, and end this process when the parent is gone.

        The loop may be busy with work when the parent goes.
        """

        def run() -> None:
            while (data := self.hear()) is not None:
                take(data)
            os._exit(0)

        threading.Thread(target=run, daemon=True).start()
