"""Assigns and looks up the integer keys of a batch: keys of new elements, of referenced elements, and of texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import repeat
from typing import Any

import apsw
import msgspec

from schema.errors import InputError
from schema.times import to_microseconds
from store.contract.answers import Label, WriteResult
from store.shared.columns import DECLARED, Codec, Column
from store.shared.conflicts import check
from store.shared.references import place_of
from store.sqlite.context import text_hash
from store.sqlite.queries import Table, sql
from store.sqlite.rows import RowReader

_COUNTED = (Label.TRACE, Table.TEXT, Table.PACK, Table.VALUE, *(label for label in Label if label is not Label.TRACE))
"""The tables whose last keys the text ``next.keys`` selects, in the order of its columns."""


class Keys:
    """Assigns and looks up keys of elements and texts of one trace, inside one transaction of the caller.

    Attributes:
        trace_k: the trace's key; a new key if the trace is not stored.
        is_new_trace: whether the trace is not stored.
        texts: key by text, for texts passed to ``intern``.
        of: key by id for each label, for elements that are new or were looked up.
        result: the counts so far.
    """

    def __init__(self, connection: apsw.Connection, project_id: str, trace_id: str) -> None:
        self.connection = connection
        self.result = WriteResult({}, {})
        self._project_id = project_id
        counters: Sequence[int] = connection.execute(sql("next.keys")).get
        self._next_key: dict[StrEnum, int] = dict(zip(_COUNTED, (last + 1 for last in counters), strict=True))
        stored: int | None = connection.execute(sql("traces.find"), {"id": trace_id, "project": project_id}).get
        self.is_new_trace = stored is None
        self.trace_k = self.take(Label.TRACE, 1) if stored is None else stored
        self.texts: dict[str | None, int | None] = {None: None}
        self.of: dict[Label, dict[str | None, int | None]] = {label: {None: None} for label in Label}
        self.of[Label.TRACE][trace_id] = self.trace_k

    def change(self, name: str, rows: Iterable[Sequence[Any]], about: StrEnum | None = None) -> None:
        """Run a text for each row."""
        self.connection.executemany(sql(name, about), rows)

    def insert(self, table: StrEnum, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows to a table, with the columns of ``store.sqlite.queries``."""
        self.change("tables.insert", rows, table)

    def take(self, table: StrEnum, count: int) -> int:
        """Reserve ``count`` consecutive new keys of a table, and return the first."""
        first = self._next_key[table]
        self._next_key[table] = first + count
        return first

    def count(self, label: Label, created: int, existing: int) -> None:
        """Count new elements, and elements that were stored before."""
        if created:
            self.result.created[label.value] = created
        if existing:
            self.result.existing[label.value] = existing

    def new(self, label: Label, elements: Sequence[Any]) -> list[Any]:
        """Give all elements keys, and return the elements that are not stored, without repetition.

        Raises:
            ConflictError: an id is stored with other content.
        """
        keys = self.of[label]
        fresh: dict[str, Any] = {element.id: element for element in elements}
        if len(fresh) < len(elements):
            check(label, fresh, elements)
        if not self.is_new_trace and fresh:
            stored_keys = self._stored_keys(label, fresh)
            if stored_keys:
                found = RowReader(self.connection, self._project_id).elements(label, list(stored_keys.values()))
                check(label, {element.id: element for element in found.values()}, fresh.values())
                keys.update(stored_keys)
                fresh = {id_: element for id_, element in fresh.items() if id_ not in stored_keys}
                self.count(label, 0, len(stored_keys))
        first = self.take(label, len(fresh))
        keys.update(zip(fresh, range(first, first + len(fresh)), strict=True))
        self.count(label, len(fresh), 0)
        return list(fresh.values())

    def _stored_keys(self, label: Label, ids: Iterable[str]) -> dict[str, int]:
        bindings = {"ids": msgspec.json.encode(list(ids)).decode(), "trace_k": self.trace_k}
        return {key.hex(): k for k, key in self.connection.execute(sql("elements.stored", label), bindings)}

    def resolve(self, label: Label, ids: set[str | None], place: str) -> dict[str | None, int | None]:
        """Keys by id, including all ``ids``, which are of the batch or stored.

        Raises:
            InputError: an id is neither in the batch nor stored.
        """
        keys = self.of[label]
        missing = [id_ for id_ in ids if id_ is not None and id_ not in keys]
        if missing:
            keys.update(self._stored_keys(label, missing))
            for id_ in missing:
                if id_ not in keys:
                    raise InputError("batch", place, f"refers to {label.value.lower()} {id_}, which does not exist")
        return keys

    def intern(self, new: Mapping[Label, Sequence[Any]], others: Iterable[str | None]) -> None:
        """Give a key to each text of the new elements, and to the ``others``."""
        wanted: dict[str | None, None] = dict.fromkeys(others)
        for label, elements in new.items():
            for column in DECLARED[label].of_codec(Codec.TEXT):
                wanted.update(dict.fromkeys(map(column.get, elements)))
        wanted.pop(None, None)
        rows = []
        for text in wanted:
            assert text is not None
            digest = text_hash(text)
            if not self.is_new_trace:
                stored = self.connection.execute(sql("texts.find"), (digest, self.trace_k, text)).get
                if stored is not None:
                    self.texts[text] = stored
                    continue
            k = self.take(Table.TEXT, 1)
            self.texts[text] = k
            rows.append((k, self.trace_k, digest, text))
        self.insert(Table.TEXT, rows)

    def encoded(self, label: Label, elements: Sequence[Any]) -> dict[str, Iterable[Any]]:
        """The stored values of new elements, by column of their table.

        Raises:
            InputError: an element refers to an element that is neither in the batch nor stored.
        """
        keys = self.of[label]
        found: dict[str, Iterable[Any]] = {"k": [keys[element.id] for element in elements]}
        for column in DECLARED[label].columns:
            if column.sql and column.codec is not Codec.VALUE:
                found[column.sql] = self._encoded(column, elements, place_of(label))
        return found

    def _encoded(self, column: Column, elements: Sequence[Any], place: str) -> Iterable[Any]:
        """The stored values of a field."""
        values = map(column.get, elements)
        match column.codec:
            case Codec.ID:
                return map(bytes.fromhex, values)
            case Codec.TRACE:
                return repeat(self.trace_k)
            case Codec.KEY:
                assert column.of is not None
                ids = list(values)
                return map(self.resolve(column.of, set(ids), place).__getitem__, ids)
            case Codec.TEXT:
                return map(self.texts.__getitem__, values)
            case Codec.TIME:
                return map(to_microseconds, values)
            case Codec.LIST:
                return map(as_array, values)
        return values


def as_array(texts: Sequence[str]) -> str:
    """Texts as a JSON array."""
    return msgspec.json.encode(texts).decode()
