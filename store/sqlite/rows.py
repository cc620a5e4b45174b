"""Reads rows of SQLite as domain models.

Rows hold integer keys of texts and of other rows. A ``RowReader`` looks up each key once, which is cheaper than a join
for each column, because most texts repeat. A column is converted as a whole, as ``store.shared.columns`` declares, so
that no Python code runs for a single value.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from operator import itemgetter
from typing import Any, TypeVar, cast

import apsw
import msgspec

from schema.damage import reading_stored
from schema.ids import VALUE_HASH_PREFIX
from schema.models import PREVIEW_CHARACTERS, WHOLE_VALUE_BYTES, Element
from schema.times import Times
from store.contract.answers import Label
from store.shared.columns import DECLARED, Codec, Column, Declaration
from store.sqlite.queries import read_columns, sql

E = TypeVar("E", bound=Element)

_READ = {label: read_columns(declared) for label, declared in DECLARED.items()}
_NAMED = {column.of for declared in DECLARED.values() for column in declared.of_codec(Codec.KEY)} | {Label.TRACE}
"""Labels of elements that other elements refer to by key."""

_PREVIEW = itemgetter(slice(PREVIEW_CHARACTERS))
_FLAGS = {None: None, 0: False, 1: True}
_LISTS = msgspec.json.Decoder(tuple[str, ...])

Columns = Mapping[str, Sequence[Any]]
"""The values of all rows, by column name (see ``read_columns``)."""


def bind_keys(keys: Iterable[int]) -> Any:
    """Keys as a parameter of the table-valued function ``carray``."""
    # An empty array has no address for SQLite to read; no row has the key 0.
    return apsw.carray(array("q", keys) or array("q", [0]))


class RowReader:
    """Reads elements of one project by key, inside one transaction."""

    def __init__(self, connection: apsw.Connection, project_id: str) -> None:
        self._connection = connection
        self._project_id = project_id
        self._texts: dict[int | None, Any] = {None: None}
        self._ids: dict[Label, dict[int | None, Any]] = {label: {None: None} for label in Label}
        self._times = Times()
        self._derived_by: set[int] = set()

    def read(self, model: type[E], keys: Sequence[int]) -> dict[int, E]:
        """Elements of a model, by key."""
        return cast("dict[int, E]", self.elements(Label(model.__name__), keys))

    def elements(self, label: Label, keys: Sequence[int]) -> dict[int, Element]:
        """Elements of a label, by key."""
        if label is Label.TRACE:
            return self._elements("traces.rows", label, keys)
        name = "elements.rows_with_value" if DECLARED[label].of_codec(Codec.VALUE) else "elements.rows"
        return self._elements(name, label, keys)

    def derivations_into(self, keys: Sequence[int]) -> dict[int, Any]:
        """The derivations whose targets have these keys, by the derivation's key."""
        return self._elements("elements.rows_by_target", Label.DERIVATION, keys)

    def variable_ids(self, keys: Iterable[int]) -> list[str]:
        """The ids of variables, in the order of the keys."""
        wanted = list(keys)
        ids = self._look_up_ids(Label.VARIABLE, wanted)
        return [ids[key] for key in wanted]

    def operations_of_derivations(self) -> list[int]:
        """The keys of the operations of all derivations read so far."""
        return sorted(self._derived_by)

    def _elements(self, name: str, label: Label, keys: Sequence[int]) -> dict[int, Any]:
        if not keys:
            return {}
        bindings = {"keys": bind_keys(keys), "project": self._project_id}
        rows = self._connection.execute(sql(name, label), bindings).fetchall()
        if not rows:
            return {}
        with reading_stored(f"rows of {label.value}"):
            return self._read(label, rows)

    def _read(self, label: Label, rows: Sequence[Sequence[Any]]) -> dict[int, Any]:
        declared = DECLARED[label]
        read: Columns = dict(zip(_READ[label], zip(*rows, strict=True), strict=True))
        ids = list(map(bytes.hex, read["x.id"]))
        if label in _NAMED:
            self._ids[label].update(zip(read["x.k"], ids, strict=True))
        if label is Label.DERIVATION:
            self._derived_by.update(read["x.operation_k"])
        self._look_up_texts(declared, read)
        values = [ids if column.codec is Codec.ID else self._decoded(column, read) for column in declared.columns]
        return dict(zip(read["x.k"], declared.make(values), strict=True))

    def _decoded(self, column: Column, read: Columns) -> Iterable[Any]:
        """The values of a field in the model."""
        if column.codec is Codec.PROJECT:
            return repeat(self._project_id)
        if column.codec is Codec.VALUE:
            return _of_value(column, read)
        found = read[f"x.{column.sql}"]
        match column.codec:
            case Codec.TRACE:
                return map(self._look_up_ids(Label.TRACE, found).__getitem__, found)
            case Codec.KEY:
                assert column.of is not None
                return map(self._look_up_ids(column.of, found).__getitem__, found)
            case Codec.TEXT:
                return map(self._texts.__getitem__, found)
            case Codec.WORD:
                return map(column.word_of.__getitem__, found)
            case Codec.TIME:
                return map(self._times.__getitem__, found)
            case Codec.FLAG:
                return map(_FLAGS.__getitem__, found)
            case Codec.LIST:
                return map(_LISTS.decode, found)
        return found

    def _look_up_texts(self, declared: Declaration, read: Columns) -> None:
        columns = [read[f"x.{column.sql}"] for column in declared.of_codec(Codec.TEXT)]
        missing: set[int] = set().union(*columns).difference(self._texts)
        if missing:
            found = self._connection.execute(sql("texts.rows"), {"keys": bind_keys(sorted(missing))})
            self._texts.update(cast("Iterable[tuple[int, str]]", found))

    def _look_up_ids(self, label: Label, keys: Iterable[int | None]) -> dict[int | None, Any]:
        ids = self._ids[label]
        missing = [key for key in set(keys).difference(ids) if key is not None]
        if missing:
            rows = self._connection.execute(sql("elements.ids", label), {"keys": bind_keys(sorted(missing))})
            ids.update((key, value.hex()) for key, value in rows)
        return ids


def _of_value(column: Column, read: Columns) -> Iterable[Any]:
    """The values of a field from the table ``value``; column ``text`` has a short value, or a long value's start."""
    found = read[f"value.{column.sql}"]
    match column.name:
        case "preview":
            return map(_PREVIEW, found)
        case "value":
            sizes = zip(found, read["value.size"], strict=True)
            return [text if size <= WHOLE_VALUE_BYTES else None for text, size in sizes]
        case "value_hash":
            return map(VALUE_HASH_PREFIX.__add__, map(bytes.hex, found))
    return found
