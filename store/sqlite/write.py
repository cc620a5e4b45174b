"""Writing a batch into SQLite, inside one transaction of the caller.

New rows get their integer keys here, so that they are inserted with finished references: no look-up in SQL a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

import apsw
import msgspec

from schema.errors import InputError
from schema.models import PREVIEW_CHARACTERS, WHOLE_VALUE_BYTES, Batch, Trace, Variable
from schema.texts import sql
from schema.words import LONGEST_WORD, words
from store.answers import Label, WriteResult
from store.conflicts import check
from store.packs import Pack
from store.references import cited
from store.sqlite.context import text_hash
from store.sqlite.rows import RowReader
from store.times import to_microseconds

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


def write_batch(
    connection: apsw.Connection, project_id: str, batch: Batch, packs: Iterable[Pack], values_in_file: bool
) -> WriteResult:
    """Write what is new of a batch.

    Args:
        connection: inside a transaction.
        project_id: what the batch is bound to.
        batch: what to write.
        packs: values that are kept in the file.
        values_in_file: whether a value that is not on its variable whole must be in the file.

    Raises:
        ConflictError: an id is stored with other content.
        InputError: the batch refers to what is neither in it nor stored.
    """
    return _BatchWriter(connection, project_id, batch, values_in_file).write(packs)


class _BatchWriter:
    def __init__(self, connection: apsw.Connection, project_id: str, batch: Batch, values_in_file: bool) -> None:
        self.connection = connection
        self.project_id = project_id
        self.batch = batch
        self.values_in_file = values_in_file
        self.result = WriteResult({}, {})
        counters: Sequence[int] = connection.execute(sql("next_keys")).get
        self.next_key = dict(zip(_TABLES, (last + 1 for last in counters), strict=True))
        stored: int | None = connection.execute(sql("find_trace"), {"id": batch.trace.id, "project": project_id}).get
        self.is_new_trace = stored is None
        self.trace_k = self._take("trace", 1) if stored is None else stored
        self.texts: dict[str | None, int | None] = {None: None}
        self.keys: dict[Label, dict[str | None, int | None]] = {label: {None: None} for label in Label}
        self.pack_places: dict[str, tuple[int, int]] = {}

    def write(self, packs: Iterable[Pack]) -> WriteResult:
        batch = self.batch
        self._write_trace()
        sessions: Sequence[Any] = self._new(Label.SESSION, batch.sessions)
        operations: Sequence[Any] = self._new(Label.OPERATION, batch.operations)
        variables: Sequence[Any] = self._new(Label.VARIABLE, batch.variables)
        derivations: Sequence[Any] = self._new(Label.DERIVATION, batch.derivations)
        self._intern(sessions, operations, variables, derivations, batch.endings)
        self._write_sessions(sessions)
        self._write_operations(operations)
        self._write_variables(variables, packs)
        self._write_derivations(derivations)
        self._write_links()
        self._write_endings()
        self._write_failures()
        self._write_attributions()
        return self.result

    def _insert(self, name: str, rows: Iterable[Sequence[Any]]) -> None:
        self.connection.executemany(sql(name), rows)

    def _take(self, table: str, count: int) -> int:
        first = self.next_key[table]
        self.next_key[table] = first + count
        return first

    def _write_trace(self) -> None:
        trace = self.batch.trace
        if self.is_new_trace:
            created_at = to_microseconds(trace.created_at)
            row = (self.trace_k, bytes.fromhex(trace.id), self.project_id, trace.external_id, trace.name, trace.source)
            self._insert("insert_trace", [(*row, created_at, trace.attributes)])
        else:
            stored: dict[int, Trace] = RowReader(self.connection, self.project_id).traces([self.trace_k])
            check(Label.TRACE, {trace.id: stored[self.trace_k]}, [trace])
            self._insert("update_trace", [(trace.attributes, self.trace_k)])
        self._count(Label.TRACE, int(self.is_new_trace), int(not self.is_new_trace))

    def _count(self, label: Label, created: int, existing: int) -> None:
        if created:
            self.result.created[label.value] = created
        if existing:
            self.result.existing[label.value] = existing

    def _new(self, label: Label, elements: Sequence[Any]) -> list[Any]:
        """The elements that are not stored yet, once each, with keys for all; what is stored must be equal."""
        keys = self.keys[label]
        fresh: dict[str, Any] = {element.id: element for element in elements}
        if len(fresh) < len(elements):
            check(label, fresh, elements)
        if not self.is_new_trace and fresh:
            stored_keys = self._stored_keys(label, fresh)
            if stored_keys:
                found = RowReader(self.connection, self.project_id).elements(label, list(stored_keys.values()))
                check(label, {element.id: element for element in found.values()}, fresh.values())
                keys.update(stored_keys)
                fresh = {id_: element for id_, element in fresh.items() if id_ not in stored_keys}
                self._count(label, 0, len(stored_keys))
        first = self._take(label.value.lower(), len(fresh))
        keys.update(zip(fresh, range(first, first + len(fresh)), strict=True))
        self._count(label, len(fresh), 0)
        return list(fresh.values())

    def _stored_keys(self, label: Label, ids: Iterable[str]) -> dict[str, int]:
        bindings = {"ids": msgspec.json.encode(list(ids)).decode(), "trace_k": self.trace_k}
        return {key.hex(): k for k, key in self.connection.execute(sql(f"stored_{label.value.lower()}"), bindings)}

    def _resolve(self, label: Label, ids: set[str | None], place: str) -> dict[str | None, int | None]:
        """Keys of what is referred to, in the batch or stored."""
        keys = self.keys[label]
        missing = [id_ for id_ in ids if id_ is not None and id_ not in keys]
        if missing:
            keys.update(self._stored_keys(label, missing))
            for id_ in missing:
                if id_ not in keys:
                    raise InputError("batch", place, f"refers to {label.value.lower()} {id_}, which does not exist")
        return keys

    def _write_packs(self, packs: Iterable[Pack], needed: set[str]) -> None:
        """Write the packs that hold a value that is needed and not stored yet."""
        for pack in packs:
            if needed.isdisjoint(entry.value_hash for entry in pack.entries):
                continue
            k = self._take("pack", 1)
            self._insert("insert_pack", [(k, bytes.fromhex(pack.id), self.trace_k, pack.raw_size, pack.data)])
            for entry in pack.entries:
                self.pack_places[entry.value_hash] = (k, entry.offset)

    def _intern(
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
            k = self._take("text", 1)
            self.texts[text] = k
            rows.append((k, self.trace_k, digest, text))
        self._insert("insert_text", rows)

    def _write_sessions(self, sessions: Sequence[Any]) -> None:
        text, key = self.texts, self.keys[Label.SESSION]
        self._insert(
            "insert_session",
            (
                (
                    key[s.id],
                    bytes.fromhex(s.id),
                    self.trace_k,
                    text[s.external_id],
                    text[s.name],
                    text[s.category],
                    text[s.comment],
                    s.sequence,
                    to_microseconds(s.created_at),
                    text[s.attributes],
                )
                for s in sessions
            ),
        )

    def _write_operations(self, operations: Sequence[Any]) -> None:
        text, key = self.texts, self.keys[Label.OPERATION]
        session = self._resolve(Label.SESSION, {o.session_id for o in operations}, "operations")
        self._insert(
            "insert_operation",
            (
                (
                    key[o.id],
                    bytes.fromhex(o.id),
                    self.trace_k,
                    session[o.session_id],
                    text[o.external_id],
                    text[o.name],
                    o.kind,
                    text[o.category],
                    text[o.comment],
                    o.status,
                    o.sequence,
                    to_microseconds(o.started_at),
                    to_microseconds(o.ended_at),
                    text[o.location],
                    text[o.attributes],
                )
                for o in operations
            ),
        )

    def _write_variables(self, variables: Sequence[Any], packs: Iterable[Pack]) -> None:
        text, key, trace_k = self.texts, self.keys[Label.VARIABLE], self.trace_k
        session = self._resolve(Label.SESSION, {v.session_id for v in variables}, "variables")
        operation = self._resolve(Label.OPERATION, {v.operation_id for v in variables}, "variables")
        revision = self._resolve(Label.VARIABLE, {v.revision_of for v in variables}, "variables")
        value = self._write_values(variables, packs)
        self._insert(
            "insert_variable",
            (
                (
                    key[v.id],
                    bytes.fromhex(v.id),
                    trace_k,
                    session[v.session_id],
                    operation[v.operation_id],
                    revision[v.revision_of],
                    text[v.external_id],
                    text[v.name],
                    text[v.class_name],
                    v.version,
                    v.occurrence,
                    v.kind,
                    text[v.category],
                    text[v.comment],
                    value[v.value_hash, v.media_type],
                    v.sequence,
                    to_microseconds(v.created_at),
                    text[v.location],
                    text[v.attributes],
                )
                for v in variables
            ),
        )
        self._insert("insert_words", ((key[v.id], _index_text(v)) for v in variables if v.occurrence == 0))

    def _write_values(self, variables: Sequence[Variable], packs: Iterable[Pack]) -> dict[tuple[str, str], int]:
        """Keys of the values, by hash and media type."""
        keys: dict[tuple[str, str], int] = {}
        new: dict[tuple[str, str], Variable] = {}
        for v in variables:
            address = (v.value_hash, v.media_type)
            if address in keys or address in new:
                continue
            stored = None
            if not self.is_new_trace:
                bindings = (self.trace_k, _digest(v.value_hash), v.media_type)
                stored = self.connection.execute(sql("find_value"), bindings).get
            if stored is None:
                new[address] = v
            else:
                keys[address] = stored
        if self.values_in_file:
            large = {v.value_hash for v in new.values() if v.size > WHOLE_VALUE_BYTES}
            self._write_packs(packs, large - self._find_places(large))
        rows = []
        for address, v in new.items():
            k = keys[address] = self._take("value", 1)
            place: tuple[int, int] | tuple[None, None] = (None, None)
            if self.values_in_file and v.size > WHOLE_VALUE_BYTES:
                place = self._place(v)
            text = v.value if v.value is not None else v.preview[:PREVIEW_CHARACTERS]
            rows.append((k, self.trace_k, _digest(v.value_hash), v.size, v.media_type, text, *place))
        self._insert("insert_value", rows)
        return keys

    def _find_places(self, hashes: set[str]) -> set[str]:
        """Those of some values that are stored, under another media type; their places are noted."""
        for value_hash in [] if self.is_new_trace else hashes:
            place = self.connection.execute(sql("find_value_place"), (self.trace_k, _digest(value_hash))).get
            if place is not None:
                self.pack_places[value_hash] = place
        return hashes & self.pack_places.keys()

    def _place(self, variable: Variable) -> tuple[int, int]:
        place = self.pack_places.get(variable.value_hash)
        if place is None:
            problem = f"value {variable.value_hash} of {variable.external_id!r} is neither with the batch nor stored"
            raise InputError("batch", "variables", problem)
        return place

    def _write_derivations(self, derivations: Sequence[Any]) -> None:
        text, key, trace_k = self.texts, self.keys[Label.DERIVATION], self.trace_k
        variable = self._resolve(
            Label.VARIABLE, {d.source for d in derivations} | {d.target for d in derivations}, "derivations"
        )
        operation = self._resolve(Label.OPERATION, {d.operation_id for d in derivations}, "derivations")
        self._insert(
            "insert_derivation",
            (
                (
                    key[d.id],
                    bytes.fromhex(d.id),
                    trace_k,
                    variable[d.source],
                    variable[d.target],
                    operation[d.operation_id],
                    d.external_id,
                    d.kind,
                    text[d.category],
                    text[d.comment],
                    d.sequence,
                    to_microseconds(d.created_at),
                    text[d.location],
                    text[d.attributes],
                )
                for d in derivations
            ),
        )

    def _write_links(self) -> None:
        usages, invalidations = self.batch.usages, self.batch.invalidations
        ended: set[str | None] = {i.variable_id for i in invalidations}
        used: set[str | None] = {u.variable_id for u in usages}
        variable = self._resolve(Label.VARIABLE, used | ended, "usages")
        enders: set[str | None] = {i.operation_id for i in invalidations}
        users: set[str | None] = {u.operation_id for u in usages}
        operation = self._resolve(Label.OPERATION, users | enders, "usages")
        self._insert(
            "insert_usage",
            ((operation[u.operation_id], u.position, variable[u.variable_id], u.role) for u in usages),
        )
        self._insert(
            "insert_invalidation", ((variable[i.variable_id], operation[i.operation_id]) for i in invalidations)
        )

    def _write_endings(self) -> None:
        endings = self.batch.endings
        operation = self._resolve(Label.OPERATION, {e.operation_id for e in endings}, "endings")
        self._insert(
            "end_operation",
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

    def _write_failures(self) -> None:
        new = self._new(Label.FAILURE, self.batch.failures)
        key = self.keys[Label.FAILURE]
        variable = self._resolve(
            Label.VARIABLE, {id_ for f in new for id_ in (f.question_id, f.answer_id, f.expected_id)}, "failures"
        )
        fresh = {f.id for f in new}
        self._insert(
            "insert_failure",
            (
                (
                    key[f.id],
                    bytes.fromhex(f.id),
                    self.trace_k,
                    f.origin.value,
                    variable[f.question_id],
                    variable[f.answer_id],
                    variable[f.expected_id],
                    msgspec.json.encode(f.evidence_ids).decode(),
                    f.question,
                    f.prediction,
                    msgspec.json.encode(f.gold_answers).decode(),
                    to_microseconds(f.created_at),
                    f.attributes,
                )
                for f in new
            ),
        )
        self._insert(
            "update_failure",
            (
                (
                    f.origin.value,
                    msgspec.json.encode(f.evidence_ids).decode(),
                    msgspec.json.encode(f.gold_answers).decode(),
                    f.attributes,
                    bytes.fromhex(f.id),
                    self.trace_k,
                )
                for f in self.batch.failures
                if f.id not in fresh
            ),
        )

    def _write_attributions(self) -> None:
        attributions = {a.id: a for a in self.batch.attributions}
        self._new(Label.ATTRIBUTION, list(attributions.values()))
        key = self.keys[Label.ATTRIBUTION]
        failure = self._resolve(Label.FAILURE, {a.failure_id for a in attributions.values()}, "attributions")
        operation = self._resolve(Label.OPERATION, {a.operation_id for a in attributions.values()}, "attributions")
        self._resolve(Label.VARIABLE, set(chain.from_iterable(map(cited, attributions.values()))), "attributions")
        self._insert("delete_attribution", ((bytes.fromhex(id_), self.trace_k) for id_ in attributions))
        self._insert(
            "insert_attribution",
            (
                (
                    key[a.id],
                    bytes.fromhex(a.id),
                    self.trace_k,
                    failure[a.failure_id],
                    None if a.error_type is None else a.error_type.value,
                    operation[a.operation_id],
                    a.confidence,
                    a.method,
                    a.model,
                    a.reason,
                    a.evidence,
                    a.candidates,
                    a.tokens,
                    a.cost,
                    a.seconds,
                    to_microseconds(a.created_at),
                    a.author,
                    a.attributes,
                )
                for a in attributions.values()
            ),
        )


def _index_text(variable: Variable) -> str:
    """What full-text search sees of a variable; the tokenizer cuts plain ASCII as ``words`` does, so it may pass."""
    text = f"{variable.name} {variable.comment or ''} {variable.preview}"
    if text.isascii() and max(map(len, text.split()), default=0) <= LONGEST_WORD:
        return text
    return " ".join(words(text))


def _digest(value_hash: str) -> bytes:
    return bytes.fromhex(value_hash.partition(":")[2])
