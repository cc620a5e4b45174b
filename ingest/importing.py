"""Importing files: read, repair, write, and say what was done."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ingest.failures import add_failures
from ingest.smartcomment.build import Built, build
from ingest.smartcomment.read import TOO_DEEP, GraphFile, split
from ingest.smartcomment.recorded import Recorded, read_records
from ingest.smartcomment.source import STANDARD_INPUT, display_name, mapped
from schema.bulk import collector_paused
from schema.errors import ConflictError, InputError
from schema.ids import trace_id
from schema.kinds import DerivationKind
from schema.models import Variable
from store.answers import Label
from store.packs import PackWriter
from store.paging import elements
from store.protocol import GraphStore

Progress = Callable[[str, int, int], None]
"""Takes the stage (``read``, ``repair``, ``write``), what is done and what there is."""

_PATTERNS = ("*.json", "*.json.gz", "*.json.xz", "*.json.zst")


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did.

    Attributes:
        created: elements that are new in the store, by label.
        existing: elements that were there before, by label.
        variables: variables that the file recorded; what the repair added is ``occurrences``.
        derivations: derivations that the file recorded; what the repair added is ``reads``.
    """

    file: str
    trace_id: str
    created: dict[str, int]
    existing: dict[str, int]
    variables: int
    occurrences: int
    operations: int
    derivations: int
    reads: int
    sessions: int
    failures: int
    seconds: float


def find_files(paths: Sequence[Path]) -> list[Path]:
    """The files that some paths name; a directory names the graph files under it, in order.

    Raises:
        InputError: a path does not exist, or a directory holds no graph file.
    """
    found: list[Path] = []
    for path in paths:
        if path == STANDARD_INPUT or path.is_file():
            found.append(path)
        elif path.is_dir():
            inside = sorted({file for pattern in _PATTERNS for file in path.rglob(pattern) if file.is_file()})
            if not inside:
                raise InputError(str(path), "", f"holds no graph file ({', '.join(_PATTERNS)})")
            found.extend(inside)
        elif path.exists():
            raise InputError(str(path), "", "is neither a file nor a folder")
        else:
            raise InputError(str(path), "", "does not exist")
    return found


async def import_path(
    store: GraphStore,
    path: Path,
    timezone: str = "UTC",
    progress: Progress | None = None,
    max_bytes: int | None = None,
    max_ratio: int | None = None,
) -> ImportReport:
    """Import one graph file; ``Path("-")`` is standard input.

    What is stored already is left as it is: importing again, or a longer stage of the same graph, only adds.

    Args:
        store: where to.
        path: plain, .gz, .xz or .zst.
        timezone: IANA name of the zone of the file's times, which have none.
        progress: is told how far it is; what it raises before the write is done ends the import, with nothing written.
        max_bytes: the most that a compressed file may unpack to; None is no limit.
        max_ratio: how many times its own size it may unpack to; see ``ingest.smartcomment.source.mapped``.

    Raises:
        InputError: the file is malformed or too large, or its graph is stored already with other content; nothing was
            written.
    """
    started = time.perf_counter()
    name = display_name(path)
    tell = progress or _silent
    with ExitStack() as stack:
        mapping = await asyncio.to_thread(stack.enter_context, mapped(path, max_bytes, max_ratio))
        stack.enter_context(_deep_is_bad(name))
        file = await asyncio.to_thread(split, name, mapping)
        trace = trace_id(store.project_id, file.graph.graph_id)
        is_stored = bool(await store.get(Label.TRACE, [trace]))
        values = stack.enter_context(PackWriter(await store.known_values(trace) if is_stored else None))
        recorded = await asyncio.to_thread(_read, file, timezone, values, tell)
        tell("repair", 0, 1)
        stored = await _stored_sequences(store, trace) if is_stored else {}
        built = await asyncio.to_thread(_build, recorded, store.project_id, stored)
        tell("repair", 1, 1)
        total = len(built.batch.variables) + len(built.batch.derivations) + len(built.batch.operations)
        tell("write", 0, total)
        try:
            result = await store.write(built.batch, values)
        except ConflictError as error:
            raise InputError(name, "", f"graph {recorded.file.graph.graph_id!r} is stored already: {error}") from error
        tell("write", total, total)
    batch = built.batch
    reads = sum(derivation.kind is DerivationKind.READ for derivation in batch.derivations)
    return ImportReport(
        name,
        batch.trace.id,
        result.created,
        result.existing,
        len(recorded.nodes),
        len(batch.variables) - len(recorded.nodes),
        len(batch.operations),
        len(batch.derivations) - reads,
        reads,
        len(batch.sessions),
        len(batch.failures),
        time.perf_counter() - started,
    )


@contextmanager
def _deep_is_bad(name: str) -> Iterator[None]:
    """What is nested too deeply to be worked on is the file's fault; where it is found out depends on the depth."""
    try:
        yield
    except RecursionError as error:
        raise InputError(name, "", TOO_DEEP) from error


def _read(file: GraphFile, timezone: str, values: PackWriter, tell: Progress) -> Recorded:
    with collector_paused():
        recorded = read_records(file, timezone, values, lambda done, total: tell("read", done, total))
    tell("read", 1, 1)
    return recorded


def _build(recorded: Recorded, project_id: str, stored: dict[str, int]) -> Built:
    with collector_paused():
        built = build(recorded, project_id, stored)
        add_failures(recorded, built)
        return built


async def _stored_sequences(store: GraphStore, trace: str) -> dict[str, int]:
    return {variable.id: variable.sequence for variable in await elements(store, Variable, trace)}


def _silent(stage: str, done: int, total: int) -> None:
    """Tell nobody."""
