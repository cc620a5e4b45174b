"""Integer keys of what a batch writes or refers to, and of its texts, inside one transaction of the caller."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

import apsw
import msgspec

from schema.errors import InputError
from schema.texts import sql
from store.answers import Label, WriteResult
from store.conflicts import check
from store.sqlite.context import text_hash
from store.sqlite.rows import RowReader

_TABLES = (
    "trace",
    "text",
    "pack",
    "value",
    "session",
    "operation",
    "variable",
    "derivation",
    "failure",
    "attribution",
)


class Keys:
    """What the elements of one trace are known by in the file.

    Attributes:
        trace_k: the trace's key; a new one where it is not stored.
        is_new_trace: whether it is not stored.
        texts: key by text, of the texts that were interned.
        of: key by id, by label, of what is new or was looked up.
        result: what was counted so far.
    """

    def __init__(self, connection: apsw.Connection, project_id: str, trace_id: str) -> None:
        self.connection = connection
        self.result = WriteResult({}, {})
        self._project_id = project_id
        counters: Sequence[int] = connection.execute(sql("next_keys")).get
        self._next_key = dict(zip(_TABLES, (last + 1 for last in counters), strict=True))
        stored: int | None = connection.execute(sql("find_trace"), {"id": trace_id, "project": project_id}).get
        self.is_new_trace = stored is None
        self.trace_k = self.take("trace", 1) if stored is None else stored
        self.texts: dict[str | None, int | None] = {None: None}
        self.of: dict[Label, dict[str | None, int | None]] = {label: {None: None} for label in Label}

    def insert(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a text for each row."""
        self.connection.executemany(sql(name), rows)

    def take(self, table: str, count: int) -> int:
        """The first of some new keys of a table, which follow each other."""
        first = self._next_key[table]
        self._next_key[table] = first + count
        return first

    def count(self, label: Label, created: int, existing: int) -> None:
        """Count what was new and what was there."""
        if created:
            self.result.created[label.value] = created
        if existing:
            self.result.existing[label.value] = existing

    def new(self, label: Label, elements: Sequence[Any]) -> list[Any]:
        """The elements that are not stored yet, once each, with keys for all; what is stored must be equal."""
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
        first = self.take(label.value.lower(), len(fresh))
        keys.update(zip(fresh, range(first, first + len(fresh)), strict=True))
        self.count(label, len(fresh), 0)
        return list(fresh.values())

    def _stored_keys(self, label: Label, ids: Iterable[str]) -> dict[str, int]:
        bindings = {"ids": msgspec.json.encode(list(ids)).decode(), "trace_k": self.trace_k}
        return {key.hex(): k for k, key in self.connection.execute(sql(f"stored_{label.value.lower()}"), bindings)}

    def resolve(self, label: Label, ids: set[str | None], place: str) -> dict[str | None, int | None]:
        """Keys of what is referred to, in the batch or stored."""
        keys = self.of[label]
        missing = [id_ for id_ in ids if id_ is not None and id_ not in keys]
        if missing:
            keys.update(self._stored_keys(label, missing))
            for id_ in missing:
                if id_ not in keys:
                    raise InputError("batch", place, f"refers to {label.value.lower()} {id_}, which does not exist")
        return keys

    def intern(
        self,
        sessions: Sequence[Any],
        operations: Sequence[Any],
        variables: Sequence[Any],
        derivations: Sequence[Any],
        endings: Sequence[Any],
    ) -> None:
        """Give each distinct text of the new elements a key."""
        shared = ("category", "comment", "attributes")
        wanted: dict[str | None, None] = {}
        for elements, names in (
            (sessions, ("external_id", "name", *shared)),
            (operations, ("external_id", "name", "location", *shared)),
            (variables, ("external_id", "name", "class_name", "location", *shared)),
            (derivations, ("location", *shared)),
            (endings, ("attributes",)),
        ):
            for name in names:
                wanted.update(dict.fromkeys(map(attrgetter(name), elements)))
        wanted.pop(None, None)
        rows = []
        for text in wanted:
            assert text is not None
            digest = text_hash(text)
            if not self.is_new_trace:
                stored = self.connection.execute(sql("find_text"), (digest, self.trace_k, text)).get
                if stored is not None:
                    self.texts[text] = stored
                    continue
            k = self.take("text", 1)
            self.texts[text] = k
            rows.append((k, self.trace_k, digest, text))
        self.insert("insert_text", rows)
