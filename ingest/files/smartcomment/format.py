"""The format of smartcomment's graph files; an import takes all or nothing, an export gives the same bytes again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO

from ingest.files.opening import first_keys
from ingest.files.protocol import ImportReport, OpenFile, Progress
from ingest.files.smartcomment.build import SOURCE, Built, build
from ingest.files.smartcomment.failures import add_failures
from ingest.files.smartcomment.read import TOO_DEEP, GraphFile, split
from ingest.files.smartcomment.recorded import RecordedFile, read_records
from ingest.files.smartcomment.write import export_trace
from schema.errors import ConflictError, InputError
from schema.ids import trace_id
from schema.kinds import DerivationKind
from schema.models import Variable
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.runtime.garbage_collector import collector_paused
from store.shared.paging import elements
from store.values.packs import PackWriter


class Smartcomment:
    """Graph files of smartcomment 0.1.2 and of MemTraceBench."""

    name = "graph files of smartcomment"
    source = SOURCE
    suffix = ".json"
    media_type = "application/json"

    def recognises(self, head: bytes) -> bool:
        """Whether the head is an object with one of the two keys that a graph file must have."""
        return not {"graph_id", "data"}.isdisjoint(first_keys(head))

    async def read(self, file: OpenFile, store: GraphStore) -> ImportReport:
        """Read a graph, repair it and write it.

        Raises:
            InputError: the file is malformed, or its graph is already stored with other content; nothing was written.
        """
        with ExitStack() as stack:
            stack.enter_context(_deep_is_bad(file.name))
            graph_file = await asyncio.to_thread(split, file.name, file.data)
            trace = trace_id(store.project_id, graph_file.graph.graph_id)
            is_stored = bool(await store.get(Label.TRACE, [trace]))
            values = stack.enter_context(PackWriter(await store.known_values(trace) if is_stored else None))
            recorded = await asyncio.to_thread(_read, graph_file, file.timezone, values, file.tell)
            file.tell("repair", 0, 1)
            stored = await _stored_sequences(store, trace) if is_stored else {}
            built = await asyncio.to_thread(_build, recorded, store.project_id, stored, file.plain_name)
            file.tell("repair", 1, 1)
            batch = built.batch
            total = len(batch.variables) + len(batch.derivations) + len(batch.operations)
            file.tell("write", 0, total)
            try:
                result = await store.write(batch, values)
            except ConflictError as error:
                graph_id = graph_file.graph.graph_id
                raise InputError(file.name, "", f"graph {graph_id!r} is stored already: {error}") from error
            file.tell("write", total, total)
        reads = sum(derivation.kind is DerivationKind.READ for derivation in batch.derivations)
        return ImportReport(
            file=file.name,
            trace_id=batch.trace.id,
            created=result.created,
            existing=result.existing,
            variables=len(recorded.nodes),
            occurrences=len(batch.variables) - len(recorded.nodes),
            operations=len(batch.operations),
            derivations=len(batch.derivations) - reads,
            reads=reads,
            sessions=len(batch.sessions),
            failures=len(batch.failures),
            seconds=file.seconds(),
            trace_ids=(batch.trace.id,),
        )

    async def write(self, store: GraphStore, trace_id: str, out: BinaryIO) -> None:
        """Write a trace as the file from which it was imported.

        Raises:
            NotFoundError: there is no such trace.
        """
        await export_trace(store, trace_id, out)


@contextmanager
def _deep_is_bad(name: str) -> Iterator[None]:
    """Turn a RecursionError from any step of an import into an error about the file."""
    try:
        yield
    except RecursionError as error:
        raise InputError(name, "", TOO_DEEP) from error


def _read(file: GraphFile, timezone: str, values: PackWriter, tell: Progress) -> RecordedFile:
    with collector_paused():
        recorded = read_records(file, timezone, values, lambda done, total: tell("read", done, total))
    tell("read", 1, 1)
    return recorded


def _build(recorded: RecordedFile, project_id: str, stored: dict[str, int], plain_name: str | None) -> Built:
    with collector_paused():
        built = build(recorded, project_id, stored, plain_name)
        add_failures(recorded, built)
        return built


async def _stored_sequences(store: GraphStore, trace: str) -> dict[str, int]:
    return {variable.id: variable.sequence for variable in await elements(store, Variable, trace)}
