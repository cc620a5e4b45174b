"""Writes a batch into SQLite, inside one transaction of the caller.

New rows get their integer keys before the insert, so that references between new rows need no look-up in SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import apsw

from schema.errors import InputError
from schema.models import PREVIEW_CHARACTERS, WHOLE_VALUE_BYTES, Batch, Trace, Variable
from schema.times import to_microseconds
from schema.words import LONGEST_WORD, words
from store.contract.answers import Label, WriteResult
from store.shared.columns import DECLARED
from store.shared.conflicts import check
from store.shared.references import cited, losses, references
from store.sqlite.queries import Table, sql, written_columns
from store.sqlite.row_keys import Keys, as_array
from store.sqlite.rows import RowReader
from store.values.packs import Pack

_WRITTEN = {label: written_columns(declared) for label, declared in DECLARED.items()}


def write_batch(
    connection: apsw.Connection, project_id: str, batch: Batch, packs: Iterable[Pack], values_in_file: bool
) -> WriteResult:
    """Write the new elements and the changes of a batch.

    Args:
        connection: inside a transaction.
        project_id: the project of the batch.
        batch: the elements and changes.
        packs: the long values, if they are stored in the file.
        values_in_file: whether long values are stored in packs of the file.

    Raises:
        ConflictError: an id is stored with other content.
        InputError: the batch refers to an element that is neither in the batch nor stored.
    """
    return _BatchWriter(connection, project_id, batch, values_in_file).write(packs)


class _BatchWriter:
    def __init__(self, connection: apsw.Connection, project_id: str, batch: Batch, values_in_file: bool) -> None:
        self.project_id = project_id
        self.batch = batch
        self.keys = Keys(connection, project_id, batch.trace.id)
        self.values = ValueRows(self.keys, values_in_file)
        self.trace_k = self.keys.trace_k
        self.texts = self.keys.texts

    def write(self, packs: Iterable[Pack]) -> WriteResult:
        batch = self.batch
        self._write_trace()
        new: dict[Label, Sequence[Any]] = {
            Label.SESSION: self.keys.new(Label.SESSION, batch.sessions),
            Label.OPERATION: self.keys.new(Label.OPERATION, batch.operations),
            Label.VARIABLE: self.keys.new(Label.VARIABLE, batch.variables),
            Label.DERIVATION: self.keys.new(Label.DERIVATION, batch.derivations),
        }
        self.keys.intern(new, _other_texts(batch))
        self._insert(Label.SESSION, new[Label.SESSION])
        self._insert(Label.OPERATION, new[Label.OPERATION])
        self._write_variables(new[Label.VARIABLE], packs)
        self._insert(Label.DERIVATION, new[Label.DERIVATION])
        self._write_links()
        self._write_endings()
        self._write_placings()
        self._write_completions()
        self._write_failures()
        self._write_right_answers()
        self._write_attributions()
        return self.keys.result

    def _insert(self, label: Label, elements: Sequence[Any]) -> None:
        self.keys.insert(label, _rows(label, self.keys.encoded(label, elements)))

    def _write_trace(self) -> None:
        trace, keys = self.batch.trace, self.keys
        if keys.is_new_trace:
            keys.change("traces.insert", _rows(Label.TRACE, keys.encoded(Label.TRACE, [trace])), Label.TRACE)
        else:
            stored = RowReader(keys.connection, self.project_id).read(Trace, [self.trace_k])
            check(Label.TRACE, {trace.id: stored[self.trace_k]}, [trace])
            keys.change("traces.update", [(trace.attributes, trace.name, self.trace_k)])
        keys.count(Label.TRACE, int(keys.is_new_trace), int(not keys.is_new_trace))

    def _write_variables(self, variables: Sequence[Any], packs: Iterable[Pack]) -> None:
        columns = self.keys.encoded(Label.VARIABLE, variables)
        value = self.values.write(variables, packs)
        columns["value_k"] = [value[v.value_hash, v.media_type] for v in variables]
        self.keys.insert(Label.VARIABLE, _rows(Label.VARIABLE, columns))
        key = self.keys.of[Label.VARIABLE]
        self.keys.insert(Table.WORDS, ((key[v.id], _index_text(v)) for v in variables if v.occurrence == 0))

    def _write_links(self) -> None:
        usages, invalidations = self.batch.usages, self.batch.invalidations
        ended: set[str | None] = {i.variable_id for i in invalidations}
        used: set[str | None] = {u.variable_id for u in usages}
        variable = self.keys.resolve(Label.VARIABLE, used | ended, "usages")
        enders: set[str | None] = {i.operation_id for i in invalidations}
        users: set[str | None] = {u.operation_id for u in usages}
        operation = self.keys.resolve(Label.OPERATION, users | enders, "usages")
        self.keys.change(
            "tables.insert_new",
            ((operation[u.operation_id], u.position, variable[u.variable_id], u.role, u.score) for u in usages),
            Table.USAGE,
        )
        self.keys.change(
            "tables.insert_new",
            ((variable[i.variable_id], operation[i.operation_id]) for i in invalidations),
            Table.INVALIDATION,
        )

    def _write_endings(self) -> None:
        endings = self.batch.endings
        operation = self.keys.resolve(Label.OPERATION, {e.operation_id for e in endings}, "endings")
        self.keys.change(
            "operations.end",
            (
                (
                    e.status,
                    to_microseconds(e.ended_at),
                    self.texts[e.attributes],
                    operation[e.operation_id],
                    self.trace_k,
                )
                for e in endings
            ),
        )

    def _write_placings(self) -> None:
        placings = self.batch.placings
        variable = self.keys.resolve(Label.VARIABLE, {p.variable_id for p in placings}, "placings")
        self.keys.change("variables.place", ((p.sequence, variable[p.variable_id], self.trace_k) for p in placings))

    def _write_completions(self) -> None:
        completions = self.batch.completions
        of = {
            label: self.keys.resolve(label, ids, "completions")
            for place, label, ids in references(self.batch)
            if place == "completions"
        }
        self.keys.change(
            "variables.complete",
            (
                (
                    of[Label.SESSION][c.session_id],
                    c.version,
                    self.texts[c.category],
                    to_microseconds(c.created_at),
                    self.texts[c.location],
                    self.texts[c.attributes],
                    of[Label.OPERATION][c.operation_id],
                    of[Label.VARIABLE][c.revision_of],
                    of[Label.VARIABLE][c.variable_id],
                    self.trace_k,
                )
                for c in completions
            ),
        )

    def _write_failures(self) -> None:
        new = self.keys.new(Label.FAILURE, self.batch.failures)
        self._insert(Label.FAILURE, new)
        answer = self.keys.of[Label.VARIABLE]
        self.keys.change(
            "variables.judge_wrong", ((answer[f.answer_id], self.trace_k) for f in new if f.answer_id is not None)
        )
        fresh = {f.id for f in new}
        self.keys.change(
            "failures.update",
            (
                (
                    f.origin,
                    as_array(f.evidence_ids),
                    as_array(f.gold_answers),
                    f.attributes,
                    bytes.fromhex(f.id),
                    self.trace_k,
                )
                for f in self.batch.failures
                if f.id not in fresh
            ),
        )

    def _write_right_answers(self) -> None:
        right = self.batch.right_answers
        answer = self.keys.resolve(Label.VARIABLE, set(right), "rightAnswers")
        self.keys.change("variables.judge_right", ((answer[id_], self.trace_k) for id_ in right))

    def _write_attributions(self) -> None:
        attributions = {a.id: a for a in self.batch.attributions}
        self.keys.new(Label.ATTRIBUTION, list(attributions.values()))
        columns = self.keys.encoded(Label.ATTRIBUTION, list(attributions.values()))
        lost: set[str | None] = {one["operationId"] for a in attributions.values() for one in losses(a)}
        self.keys.resolve(Label.OPERATION, lost, "attributions")
        self.keys.resolve(Label.VARIABLE, set(chain.from_iterable(map(cited, attributions.values()))), "attributions")
        self.keys.change("attributions.delete_from_trace", ((bytes.fromhex(id_), self.trace_k) for id_ in attributions))
        self.keys.insert(Label.ATTRIBUTION, _rows(Label.ATTRIBUTION, columns))


def _rows(label: Label, columns: Mapping[str, Iterable[Any]]) -> Iterable[tuple[Any, ...]]:
    """The rows to insert, from their columns."""
    # Not strict: a column with one value for all rows is an endless iterator.
    return zip(*(columns[name] for name in _WRITTEN[label]), strict=False)


def _other_texts(batch: Batch) -> Iterator[str | None]:
    """The texts in changes of stored elements."""
    for ending in batch.endings:
        yield ending.attributes
    for completion in batch.completions:
        yield from (completion.category, completion.location, completion.attributes)


def _index_text(variable: Variable) -> str:
    """The text of a variable for full-text search. The tokenizer splits plain ASCII itself, with the same result."""
    text = f"{variable.name} {variable.comment or ''} {variable.preview}"
    if text.isascii() and max(map(len, text.split()), default=0) <= LONGEST_WORD:
        return text
    return " ".join(words(text))


class ValueRows:
    """Writes values, and the packs with the long values."""

    def __init__(self, keys: Keys, values_in_file: bool) -> None:
        """Remember where to write.

        Args:
            keys: the keys of the trace.
            values_in_file: whether long values are stored in packs of the file.
        """
        self._keys = keys
        self._values_in_file = values_in_file
        self._places: dict[str, tuple[int, int]] = {}

    def write(self, variables: Sequence[Variable], packs: Iterable[Pack]) -> dict[tuple[str, str], int]:
        """Write the new values, and return the keys of all values, by hash and media type."""
        keys: dict[tuple[str, str], int] = {}
        new: dict[tuple[str, str], Variable] = {}
        for v in variables:
            address = (v.value_hash, v.media_type)
            if address in keys or address in new:
                continue
            stored = None
            if not self._keys.is_new_trace:
                bindings = (self._keys.trace_k, _digest(v.value_hash), v.media_type)
                stored = self._keys.connection.execute(sql("values.find"), bindings).get
            if stored is None:
                new[address] = v
            else:
                keys[address] = stored
        if self._values_in_file:
            large = {v.value_hash for v in new.values() if v.size > WHOLE_VALUE_BYTES}
            self._write_packs(packs, large - self._find_places(large))
        rows = []
        for address, v in new.items():
            k = keys[address] = self._keys.take(Table.VALUE, 1)
            place: tuple[int, int] | tuple[None, None] = (None, None)
            if self._values_in_file and v.size > WHOLE_VALUE_BYTES:
                place = self._place(v)
            text = v.value if v.value is not None else v.preview[:PREVIEW_CHARACTERS]
            rows.append((k, self._keys.trace_k, _digest(v.value_hash), v.size, v.media_type, text, *place))
        self._keys.insert(Table.VALUE, rows)
        return keys

    def _find_places(self, hashes: set[str]) -> set[str]:
        """The hashes of values that are stored under another media type; their places are remembered."""
        for value_hash in [] if self._keys.is_new_trace else hashes:
            place = self._keys.connection.execute(
                sql("values.find_place"), (self._keys.trace_k, _digest(value_hash))
            ).get
            if place is not None:
                self._places[value_hash] = place
        return hashes & self._places.keys()

    def _place(self, variable: Variable) -> tuple[int, int]:
        place = self._places.get(variable.value_hash)
        if place is None:
            problem = f"value {variable.value_hash} of {variable.external_id!r} is neither with the batch nor stored"
            raise InputError("batch", "variables", problem)
        return place

    def _write_packs(self, packs: Iterable[Pack], needed: set[str]) -> None:
        """Write the packs that contain a needed value."""
        for pack in packs:
            if needed.isdisjoint(entry.value_hash for entry in pack.entries):
                continue
            k = self._keys.take(Table.PACK, 1)
            self._keys.insert(Table.PACK, [(k, bytes.fromhex(pack.id), self._keys.trace_k, pack.raw_size, pack.data)])
            for entry in pack.entries:
                self._places[entry.value_hash] = (k, entry.offset)


def _digest(value_hash: str) -> bytes:
    return bytes.fromhex(value_hash.partition(":")[2])
