"""Rows of SQLite as domain models.

Rows hold integer keys of texts and of other rows. A ``RowReader`` looks each key up once and remembers it, which is
cheaper than a join for each column: most texts repeat.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, TypeVar

import apsw
import msgspec

from schema.ids import VALUE_HASH_PREFIX
from schema.kinds import DerivationKind, ErrorType, OperationKind, Origin, Status, VariableKind
from schema.models import (
    PREVIEW_CHARACTERS,
    WHOLE_VALUE_BYTES,
    Attribution,
    Derivation,
    Element,
    Failure,
    Operation,
    Session,
    Trace,
    Variable,
)
from schema.quick import constructor
from schema.texts import sql
from store.answers import Label
from store.times import Times

T = TypeVar("T")

_VARIABLE_KINDS = {kind.value: kind for kind in VariableKind}
_OPERATION_KINDS = {kind.value: kind for kind in OperationKind}
_DERIVATION_KINDS = {kind.value: kind for kind in DerivationKind}
_STATUSES = {status.value: status for status in Status}


def bind_keys(keys: Iterable[int]) -> Any:
    """Keys as a table-valued parameter of ``carray``."""
    # An empty array lies nowhere that SQLite could look; nothing has the key 0.
    return apsw.carray(array("q", keys) or array("q", [0]))


class RowReader:
    """Reads rows of one project by their keys, inside one transaction."""

    def __init__(self, connection: apsw.Connection, project_id: str) -> None:
        self._connection = connection
        self._project_id = project_id
        self._texts: dict[int | None, Any] = {None: None}
        self._ids: dict[str, dict[int | None, Any]] = {
            name: {None: None} for name in ("session", "operation", "variable")
        }
        self._traces: dict[int, str] = {}
        self._times = Times()
        self._derived_by: set[int] = set()

    def elements(self, label: Label, keys: Sequence[int]) -> dict[int, Element]:
        """Elements of any label, by key."""
        readers: dict[Label, Callable[[Sequence[int]], dict[int, Any]]] = {
            Label.TRACE: self.traces,
            Label.SESSION: self.sessions,
            Label.OPERATION: self.operations,
            Label.VARIABLE: self.variables,
            Label.DERIVATION: self.derivations,
            Label.FAILURE: self.failures,
            Label.ATTRIBUTION: self.attributions,
        }
        return readers[label](keys)

    def traces(self, keys: Sequence[int]) -> dict[int, Trace]:
        """Traces by key."""
        times = self._times
        return {
            k: Trace(key.hex(), self._project_id, external_id, name, source, times[created_at], attributes)
            for k, key, external_id, name, source, created_at, attributes in self._rows("rows_trace", keys)
        }

    def sessions(self, keys: Sequence[int]) -> dict[int, Session]:
        """Sessions by key."""
        rows = self._rows("rows_session", keys)
        times = self._times
        text = self._look_up_texts(rows, (3, 4, 5, 6, 9))
        trace = self._look_up_traces(rows)
        return {
            r[0]: Session(
                id=r[1].hex(),
                project_id=self._project_id,
                trace_id=trace[r[2]],
                external_id=text[r[3]],
                name=text[r[4]],
                category=text[r[5]],
                comment=text[r[6]],
                sequence=r[7],
                created_at=times[r[8]],
                attributes=text[r[9]],
            )
            for r in rows
        }

    def operations(self, keys: Sequence[int]) -> dict[int, Operation]:
        """Operations by key."""
        rows = self._rows("rows_operation", keys)
        times = self._times
        text = self._look_up_texts(rows, (4, 5, 7, 8, 13, 14))
        trace = self._look_up_traces(rows)
        session = self._look_up_ids("session", set(map(itemgetter(3), rows)))
        self._ids["operation"].update((r[0], r[1].hex()) for r in rows)
        make = constructor(Operation)
        return {
            r[0]: make(
                id=r[1].hex(),
                project_id=self._project_id,
                trace_id=trace[r[2]],
                session_id=session[r[3]],
                external_id=text[r[4]],
                name=text[r[5]],
                kind=_OPERATION_KINDS[r[6]],
                category=text[r[7]],
                comment=text[r[8]],
                status=_STATUSES[r[9]],
                sequence=r[10],
                started_at=times[r[11]],
                ended_at=times[r[12]],
                location=text[r[13]],
                attributes=text[r[14]],
            )
            for r in rows
        }

    def variables(self, keys: Sequence[int]) -> dict[int, Variable]:
        """Variables by key."""
        rows = self._rows("rows_variable", keys)
        text = self._look_up_texts(rows, (6, 7, 8, 12, 13, 16, 17))
        trace = self._look_up_traces(rows)
        session = self._look_up_ids("session", set(map(itemgetter(3), rows)))
        operation = self._look_up_ids("operation", set(map(itemgetter(4), rows)))
        self._ids["variable"].update(
            zip(map(itemgetter(0), rows), map(bytes.hex, map(itemgetter(1), rows)), strict=True)
        )
        variable = self._look_up_ids("variable", set(map(itemgetter(5), rows)))
        project_id, times = self._project_id, self._times
        make = constructor(Variable)
        return {
            k: make(
                variable[k],
                project_id,
                trace[trace_k],
                session[session_k],
                text[external_k],
                text[name_k],
                text[class_k],
                version,
                occurrence,
                _VARIABLE_KINDS[kind],
                text[category_k],
                text[comment_k],
                value_text[:PREVIEW_CHARACTERS],
                value_text if size <= WHOLE_VALUE_BYTES else None,
                VALUE_HASH_PREFIX + value_hash.hex(),
                size,
                media_type,
                sequence,
                times[created_at],
                text[location_k],
                text[attributes_k],
                operation[operation_k],
                variable[revision_k],
            )
            for (
                k,
                _,
                trace_k,
                session_k,
                operation_k,
                revision_k,
                external_k,
                name_k,
                class_k,
                version,
                occurrence,
                kind,
                category_k,
                comment_k,
                sequence,
                created_at,
                location_k,
                attributes_k,
                value_hash,
                size,
                media_type,
                value_text,
            ) in rows
        }

    def variable_ids(self, keys: Iterable[int]) -> list[str]:
        """Ids of variables, in the order of the keys."""
        wanted = list(keys)
        ids = self._look_up_ids("variable", set(wanted))
        return [ids[key] for key in wanted]

    def derivations(self, keys: Sequence[int]) -> dict[int, Derivation]:
        """Derivations by key."""
        return self._derivations(self._rows("rows_derivation", keys))

    def derivations_into(self, keys: Sequence[int]) -> dict[int, Derivation]:
        """Derivations whose targets are some variables, by key."""
        return self._derivations(self._rows("rows_derivation_into", keys))

    def operations_of_derivations(self) -> list[int]:
        """Keys of the operations of all derivations that were read."""
        return sorted(self._derived_by)

    def _derivations(self, rows: list[Any]) -> dict[int, Derivation]:
        text = self._look_up_texts(rows, (8, 9, 12, 13))
        trace = self._look_up_traces(rows)
        operations = set(map(itemgetter(5), rows))
        self._derived_by |= operations
        operation = self._look_up_ids("operation", operations)
        variable = self._look_up_ids("variable", {*map(itemgetter(3), rows), *map(itemgetter(4), rows)})
        project_id, times = self._project_id, self._times
        make = constructor(Derivation)
        return {
            k: make(
                id_.hex(),
                project_id,
                trace[trace_k],
                variable[source_k],
                variable[target_k],
                operation[operation_k],
                external_id,
                _DERIVATION_KINDS[kind],
                text[category_k],
                text[comment_k],
                sequence,
                times[created_at],
                text[location_k],
                text[attributes_k],
            )
            for (
                k,
                id_,
                trace_k,
                source_k,
                target_k,
                operation_k,
                external_id,
                kind,
                category_k,
                comment_k,
                sequence,
                created_at,
                location_k,
                attributes_k,
            ) in rows
        }

    def failures(self, keys: Sequence[int]) -> dict[int, Failure]:
        """Failures by key."""
        rows = self._rows("rows_failure", keys)
        times = self._times
        trace = self._look_up_traces(rows)
        variable = self._look_up_ids("variable", {key for r in rows for key in r[4:7]})
        return {
            r[0]: Failure(
                id=r[1].hex(),
                project_id=self._project_id,
                trace_id=trace[r[2]],
                origin=Origin(r[3]),
                question_id=variable[r[4]],
                answer_id=variable[r[5]],
                expected_id=variable[r[6]],
                evidence_ids=msgspec.json.decode(r[7], type=tuple[str, ...]),
                question=r[8],
                prediction=r[9],
                gold_answers=msgspec.json.decode(r[10], type=tuple[str, ...]),
                created_at=times[r[11]],
                attributes=r[12],
            )
            for r in rows
        }

    def attributions(self, keys: Sequence[int]) -> dict[int, Attribution]:
        """Attributions by key."""
        rows = self._rows("rows_attribution", keys)
        times = self._times
        trace = self._look_up_traces(rows)
        operation = self._look_up_ids("operation", {r[5] for r in rows})
        return {
            r[0]: Attribution(
                id=r[1].hex(),
                project_id=self._project_id,
                trace_id=trace[r[2]],
                failure_id=r[3].hex(),
                error_type=None if r[4] is None else ErrorType(r[4]),
                operation_id=operation[r[5]],
                confidence=r[6],
                method=r[7],
                model=r[8],
                reason=r[9],
                evidence=r[10],
                candidates=r[11],
                tokens=r[12],
                cost=r[13],
                seconds=r[14],
                created_at=times[r[15]],
                author=r[16],
                attributes=r[17],
            )
            for r in rows
        }

    def _rows(self, name: str, keys: Sequence[int]) -> list[Any]:
        if not keys:
            return []
        bindings = {"keys": bind_keys(keys), "project": self._project_id}
        return self._connection.execute(sql(name), bindings).fetchall()

    def _look_up_texts(self, rows: list[Any], columns: tuple[int, ...]) -> dict[int | None, Any]:
        texts = self._texts
        if not rows:
            return texts
        by_column = list(zip(*rows, strict=True))
        missing = set().union(*(by_column[column] for column in columns)).difference(texts)
        if missing:
            texts.update(self._connection.execute(sql("rows_text"), {"keys": bind_keys(sorted(missing))}))
        return texts

    def _look_up_ids(self, table: str, keys: set[int | None]) -> dict[int | None, Any]:
        ids = self._ids[table]
        missing = keys.difference(ids)
        if missing:
            wanted = bind_keys(sorted(key for key in missing if key is not None))
            rows = self._connection.execute(sql(f"ids_{table}"), {"keys": wanted})
            ids.update((key, value.hex()) for key, value in rows)
        return ids

    def _look_up_traces(self, rows: list[Any]) -> dict[int, str]:
        missing = set(map(itemgetter(2), rows)).difference(self._traces)
        if missing:
            self._traces.update((key, trace.id) for key, trace in self.traces(sorted(missing)).items())
        return self._traces
