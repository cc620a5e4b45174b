"""What resolvers get: what the principal has access to, and loaders that read the store once per field and level."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from strawberry.dataloader import DataLoader
from strawberry.fastapi import BaseContext
from strawberry.types import Info as StrawberryInfo

from api.auth.access import Access, ProjectDoor
from api.graphql.loops import on_loop
from api.http.platform import Platform
from schema.control import Role
from store.contract.protocol import GraphStore

T = TypeVar("T")
V = TypeVar("V")

_BATCH = 1000


class Context(BaseContext):
    """One request, or one operation of a websocket.

    Attributes:
        token: the Authorization header, or the token of a websocket's first message. A subscription checks it again
            while it runs.
        client: the client's address.
        compared_bytes: bytes of the values that the operation has compared.
        is_large: whether the operation may complete so many fields that it needs an event loop of its own.
        in_turn: a lock that a field holds while it needs much memory, so that such fields run one after the other.
        is_sent: whether the answer is only sent to a client. Parts of it may then be JSON already
            (``msgspec.Raw``). Pages read their answers, and get plain objects.
    """

    def __init__(
        self,
        platform: Platform,
        access: Access | None,
        token: str | None,
        client: str | None = None,
        is_sent: bool = False,
    ) -> None:
        super().__init__()
        self.platform = platform
        self.token = token
        self.client = client
        self.is_sent = is_sent
        self.connection_params: Any = None
        self.compared_bytes = 0
        self.is_large = False
        self.in_turn = asyncio.Lock()
        self._home = asyncio.get_running_loop()
        self._access = access
        self._loaders: dict[Hashable, DataLoader[Any, Any]] = {}

    @property
    def access(self) -> Access:
        """What the principal may reach."""
        if self._access is None:
            raise RuntimeError("a websocket was used before it said who it is")
        return self._access

    @access.setter
    def access(self, access: Access) -> None:
        self._access = access

    @property
    def is_known(self) -> bool:
        """Whether the client has said yet who it is."""
        return self._access is not None

    async def for_operation(self) -> Context:
        """A context for one operation: the same principal with new loaders. Every operation reads the current state.

        Raises:
            UnauthenticatedError: over a websocket: its key or token has run out, or was revoked.
            RateLimitedError: over a websocket: it asks too often.
        """
        access = self.access
        if self.connection_params is not None:
            access = Access(self.platform.database, await self.platform.verifier.verify(self.token, self.client))
        return Context(self.platform, access, self.token, self.client, self.is_sent)

    @property
    def most_answer_bytes(self) -> int:
        """The largest number of bytes of an answer."""
        return self.platform.settings.graphql_answer_bytes

    def close(self) -> None:
        """Forget what was read.

        Objects of graphql-core refer to each other in circles, which would keep the data for long.
        """
        self._loaders.clear()

    def door(self, project_id: str, needed: Role = Role.READER) -> ProjectDoor:
        """A project; see ``Access.project``. The project can also be used on another loop than the server's."""
        door = self.access.project(project_id, needed)
        if asyncio.get_running_loop() is self._home:
            return door
        return replace(door, store=on_loop(door.store, self._home), records=on_loop(door.records, self._home))

    def here(self, thing: T) -> T:
        """An object of the server's loop, to be used on the running loop, which may be another one."""
        return thing if asyncio.get_running_loop() is self._home else on_loop(thing, self._home)

    async def load(
        self,
        project_id: str,
        read: Callable[..., Awaitable[Mapping[Any, V]]],
        key: Hashable,
        *parameters: Hashable,
    ) -> V | None:
        """The value of a key. Keys that are requested at the same time are read in one call.

        Args:
            project_id: the project to read from.
            read: takes the project's store, the keys and ``parameters``; returns the found values by key.
            key: what to look for.
            parameters: what all keys of one call share, such as the size of a page.
        """
        name = (project_id, read, parameters)
        loader = self._loaders.get(name)
        if loader is None:
            store = self.door(project_id).store
            loader = DataLoader(_batch(read, store, parameters), max_batch_size=_BATCH)
            self._loaders[name] = loader
        return cast("V | None", await loader.load(key))


def _batch(
    read: Callable[..., Awaitable[Mapping[Any, Any]]], store: GraphStore, parameters: Sequence[Hashable]
) -> Callable[[list[Any]], Awaitable[list[Any]]]:
    async def load(keys: list[Any]) -> list[Any]:
        found = await read(store, keys, *parameters)
        return [found.get(key) for key in keys]

    return load


Info = StrawberryInfo[Context, None]
