"""Full-text search, scans over whole values, and reading values."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from schema.errors import CorruptValueError
from schema.ids import VALUE_HASH_PREFIX
from schema.models import WHOLE_VALUE_BYTES, Variable
from schema.words import contains, phrases, snippet
from store.contract.answers import ALWAYS, ScanResult, SearchHit, Span
from store.sqlite.context import ReadContext, narrowing, text_hash
from store.sqlite.queries import sql
from store.sqlite.rows import bind_keys
from store.values.contract import ValueStore
from store.values.packs import PackCache, PackEntry, cut_all, decompress, read_all


def search(
    context: ReadContext,
    text: str,
    trace_id: str | None = None,
    limit: int = 20,
    kinds: Collection[str] = (),
    when: Span = ALWAYS,
) -> list[SearchHit]:
    """Recorded variables with all words of a text in name, comment and preview, the best hit first."""
    query = " AND ".join('"' + " ".join(phrase) + '"' for phrase in phrases(text))
    if not query:
        return []
    rows = context.rows("variables.search", query=query, trace=trace_id, count=limit, **narrowing(kinds, when))
    variables = context.reader().read(Variable, [k for k, _ in rows])
    found = ((variables[k], score) for k, score in rows)
    return [SearchHit(v, score, snippet([v.preview, v.comment or "", v.name], text)) for v, score in found]


def named(context: ReadContext, name: str, version: int | None, trace_id: str | None, limit: int) -> list[Variable]:
    """Recorded variables with a name, by trace and place."""
    rows = context.rows(
        "variables.named", hash=text_hash(name), name=name, version=version, trace=trace_id, count=limit
    )
    found = context.reader().read(Variable, [k for (k,) in rows])
    return [found[k] for (k,) in rows]


@dataclass(frozen=True, slots=True)
class ScanBounds:
    """The end of a scan: a number of hits, a number of bytes, or a time of the monotonic clock."""

    limit: int
    max_bytes: int
    deadline: float

    @classmethod
    def starting_now(cls, limit: int, max_bytes: int, seconds: float) -> ScanBounds:
        """Bounds with a deadline ``seconds`` from now."""
        return cls(limit, max_bytes, time.monotonic() + seconds)

    def reached(self, scanned: int) -> bool:
        """Whether the scan has to end."""
        return scanned >= self.max_bytes or time.monotonic() >= self.deadline


@dataclass(slots=True)
class ScanProgress:
    """The state of a scan; ``matched`` are the keys of values that contain the text."""

    matched: set[int] = field(default_factory=set)
    scanned: int = 0
    truncated: bool = False


def scan(context: ReadContext, text: str, trace_id: str | None, bounds: ScanBounds) -> ScanResult:
    """Scan short values in the table ``value``, then the packs of the file."""
    progress = scan_inline(context, text, trace_id, bounds)
    for pack_k, raw_size in [] if progress.truncated else context.rows("values.packs", trace=trace_id):
        if bounds.reached(progress.scanned):
            progress.truncated = True
            break
        progress.matched.update(_scan_pack(context, pack_k, text))
        progress.scanned += raw_size
    return scan_result(context, text, bounds, progress)


def scan_inline(context: ReadContext, text: str, trace_id: str | None, bounds: ScanBounds) -> ScanProgress:
    """Scan the short values in the table ``value``."""
    progress = ScanProgress()
    last = 0
    while rows := context.rows("values.inline", trace=trace_id, whole=WHOLE_VALUE_BYTES, last=last):
        if bounds.reached(progress.scanned):
            progress.truncated = True
            break
        progress.matched.update(k for k, value, _ in rows if contains(value.encode(), text))
        progress.scanned += sum(row[2] for row in rows)
        last = rows[-1][0]
    return progress


def scan_result(context: ReadContext, text: str, bounds: ScanBounds, progress: ScanProgress) -> ScanResult:
    """The recorded variables with matched values."""
    variables: dict[int, Variable] = {}
    if progress.matched:
        keys = [k for (k,) in context.rows("values.variables", keys=bind_keys(sorted(progress.matched)))]
        variables = context.reader().read(Variable, keys)
    ordered = sorted(variables.values(), key=lambda v: (v.trace_id, v.sequence))
    hits = [SearchHit(variable, 1.0, snippet([variable.preview], text)) for variable in ordered[: bounds.limit]]
    return ScanResult(hits, progress.truncated or len(ordered) > bounds.limit, progress.scanned)


def _scan_pack(context: ReadContext, pack_k: int, text: str) -> list[int]:
    ((data,),) = context.rows("values.pack", pack=pack_k)
    keys: dict[str, list[int]] = {}
    entries = {}
    for k, digest, offset, size in context.connection.execute(sql("values.in_pack"), {"pack": pack_k}):
        keys.setdefault(digest, []).append(k)
        entries[digest] = PackEntry(VALUE_HASH_PREFIX + digest, offset, size)
    found: list[int] = []
    if not entries:
        return found
    for entry, value in read_all(data, list(entries.values())):
        if contains(value, text):
            found.extend(keys[entry.value_hash.removeprefix(VALUE_HASH_PREFIX)])
    return found


def values_in_file(context: ReadContext, trace_id: str, hashes: Sequence[str], cache: PackCache) -> dict[str, bytes]:
    """Long values from packs of the file, by hash.

    Raises:
        CorruptValueError: a value is damaged or gone.
    """
    digests = [value_hash.removeprefix(VALUE_HASH_PREFIX) for value_hash in hashes]
    packs: dict[tuple[int, str], list[PackEntry]] = {}
    rows = context.rows("values.places", trace=trace_id, hashes=msgspec.json.encode(digests).decode())
    for digest, pack_k, pack_id, offset, size in rows:
        packs.setdefault((pack_k, pack_id), []).append(PackEntry(VALUE_HASH_PREFIX + digest, offset, size))
    placed = {entry.value_hash for entries in packs.values() for entry in entries}
    for value_hash in hashes:
        if value_hash not in placed:
            raise CorruptValueError(value_hash)
    found: dict[str, bytes] = {}
    for (pack_k, pack_id), entries in packs.items():
        whole = cache.get(pack_id)
        if whole is None:
            ((data,),) = context.rows("values.pack", pack=pack_k)
            whole = decompress(data, entries[0].value_hash)
            cache.put(pack_id, whole)
        found |= cut_all(whole, entries)
    return found


def known_values(context: ReadContext, trace_id: str) -> set[str]:
    """Hashes of the values of a trace in packs of the file."""
    return {VALUE_HASH_PREFIX + digest for (digest,) in context.rows("values.hashes", trace=trace_id)}


Read = Callable[..., Awaitable[Any]]


async def scan_outside(
    read: Read, values: ValueStore, project_id: str, text: str, trace_id: str | None, bounds: ScanBounds
) -> ScanResult:
    """The same as ``scan``, but the packs are read from a value store."""
    progress: ScanProgress = await read(scan_inline, text, trace_id, bounds)
    traces: list[str] = [trace_id] if trace_id else await read(_trace_ids)
    for one in traces:
        async for value_hash, value in values.scan(project_id, one):
            if bounds.reached(progress.scanned):
                progress.truncated = True
                break
            progress.scanned += len(value)
            if contains(value, text):
                progress.matched.update(await read(_keys_of_hash, one, value_hash))
    result: ScanResult = await read(scan_result, text, bounds, progress)
    return result


def _trace_ids(context: ReadContext) -> list[str]:
    return [value.lower() for (value,) in context.rows("traces.ids")]


def _keys_of_hash(context: ReadContext, trace_id: str, value_hash: str) -> list[int]:
    digest = value_hash.partition(":")[2]
    return [k for (k,) in context.rows("values.by_hash", trace=trace_id, hash=digest)]
