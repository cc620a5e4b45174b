"""Exports a trace as a smartcomment graph file: the recorded graph, without the repair's additions."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, BinaryIO

from ingest.files.smartcomment import leftover, records
from ingest.files.smartcomment.failures import annotations_of
from ingest.files.smartcomment.recorded import Clock
from schema.errors import NotFoundError
from schema.kinds import DerivationKind
from schema.models import Derivation, Element, Operation, Session, Trace, Variable
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.paging import by_size, every, in_trace

_PAGE = 2_000
_VALUE_BYTES = 32 << 20
_TURN = 16
"""Number of records between two turns of the event loop's other tasks."""
_TOP = ("graph_id", "user_id", "project_id", "storage_path", "strict", "driver_type", "created_at", "metadata")


async def export_trace(store: GraphStore, trace_id: str, out: BinaryIO) -> None:
    """Export a trace that smartcomment recorded, in the layout of smartcomment's own exports.

    Raises:
        NotFoundError: there is no such trace.
    """
    found = await store.get(Label.TRACE, [trace_id])
    if not found or not isinstance(found[0], Trace):
        raise NotFoundError(trace_id, Label.TRACE.value)
    trace = found[0]
    text = io.TextIOWrapper(out, "utf-8", newline="\n", write_through=True)
    try:
        await _Exporter(store, trace, text).export()
    finally:
        text.detach()


class _Exporter:
    def __init__(self, store: GraphStore, trace: Trace, out: io.TextIOWrapper) -> None:
        self.store = store
        self.trace = trace
        self.out = out
        self.metadata, self.kept = leftover.split(trace.attributes)
        self.sessions: dict[str | None, str | None] = {None: None}
        self.operation_sessions: dict[str, str | None] = {}
        self.common = records.Common(
            trace.external_id,
            self.kept.get("user_id"),
            self.kept.get("project_id"),
            Clock(self.kept["timezone"]),
            self.sessions,
            {},
            {},
        )

    async def export(self) -> None:
        sessions = [session async for session in self._all(Label.SESSION) if isinstance(session, Session)]
        self.sessions.update((session.id, session.external_id) for session in sessions)
        operations = [o async for o in self._all(Label.OPERATION) if isinstance(o, Operation)]
        operation_ids = {operation.id: operation.external_id for operation in operations}
        self.operation_sessions = {operation.id: operation.session_id for operation in operations}
        self.common = records.Common(
            self.common.graph_id,
            self.common.user_id,
            self.common.project_id,
            self.common.clock,
            self.sessions,
            operation_ids,
            {},
        )
        self.out.write("{\n")
        for key, value in self._top().items():
            self.out.write(f"    {_dump(key)}: {_dump(value, 1)},\n")
        self.out.write('    "data": {\n')
        self.first_list = True
        absent = self.kept.get("absent", ())
        if "nodes" not in absent:
            await self._list("nodes", self._nodes())
        if "edges" not in absent:
            await self._list("edges", self._edges())
        if "operations" not in absent:
            await self._list("operations", _each(operations, self._operation))
        if "sessions" not in absent:
            await self._list("sessions", _each(sessions, self._session))
        if "annotations" in self.kept:
            await self._list("annotations", self._annotations())
        for key, value in self.kept.get("data", {}).items():
            self._separate()
            self.out.write(f"        {_dump(key)}: {_dump(value, 2)}")
        self.out.write("\n    }\n}" if not self.first_list else "    }\n}")

    def _top(self) -> dict[str, Any]:
        top = {key: self.kept[key] for key in _TOP if key in self.kept}
        top["graph_id"] = self.trace.external_id
        if "metadata" not in self.kept.get("absent", ()):
            top["metadata"] = self.metadata
        ordered = {key: top[key] for key in _TOP if key in top}
        return {**ordered, **self.kept.get("set", {})}

    async def _list(self, name: str, items: AsyncIterator[dict[str, Any]]) -> None:
        self._separate()
        self.out.write(f"        {_dump(name)}: [")
        count = 0
        async for item in items:
            self.out.write((",\n" if count else "\n") + " " * 12 + _dump(item, 3))
            count += 1
            if count % _TURN == 0:
                await asyncio.sleep(0)
        self.out.write("\n        ]" if count else "]")

    def _separate(self) -> None:
        if not self.first_list:
            self.out.write(",\n")
        self.first_list = False

    def _all(self, label: Label) -> AsyncIterator[Element]:
        return in_trace(self.store, label, self.trace.id, first=_PAGE)

    async def _nodes(self) -> AsyncIterator[dict[str, Any]]:
        """The recorded variables, in the order of the file, which may differ from the order of the trace."""
        variables = []
        async for variable in self._all(Label.VARIABLE):
            if isinstance(variable, Variable):
                self.common.variables[variable.id] = variable.external_id
                if variable.occurrence == 0:
                    variables.append(variable)
        places = [_position(variable, place) for place, variable in enumerate(variables)]
        in_order = [variables[place] for place in sorted(range(len(variables)), key=places.__getitem__)]
        for part in by_size(in_order, _VALUE_BYTES, _PAGE):
            values = await self.store.values(part)
            for variable in part:
                metadata, kept = leftover.split(variable.attributes)
                value = values[variable.value_hash].decode()
                yield leftover.apply(records.node_record(variable, value, metadata, self.common), kept)

    async def _edges(self) -> AsyncIterator[dict[str, Any]]:
        async for derivation in self._all(Label.DERIVATION):
            if isinstance(derivation, Derivation) and derivation.kind is not DerivationKind.READ:
                metadata, kept = leftover.split(derivation.attributes)
                session = self.operation_sessions[derivation.operation_id]
                yield leftover.apply(records.edge_record(derivation, session, metadata, self.common), kept)

    def _operation(self, operation: Operation) -> dict[str, Any]:
        metadata, kept = leftover.split(operation.attributes)
        return leftover.apply(records.operation_record(operation, metadata, self.common), kept)

    def _session(self, session: Session) -> dict[str, Any]:
        metadata, kept = leftover.split(session.attributes)
        return leftover.apply(records.session_record(session, kept.get("location"), metadata, self.common), kept)

    async def _annotations(self) -> AsyncIterator[dict[str, Any]]:
        found: list[tuple[int, dict[str, Any]]] = []
        async for failure in every(lambda after: self.store.failures(self.trace.id, _PAGE, after)):
            found.extend(annotations_of(failure))
        for _, record in sorted(found, key=lambda item: item[0]):
            yield record


def _position(variable: Variable, place: int) -> int:
    if f'"{leftover.KEY}"' not in variable.attributes:
        return place
    _, kept = leftover.split(variable.attributes)
    position: int = kept.get("position", place)
    return position


async def _each(items: list[Any], make: Callable[[Any], dict[str, Any]]) -> AsyncIterator[dict[str, Any]]:
    for item in items:
        yield make(item)


def _dump(value: Any, level: int = 0) -> str:
    text = json.dumps(value, indent=4, ensure_ascii=False)
    return text.replace("\n", "\n" + " " * (4 * level)) if level else text
