"""Following things that change in the store: one read at intervals serves all clients."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from schema.errors import NotFoundError

T = TypeVar("T")

Read = Callable[[str, Sequence[str]], Awaitable[Mapping[str, T]]]
"""Takes a project and ids; returns the existing things by id."""

_IDS = 200


@dataclass(eq=False, slots=True)
class _Follower(Generic[T]):
    """A client that follows a thing: the newest state that was not taken yet, or the error that ended the following."""

    project_id: str
    id: str
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    newest: T | None = None
    error: Exception | None = None

    def tell(self, state: T) -> None:
        if state != self.newest:
            self.newest = state
            self.changed.set()

    def end(self, error: Exception) -> None:
        self.error = error
        self.changed.set()


class Following(Generic[T]):
    """Things of a kind, such as jobs, that clients of this process follow."""

    def __init__(self, label: str, read: Read[T], seconds: float) -> None:
        """Begin without followers.

        Args:
            label: the kind of thing, for errors.
            read: reads states from the store.
            seconds: between two reads.
        """
        self._label = label
        self._read = read
        self._seconds = seconds
        self._followers: set[_Follower[T]] = set()
        self._poll: asyncio.Task[None] | None = None
        self._now = asyncio.Event()

    @property
    def is_looking(self) -> bool:
        """Whether anybody follows anything, so that the store is read at intervals."""
        return self._poll is not None

    def look_now(self) -> None:
        """Read the store now instead of at the next interval."""
        self._now.set()

    async def follow(self, project_id: str, id_: str) -> AsyncGenerator[T, None]:
        """The state of a thing now, then after each change.

        Changes that come faster than the client takes them are merged.

        Raises:
            NotFoundError: the project does not have the thing, or no longer.
            StoreError: the store can't be used.
        """
        found = await self._read(project_id, [id_])
        if id_ not in found:
            raise NotFoundError(id_, self._label)
        follower = _Follower[T](project_id, id_)
        follower.tell(found[id_])
        self._followers.add(follower)
        if self._poll is None:
            self._poll = asyncio.create_task(self._look())
        try:
            while True:
                await follower.changed.wait()
                follower.changed.clear()
                if follower.error is not None:
                    raise follower.error
                assert follower.newest is not None
                yield follower.newest
        finally:
            self._followers.discard(follower)

    async def close(self) -> None:
        """Stop looking."""
        if self._poll is not None:
            self._poll.cancel()
            with suppress(asyncio.CancelledError):
                await self._poll

    async def _look(self) -> None:
        """Read all followed things, one read for each project, until nobody follows anything."""
        while self._followers:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._now.wait(), self._seconds)
            self._now.clear()
            by_project: dict[str, list[_Follower[T]]] = defaultdict(list)
            for follower in self._followers:
                by_project[follower.project_id].append(follower)
            for project_id, followers in by_project.items():
                await self._look_at(project_id, followers)
        self._poll = None

    async def _look_at(self, project_id: str, followers: list[_Follower[T]]) -> None:
        ids = sorted({follower.id for follower in followers})
        states: dict[str, T] = {}
        try:
            for start in range(0, len(ids), _IDS):
                states |= await self._read(project_id, ids[start : start + _IDS])
        except Exception as error:
            # Any error goes to the followers of this project; followers in other projects are still served.
            for follower in followers:
                follower.end(error)
            return
        for follower in followers:
            if follower.id in states:
                follower.tell(states[follower.id])
            else:
                follower.end(NotFoundError(follower.id, self._label))
