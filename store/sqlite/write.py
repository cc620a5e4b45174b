"""Writing a batch into SQLite, inside one transaction of the caller.

New rows get their integer keys here, so that they are inserted with finished references: no look-up in SQL a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import apsw
import msgspec

from schema.models import Batch, Trace, Variable
from schema.words import LONGEST_WORD, words
from store.answers import Label, WriteResult
from store.conflicts import check
from store.packs import Pack
from store.references import cited
from store.sqlite.keys import Keys
from store.sqlite.rows import RowReader
from store.sqlite.value_rows import ValueRows
from store.times import to_microseconds


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
        self.project_id = project_id
        self.batch = batch
        self.keys = Keys(connection, project_id, batch.trace.id)
        self.values = ValueRows(self.keys, values_in_file)
        self.trace_k = self.keys.trace_k
        self.texts = self.keys.texts

    def write(self, packs: Iterable[Pack]) -> WriteResult:
        batch = self.batch
        self._write_trace()
        sessions: Sequence[Any] = self.keys.new(Label.SESSION, batch.sessions)
        operations: Sequence[Any] = self.keys.new(Label.OPERATION, batch.operations)
        variables: Sequence[Any] = self.keys.new(Label.VARIABLE, batch.variables)
        derivations: Sequence[Any] = self.keys.new(Label.DERIVATION, batch.derivations)
        self.keys.intern(sessions, operations, variables, derivations, batch.endings)
        self._write_sessions(sessions)
        self._write_operations(operations)
        self._write_variables(variables, packs)
        self._write_derivations(derivations)
        self._write_links()
        self._write_endings()
        self._write_placings()
        self._write_failures()
        self._write_attributions()
        return self.keys.result

    def _write_trace(self) -> None:
        trace = self.batch.trace
        if self.keys.is_new_trace:
            created_at = to_microseconds(trace.created_at)
            row = (self.trace_k, bytes.fromhex(trace.id), self.project_id, trace.external_id, trace.name, trace.source)
            self.keys.insert("insert_trace", [(*row, created_at, trace.attributes)])
        else:
            stored: dict[int, Trace] = RowReader(self.keys.connection, self.project_id).traces([self.trace_k])
            check(Label.TRACE, {trace.id: stored[self.trace_k]}, [trace])
            self.keys.insert("update_trace", [(trace.attributes, trace.name, self.trace_k)])
        self.keys.count(Label.TRACE, int(self.keys.is_new_trace), int(not self.keys.is_new_trace))

    def _write_sessions(self, sessions: Sequence[Any]) -> None:
        text, key = self.texts, self.keys.of[Label.SESSION]
        self.keys.insert(
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
        text, key = self.texts, self.keys.of[Label.OPERATION]
        session = self.keys.resolve(Label.SESSION, {o.session_id for o in operations}, "operations")
        self.keys.insert(
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
        text, key, trace_k = self.texts, self.keys.of[Label.VARIABLE], self.trace_k
        session = self.keys.resolve(Label.SESSION, {v.session_id for v in variables}, "variables")
        operation = self.keys.resolve(Label.OPERATION, {v.operation_id for v in variables}, "variables")
        revision = self.keys.resolve(Label.VARIABLE, {v.revision_of for v in variables}, "variables")
        value = self.values.write(variables, packs)
        self.keys.insert(
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
        self.keys.insert("insert_words", ((key[v.id], _index_text(v)) for v in variables if v.occurrence == 0))

    def _write_derivations(self, derivations: Sequence[Any]) -> None:
        text, key, trace_k = self.texts, self.keys.of[Label.DERIVATION], self.trace_k
        variable = self.keys.resolve(
            Label.VARIABLE, {d.source for d in derivations} | {d.target for d in derivations}, "derivations"
        )
        operation = self.keys.resolve(Label.OPERATION, {d.operation_id for d in derivations}, "derivations")
        self.keys.insert(
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
        variable = self.keys.resolve(Label.VARIABLE, used | ended, "usages")
        enders: set[str | None] = {i.operation_id for i in invalidations}
        users: set[str | None] = {u.operation_id for u in usages}
        operation = self.keys.resolve(Label.OPERATION, users | enders, "usages")
        self.keys.insert(
            "insert_usage",
            ((operation[u.operation_id], u.position, variable[u.variable_id], u.role, u.score) for u in usages),
        )
        self.keys.insert(
            "insert_invalidation", ((variable[i.variable_id], operation[i.operation_id]) for i in invalidations)
        )

    def _write_endings(self) -> None:
        endings = self.batch.endings
        operation = self.keys.resolve(Label.OPERATION, {e.operation_id for e in endings}, "endings")
        self.keys.insert(
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

    def _write_placings(self) -> None:
        placings = self.batch.placings
        variable = self.keys.resolve(Label.VARIABLE, {p.variable_id for p in placings}, "placings")
        self.keys.insert("place_variable", ((p.sequence, variable[p.variable_id], self.trace_k) for p in placings))

    def _write_failures(self) -> None:
        new = self.keys.new(Label.FAILURE, self.batch.failures)
        key = self.keys.of[Label.FAILURE]
        variable = self.keys.resolve(
            Label.VARIABLE, {id_ for f in new for id_ in (f.question_id, f.answer_id, f.expected_id)}, "failures"
        )
        fresh = {f.id for f in new}
        self.keys.insert(
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
        self.keys.insert(
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
        self.keys.new(Label.ATTRIBUTION, list(attributions.values()))
        key = self.keys.of[Label.ATTRIBUTION]
        failure = self.keys.resolve(Label.FAILURE, {a.failure_id for a in attributions.values()}, "attributions")
        operation = self.keys.resolve(Label.OPERATION, {a.operation_id for a in attributions.values()}, "attributions")
        self.keys.resolve(Label.VARIABLE, set(chain.from_iterable(map(cited, attributions.values()))), "attributions")
        self.keys.insert("delete_attribution", ((bytes.fromhex(id_), self.trace_k) for id_ in attributions))
        self.keys.insert(
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
