"""Saves and restores memories: plain Python values, files and folders, SQLite, stores of LangGraph."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import MutableMapping, MutableSequence
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from pydantic import TypeAdapter
from pydantic_core import from_json, to_json

_DATA = "data"
_SQLITE = b"SQLite format 3\x00"
_SIDE_FILES = ("-wal", "-shm", "-journal")
_LOCKS = {".lock"}
_AT_ONCE = 1000


class Snapshot(Protocol):
    """Saves and restores the content of a memory."""

    def save(self, path: Path) -> None:
        """Write the content of the memory into an empty folder."""
        ...

    def restore(self, path: Path) -> None:
        """Replace the content of the memory by the content that was saved in a folder. The folder does not change."""
        ...


class ValueSnapshot:
    """A list, a dictionary, or an object with attributes, that is changed in place; saved as JSON.

    Args:
        value: the list, dictionary or object.
        type_: the type of the content, such as ``list[Fact]``; without a type, plain JSON values are restored.
    """

    def __init__(self, value: Any, type_: Any = None) -> None:
        self._value = value
        self._adapter = None if type_ is None else TypeAdapter(type_)

    def save(self, path: Path) -> None:
        """Write the content as JSON.

        Raises:
            ValueError: JSON can't represent the content.
        """
        held = self._value if isinstance(self._value, MutableMapping | MutableSequence) else vars(self._value)
        (path / _DATA).write_bytes(to_json(held) if self._adapter is None else self._adapter.dump_json(held))

    def restore(self, path: Path) -> None:
        """Replace the content, in place."""
        data = (path / _DATA).read_bytes()
        held: Any = from_json(data) if self._adapter is None else self._adapter.validate_json(data)
        target = self._value
        if isinstance(target, MutableSequence):
            target[:] = held
            return
        if not isinstance(target, MutableMapping):
            target = vars(target)
        target.clear()
        target.update(held)


class PathSnapshot:
    """A file or folder. The copy of a SQLite file is consistent, even if somebody writes to the file.

    Files named ``.lock`` are left out: they belong to the process that has the folder open.
    """

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)

    def save(self, path: Path) -> None:
        """Copy the file or folder, if it exists; restoring a missing one removes it."""
        if self._path.exists():
            _copy(self._path, path / _DATA)

    def restore(self, path: Path) -> None:
        """Replace the file or folder by the copy."""
        if self._path.is_dir():
            shutil.rmtree(self._path)
        else:
            for suffix in ("", *_SIDE_FILES):
                Path(f"{self._path}{suffix}").unlink(missing_ok=True)
        if (path / _DATA).exists():
            self._path.parent.mkdir(parents=True, exist_ok=True)
            _copy(path / _DATA, self._path)


class SqliteSnapshot:
    """A SQLite database that is open in this process, on disk or in memory (a connection of ``sqlite3``)."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def save(self, path: Path) -> None:
        """Copy the database."""
        with closing(sqlite3.connect(path / _DATA)) as copy:
            self._connection.backup(copy)

    def restore(self, path: Path) -> None:
        """Replace the content of the database by the copy."""
        with closing(sqlite3.connect(f"file:{path / _DATA}?mode=ro", uri=True)) as copy:
            copy.backup(self._connection)


class LangGraphStoreSnapshot:
    """A store of LangGraph (``BaseStore``), by its public methods: all items of all namespaces.

    Times of items are not put back: a store sets them itself.
    """

    def __init__(self, store: Any) -> None:
        self._store = store

    def save(self, path: Path) -> None:
        """Write all items as JSON lines."""
        items = [[list(item.namespace), item.key, item.value] for item in self._items()]
        (path / _DATA).write_bytes(b"".join(to_json(item) + b"\n" for item in items))

    def restore(self, path: Path) -> None:
        """Delete all items, and put the saved items."""
        for item in self._items():
            self._store.delete(item.namespace, item.key)
        for line in (path / _DATA).read_bytes().splitlines():
            namespace, key, value = from_json(line)
            self._store.put(tuple(namespace), key, value)

    def _items(self) -> list[Any]:
        found: list[Any] = []
        for namespace in self._pages(lambda offset: self._store.list_namespaces(limit=_AT_ONCE, offset=offset)):
            # A search also finds items of longer namespaces, which come with their own search.
            items = self._pages(lambda offset, n=namespace: self._store.search(n, limit=_AT_ONCE, offset=offset))
            found += [item for item in items if tuple(item.namespace) == tuple(namespace)]
        return found

    @staticmethod
    def _pages(read: Any) -> list[Any]:
        found: list[Any] = []
        while True:
            page = read(len(found))
            found += page
            if len(page) < _AT_ONCE:
                return found


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        target.mkdir(parents=True)
        for item in sorted(source.iterdir()):
            if item.name not in _LOCKS and not (item.name.endswith(_SIDE_FILES) and _is_side_file(item)):
                _copy(item, target / item.name)
    elif _is_sqlite(source):
        with closing(sqlite3.connect(source)) as held, closing(sqlite3.connect(target)) as copy:
            held.backup(copy)
    else:
        shutil.copy2(source, target)


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _is_side_file(path: Path) -> bool:
    """Whether a file belongs to a SQLite file beside it; the copy of the SQLite file contains its data."""
    for suffix in _SIDE_FILES:
        if path.name.endswith(suffix):
            owner = path.with_name(path.name.removesuffix(suffix))
            return owner.exists() and _is_sqlite(owner)
    return False
