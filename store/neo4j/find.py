"""Full-text search over names, comments and previews, and scans over whole values."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence

from schema.models import WHOLE_VALUE_BYTES, Variable
from schema.words import contains, phrases, snippet, words
from store.contract.answers import ALWAYS, Label, ScanResult, SearchHit, Span
from store.neo4j.read import Reader
from store.neo4j.rows import search_scope
from store.values.contract import ValueStore

_CLAUSES = 500
"""Lucene takes at most 1,024 clauses. Further words of a longer query are looked for in the hits of the first words."""

_CUT_LIMIT = 10_000
_NARROWED_HITS = 50_000
"""So many of the best hits are read from the index if only some kinds or a time are wanted."""
_PAGE = 1000


def lucene_query(wanted: Sequence[Sequence[str]], scopes: Sequence[str]) -> str:
    """A Lucene query for variables that are in all scopes and contain all phrases.

    Words are letters and digits (see ``schema.words``), and scopes are hexadecimal, so no text within quotes can be
    read as an operator.
    """
    required = [f'+scope:"{scope}"^0' for scope in scopes]
    return " ".join(required + [f'+terms:"{" ".join(phrase)}"' for phrase in wanted])


async def search(
    reader: Reader, text: str, trace_id: str | None, limit: int, kinds: Collection[str] = (), when: Span = ALWAYS
) -> list[SearchHit]:
    """Recorded variables with all words of a text in name, comment and preview, the best hit first."""
    whole = list(dict.fromkeys(map(tuple, phrases(text))))
    if not whole or limit < 1:
        return []
    cut = [phrase[:_CLAUSES] for phrase in whole[:_CLAUSES]]
    scopes = [search_scope(name) for name in (reader.project_id, trace_id) if name is not None]
    count = limit if cut == whole else max(limit, _CUT_LIMIT)
    # The index knows neither kinds nor times, so more of its hits are read where these narrow a search.
    hits = max(count, _NARROWED_HITS) if kinds or when != ALWAYS else count
    narrowing = {"kinds": sorted(kinds) or None, "begin": when.since, "end": when.until}
    rows = await reader.rows("search", query=lucene_query(cut, scopes), hits=hits, count=count, **narrowing)
    if cut != whole:
        sought = [f" {' '.join(phrase)} " for phrase in whole]
        rows = [row for row in rows if all(phrase in f" {row[2]} " for phrase in sought)][:limit]
    scores = {id_: score for id_, score, _ in rows}
    return [
        SearchHit(v, scores[v.id], snippet([v.preview, v.comment or "", v.name], text))
        for v in await reader.get(Label.VARIABLE, scores)
    ]


async def named(reader: Reader, name: str, version: int | None, trace_id: str | None, limit: int) -> list[Variable]:
    """Recorded variables with a name, by trace and place; the full-text index finds candidates by the name's words."""
    scopes = [search_scope(one) for one in (reader.project_id, trace_id) if one is not None]
    query = lucene_query([words(name)[:_CLAUSES]], scopes)
    rows = await reader.rows("named", query=query, name=name, version=version, traceId=trace_id, count=limit)
    return await reader.get(Label.VARIABLE, [id_ for (id_,) in rows])


class _Bounds:
    """The end of a scan: a number of bytes, or a time of the monotonic clock."""

    def __init__(self, max_bytes: int, seconds: float) -> None:
        self.scanned = 0
        self._max_bytes = max_bytes
        self._deadline = time.monotonic() + seconds

    def reached(self) -> bool:
        return self.scanned >= self._max_bytes or time.monotonic() >= self._deadline


async def scan(
    reader: Reader, values: ValueStore, text: str, trace_id: str | None, limit: int, max_bytes: int, seconds: float
) -> ScanResult:
    """Scan whole values, trace by trace: first the short values on the variables, then the value store."""
    bounds = _Bounds(max_bytes, seconds)
    traces: list[str] = sorted(await reader.items("trace_ids")) if trace_id is None else [trace_id]
    found: list[Variable] = []
    is_cut = False
    for one in traces:
        matched: set[str] = set()
        is_cut = not await _scan_inline(reader, one, text, bounds, matched)
        if not is_cut:
            is_cut = not await _scan_packs(reader, values, one, text, bounds, matched)
        if matched:
            ids = await reader.items(
                "variables_of_values", traceId=one, hashes=sorted(matched), count=limit + 1 - len(found)
            )
            found += await reader.get(Label.VARIABLE, ids)
        if is_cut or len(found) > limit:
            break
    hits = [SearchHit(variable, 1.0, snippet([variable.preview], text)) for variable in found[:limit]]
    return ScanResult(hits, is_cut or len(found) > limit, bounds.scanned)


async def _scan_inline(reader: Reader, trace_id: str, text: str, bounds: _Bounds, matched: set[str]) -> bool:
    """Scan the short values on the variables of a trace; returns whether all were read."""
    place, last = -1, ""
    seen: set[str] = set()
    while rows := await reader.items("scan_inline", traceId=trace_id, place=place, last=last, count=_PAGE):
        if bounds.reached():
            return False
        for place, last, value_hash, value in rows:  # noqa: B007  (the last ones begin the next page)
            if value_hash in seen:
                continue
            seen.add(value_hash)
            data = value.encode()
            bounds.scanned += len(data)
            if contains(data, text):
                matched.add(value_hash)
    return True


async def _scan_packs(
    reader: Reader, values: ValueStore, trace_id: str, text: str, bounds: _Bounds, matched: set[str]
) -> bool:
    """Scan the long values of a trace in the value store; returns whether all were read."""
    async for value_hash, value in values.scan(reader.project_id, trace_id):
        if len(value) <= WHOLE_VALUE_BYTES:
            continue
        if bounds.reached():
            return False
        bounds.scanned += len(value)
        if contains(value, text):
            matched.add(value_hash)
    return True
