"""Keeps replies of models by request, and by the number of earlier equal requests."""

from __future__ import annotations

import heapq
import itertools
import os
import shutil
import tempfile
import threading
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Literal

from pydantic_core import from_json, to_json

from memtrace.folders import make_private_folder

Mode = Literal["record", "kept", "mixed", "fresh", "resume"]
REPLIES = "replies"
"""The subfolder of the replies in a trace's folder."""
MAX_BYTES = 256_000_000
"""Of all replies of a trace; later replies are not kept, and a replay that needs one reports a problem."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A server's reply."""

    status: int
    media_type: str
    body: bytes


class Replies:
    """The replies of one trace.

    Args:
        folder: the folder of the replies.
        mode: ``record`` asks the server and keeps the replies; ``kept`` gives only kept replies; ``mixed`` gives kept
            replies and asks the server for others; ``fresh`` always asks; ``resume`` is ``mixed`` that keeps new
            replies.
        fresh: names of kept replies that ``mixed`` asks for again.

    Attributes:
        used: names of the kept replies that were given.
        new: names of new replies that are kept now.
    """

    def __init__(self, folder: Path, mode: str, fresh: Collection[str] | None = None) -> None:
        self._folder = folder
        self._mode = mode
        self._fresh = frozenset(fresh or ())
        self._turns: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)
        self._given_back: defaultdict[str, list[int]] = defaultdict(list)
        self._lock = threading.Lock()
        self._bytes = 0
        self.used: set[str] = set()
        self.new: set[str] = set()

    @property
    def may_ask(self) -> bool:
        """Whether the server may be asked for replies that were not kept."""
        return self._mode != "kept"

    def name(self, method: str, url: str, body: bytes) -> str:
        """The name of the next reply to a request: a hash of the request without headers, and its turn."""
        digest = blake2b(digest_size=16)
        for part in (method.encode(), url.encode(), _canonical(body)):
            digest.update(b"%d:" % len(part) + part)
        asked = digest.hexdigest()
        with self._lock:
            back = self._given_back.get(asked)
            turn = heapq.heappop(back) if back else next(self._turns[asked])
        return f"{asked}.{turn}"

    def give_back(self, name: str) -> None:
        """Free the turn of a request whose reply is not kept, for the next equal request."""
        asked, _, turn = name.rpartition(".")
        with self._lock:
            heapq.heappush(self._given_back[asked], int(turn))

    def find(self, name: str) -> Reply | None:
        """A kept reply by name; None if it is missing or must be asked for again."""
        if self._mode in {"record", "fresh"} or name in self._fresh:
            return None
        try:
            data = (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None
        head, _, body = data.partition(b"\n")
        said = from_json(head)
        if blake2b(body, digest_size=16).hexdigest() != said["hash"]:
            return None  # damaged
        self.used.add(name)
        return Reply(said["status"], said["mediaType"], body)

    def keep(self, name: str, reply: Reply) -> bool:
        """Keep a reply, if the mode keeps replies; False if there is no room."""
        if self._mode not in {"record", "resume"}:
            return True
        self._bytes += len(reply.body)
        if self._bytes > MAX_BYTES:
            return False
        make_private_folder(self._folder)
        said = {
            "status": reply.status,
            "mediaType": reply.media_type,
            "hash": blake2b(reply.body, digest_size=16).hexdigest(),
        }
        descriptor, unfinished = tempfile.mkstemp(dir=self._folder)
        with os.fdopen(descriptor, "wb") as file:
            file.write(to_json(said) + b"\n" + reply.body)
        Path(unfinished).replace(self._folder / name)
        self.new.add(name)
        return True

    def copy(self, folder: Path) -> None:
        """Copy all replies that were given, kept or new, into a folder."""
        make_private_folder(folder)
        for name in sorted(self.used | self.new):
            shutil.copyfile(self._folder / name, folder / name)


def _canonical(body: bytes) -> bytes:
    """A body of JSON with sorted keys; any other body unchanged."""
    try:
        value = from_json(body)
    except ValueError:
        return body
    return to_json(_sorted(value))


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return value
