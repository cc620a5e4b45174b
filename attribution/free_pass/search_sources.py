"""What the searches of a trace return: replies of models, what a tool was given, or turns of the user as they are.

A memory is often not recorded at all. Then the results of searches show which recorded texts it keeps: a tool whose
arguments come back from later searches stores them.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from attribution.trace.graph import TraceGraph
from schema.kinds import OperationKind, VariableKind
from schema.outside_json import JsonError, read_json

REPLIES, TURNS = "reply", "turn"
"""Names of sources; the name of a tool's source is ``tool:`` with the tool's name."""
_SHORTEST = 8
"""The fewest characters of a search result by which its source is recognised."""
_FOUND = frozenset({VariableKind.RETRIEVAL_RESULT, VariableKind.MEMORY_UNIT})
_returned: WeakKeyDictionary[TraceGraph, frozenset[str]] = WeakKeyDictionary()


def source_of(graph: TraceGraph, variable_id: str) -> str | None:
    """The name of the source that a text belongs to; None for a text of none."""
    variable = graph.variables[variable_id]
    maker = graph.operations.get(variable.operation_id or "")
    if maker is None:
        return TURNS if variable.kind is VariableKind.QUERY else None
    if variable.kind is VariableKind.RESPONSE and maker.kind is OperationKind.GENERATION:
        return REPLIES
    # A tool's result, which is of another kind, often only confirms.
    if variable.kind is VariableKind.OTHER and maker.kind is OperationKind.TOOL:
        return f"tool:{maker.name}"
    return None


async def sources_returned(graph: TraceGraph) -> frozenset[str]:
    """The names of the sources of which a later search returned a text, or a part of one.

    They are the same for all failures of a trace, so its texts are compared once.
    """
    known = _returned.get(graph)
    if known is None:
        known = _returned[graph] = await _compared(graph)
    return known


async def _compared(graph: TraceGraph) -> frozenset[str]:
    told = {one: source for one in graph.variables if (source := source_of(graph, one)) is not None}
    texts = {one: _plain(text) for one, text in (await graph.texts(told)).items()}
    searches = [one for one in graph.operations.values() if one.kind is OperationKind.RETRIEVAL]
    sources: set[str] = set()
    for search in searches:
        results = [made for made in graph.made(search.id) if graph.variables[made].kind in _FOUND]
        found = {text.strip() for text in (await graph.texts(results)).values()}
        found = {text for text in found if len(text) >= _SHORTEST}
        earlier = [
            one
            for one, source in told.items()
            if found and source not in sources and (place := _place(graph, one)) is not None and place < search.sequence
        ]
        own = graph.past(results) if earlier else frozenset()
        sources |= {
            told[one]
            for one in earlier
            if not (told[one] == TURNS and one in own) and any(text in texts[one] for text in found)
        }
    return frozenset(sources)


def _place(graph: TraceGraph, variable_id: str) -> int | None:
    """The place of the operation that made a text or, of a turn of the user, of the first that used it."""
    if graph.variables[variable_id].operation_id is not None:
        return graph.place(variable_id)
    return min((graph.operations[one].sequence for one in graph.users(variable_id)), default=None)


def _plain(text: str) -> str:
    """The texts in the JSON of a tool's arguments; another text unchanged."""
    if text[:1] not in {"{", "["}:
        return text
    try:
        return "\n".join(_texts(read_json(text)))
    except JsonError:
        return text


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for one in inner for text in _texts(one)]
