"""Processes of this one's own for work that takes the processor for long: how they start, and how both sides talk.

They talk over the child's standard input and output. Each message is its length in four bytes and a JSON object, whose
``type`` says which it is. Only the first message is different: it is the settings, pickled, because they hold secrets,
which must not be in arguments or in JSON that might be shown.

A child ends when its standard input does, which is when its parent is gone, however it went.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import struct
import sys
from asyncio.subprocess import PIPE, Process
from typing import TYPE_CHECKING, BinaryIO

import msgspec

if TYPE_CHECKING:
    from api.settings import Settings

HEADER = struct.Struct(">I")


class Message(msgspec.Struct, frozen=True, tag=True):
    """Something that one says to the other."""


def encode(message: Message) -> bytes:
    """A message with its length."""
    return framed(msgspec.json.encode(message))


def framed(data: bytes) -> bytes:
    """Data with their length."""
    return HEADER.pack(len(data)) + data


async def start_child(module: str, settings: Settings) -> Process:
    """Start a module as a process, and give it the settings."""
    # A session of its own: this process handles interrupts from a terminal, and the child does not see them. What the
    # child says for the log goes where this process's log goes.
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module), stdin=PIPE, stdout=PIPE, stderr=1, start_new_session=True
    )
    assert process.stdin is not None
    process.stdin.write(framed(pickle.dumps({name: getattr(settings, name) for name in type(settings).model_fields})))
    return process


def say(process: Process, message: Message) -> None:
    """Say something to a child."""
    assert process.stdin is not None
    process.stdin.write(encode(message))


async def heard(process: Process) -> bytes:
    """The next message of a child.

    Raises:
        asyncio.IncompleteReadError: the child has ended.
        ConnectionError: the same.
    """
    assert process.stdout is not None
    (length,) = HEADER.unpack(await process.stdout.readexactly(HEADER.size))
    return await process.stdout.readexactly(length)


def begin_child() -> tuple[Settings, BinaryIO, BinaryIO] | None:
    """In the child: its settings, and where it hears and speaks; None where the parent is gone already.

    What the child logs, and what anybody in it prints, goes to its standard error.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # the parent says when to stop
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    pickled = read_message(incoming)
    if pickled is None:
        return None
    from api.logs import set_up_logs
    from api.settings import Settings

    # Safe: it comes from the process that started this one, which has also checked the settings.
    settings = Settings.model_construct(**pickle.loads(pickled))  # noqa: S301
    set_up_logs(settings.log_level, settings.log_format)
    return settings, incoming, outgoing


def read_message(stream: BinaryIO) -> bytes | None:
    """The next message; None where the stream has ended."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (length,) = HEADER.unpack(header)
    data = stream.read(length)
    return data if len(data) == length else None
