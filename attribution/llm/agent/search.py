"""Searching the values of a trace for words, within bounds."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from attribution.llm.agent.rendering import clip
from attribution.llm.agent.view import FailureView
from schema.kinds import VariableKind
from schema.words import snippet

_MOST = 20
_CHUNK = 200
_MOST_BYTES = 256 << 20
_QUERY = 200
_SNIPPET = 200
_NOT_TEXT = frozenset({VariableKind.EMBEDDING})


async def search_values(view: FailureView, query: str, kind: VariableKind | None) -> dict[str, Any]:
    """Variables whose values contain all words, in any order and case: for each name, the first and the last version.

    Versions of a buffer repeat each other; a list of all of them would hide everything else.
    """
    words = query[:_QUERY].casefold().split()
    if not words:
        return {"error": "words: give at least one"}
    found, whole = await _holders(view, words, kind)
    hits = [await _hit(view, name, ids, query) for name, ids in list(found.items())[:_MOST]]
    document: dict[str, Any] = {"hits": hits}
    if len(found) > _MOST:
        document |= {"of": len(found), "note": "more names hold them: use more words"}
    if not whole:
        document["note"] = "the trace is too large to search all of it: name a kind"
    return document


async def _holders(
    view: FailureView, words: list[str], kind: VariableKind | None
) -> tuple[dict[tuple[str | None, str], list[str]], bool]:
    graph = view.graph
    wanted = [
        variable
        for variable in graph.variables.values()
        if variable.kind not in _NOT_TEXT and kind in {None, variable.kind} and view.may_show(variable.id)
    ]
    found: dict[tuple[str | None, str], list[str]] = defaultdict(list)
    holds: dict[str, bool] = {}
    size = 0
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        size += sum({one.value_hash: one.size for one in chunk if one.value_hash not in holds}.values())
        if size > _MOST_BYTES:
            return found, False
        texts = await graph.texts([one.id for one in chunk if one.value_hash not in holds])
        for one in chunk:
            if one.value_hash not in holds:
                text = texts[one.id].casefold()
                holds[one.value_hash] = all(word in text for word in words)
            if holds[one.value_hash]:
                found[one.class_name, one.name].append(one.id)
    return found, True


async def _hit(view: FailureView, name: tuple[str | None, str], ids: list[str], query: str) -> dict[str, Any]:
    first = view.graph.variables[ids[0]]
    text = await view.graph.text(first.id)
    hit: dict[str, Any] = {
        "variable": view.variable_alias(first.id),
        "kind": first.kind,
        "name": clip(name[1], 80),
        "snippet": clip(snippet([text], query, _SNIPPET), 2 * _SNIPPET),
    }
    if len(ids) > 1:
        hit |= {"last": view.variable_alias(ids[-1]), "count": len(ids)}
    return hit
