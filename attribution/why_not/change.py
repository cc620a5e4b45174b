"""What extractions left out, and what updates did to the units in their inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from attribution.free_pass.detail_finder import DetailFinder
from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.loss import goes_on
from attribution.needed.content import content
from attribution.needed.messages import Messages
from attribution.needed.presence import HOLDS, Detail, Presence
from attribution.text.scripts import letters
from attribution.text.segments import Placed, cut, passage
from attribution.trace.graph import TraceGraph
from attribution.verdicts.naming import operation_label, variable_label
from attribution.why_not.model import (
    LONGEST,
    MOST,
    Change,
    Extraction,
    Fate,
    Made,
    ShownUnit,
    Uncovered,
    same_beginning,
    shortened,
)
from attribution.why_not.retrieval import holding
from schema.kinds import STORED, VariableKind

_FEW_WORDS = 2
"""Sentences with fewer words have no fact that an output could cover."""
_TELLING = 12
"""A unit's sentences of at least this length, in letters, identify the unit in a prompt."""
_LARGE = 20_000
"""Units with more bytes are not searched in prompts."""
_ORDER = {Fate.DROPPED: 0, Fate.REWRITTEN: 1, Fate.KEPT: 2}


async def extraction(sources: Sequence[FailureInTrace], messages: Messages, operation_id: str) -> Extraction:
    """The sentences in an extraction's inputs that no output covers.

    Args:
        sources: the piece, once for each message that states the piece.
        messages: of the trace.
        operation_id: the extraction.
    """
    graph, details = sources[0].graph, [traced.detail for traced in sources]
    used = [v for v in graph.used(operation_id) if graph.variables[v].kind is not VariableKind.PROMPT]
    given = [v for v in used if graph.variables[v].kind is VariableKind.MESSAGE]
    given = given or [v for v in used if any(v in traced.future for traced in sources)]
    came = _outputs(graph, operation_id)
    texts = await graph.texts([*given, *came])
    outputs = [texts[one] for one in came]
    count = 0
    found: list[Uncovered] = []
    for variable_id in given:
        for placed in messages.sentences.get(variable_id) or passage(texts[variable_id]):
            one = placed.sentence
            if one.is_metadata or len(one.stems) < _FEW_WORDS or messages.is_form(one):
                continue
            count += 1
            is_piece = any(one.text.strip() == detail.sentence.text.strip() for detail in details)
            nearest = _nearest(messages, variable_id, placed, outputs)
            if is_piece or nearest.score < HOLDS:
                text = shortened(one.text.strip())
                quote = shortened(nearest.quote.strip())
                found.append(Uncovered(variable_id=variable_id, text=text, is_piece=is_piece, nearest=quote))
    found.sort(key=lambda one: not one.is_piece)
    return Extraction(
        operation_id=operation_id,
        operation=operation_label(graph.operations[operation_id]),
        sentences=count,
        uncovered_count=len(found),
        uncovered=found[:MOST],
        facts=[Made(variable_id=one, text=shortened(texts[one])) for one in came[:MOST]],
    )


def _nearest(messages: Messages, variable_id: str, placed: Placed, outputs: Iterable[str]) -> Presence:
    """How surely a whole sentence is in the outputs, with the words that show it."""
    core = content(placed.sentence.text, messages.rarity, placed.reference)
    unique = messages.is_unique(placed.sentence)
    detail = Detail(
        variable_id, core, {}, placed.sentence, placed.reference, 1.0, unique, literal=False, rarity=messages.rarity
    )
    finder = DetailFinder(detail, lambda _: False)
    return max((finder.presence(text) for text in outputs), key=lambda one: one.score, default=Presence(0.0, ""))


def _outputs(graph: TraceGraph, operation_id: str) -> list[str]:
    """The last versions of an operation's outputs that others used; all outputs if none was used; without prompts."""
    made = [one for one in graph.made(operation_id) if graph.variables[one].kind is not VariableKind.PROMPT]
    replaced = {graph.variables[one].revision_of for one in made}
    last = [one for one in made if one not in replaced]
    return [one for one in last if goes_on(graph, one)] or last


async def change(sources: Sequence[FailureInTrace], operation_id: str) -> Change:
    """The inputs of an update or deletion, and what it did to each unit.

    Args:
        sources: the piece, once for each message that states the piece.
        operation_id: the update.
    """
    graph = sources[0].graph
    used = [graph.recorded(one) for one in graph.used(operation_id)]
    made = graph.made(operation_id)
    ended = [one for one in graph.variables if graph.invalidated_by(one) == operation_id]
    revised = [graph.variables[one].revision_of or "" for one in made]
    own = [one for one in (*used, *ended, *revised) if one in graph.variables and one not in made]
    units = dict.fromkeys(one for one in own if graph.variables[one].kind in STORED)
    units |= dict.fromkeys(await _shown(graph, operation_id))
    following = {unit: after for unit in units if (after := _next(graph, unit, made)) is not None}
    given = [one for one in used if one not in units and graph.variables[one].kind is not VariableKind.PROMPT]
    holders = await holding(sources, [*units, *following.values(), *given])
    texts = await graph.texts([*units, *following.values()])
    candidates = [_candidate(graph, one, following.get(one), one in ended, texts, holders) for one in units]
    candidates.sort(key=lambda one: (not one.held, _ORDER[one.fate]))
    new = [one for one in made if graph.variables[one].kind in STORED and graph.variables[one].revision_of is None]
    added = await graph.texts(new)
    return Change(
        operation_id=operation_id,
        operation=operation_label(graph.operations[operation_id]),
        given=[Made(variable_id=v, text=shortened(holders[v].quote.strip())) for v in given if v in holders][:MOST],
        candidates_count=len(candidates),
        candidates=candidates[:MOST],
        added=[Made(variable_id=one, text=shortened(added[one])) for one in new[:MOST]],
    )


def _next(graph: TraceGraph, unit: str, made: Sequence[str]) -> str | None:
    """The last version that an operation made of a unit."""
    current: str | None = None
    for one in made:
        if graph.variables[one].revision_of == (current or unit):
            current = one
    return current


def _candidate(
    graph: TraceGraph,
    unit: str,
    after: str | None,
    is_ended: bool,
    texts: dict[str, str],
    holders: dict[str, Presence],
) -> ShownUnit:
    variable = graph.variables[unit]
    old, new = texts[unit], texts.get(after or "")
    is_rewritten = new is not None and new != old
    fate = Fate.REWRITTEN if is_rewritten else Fate.DROPPED if is_ended and after is None else Fate.KEPT
    quote = holders[unit].quote.strip() if unit in holders else ""
    shown, changed = _windows(old, new or "", quote)
    return ShownUnit(
        variable_id=unit,
        external_id=variable.external_id,
        label=variable_label(variable),
        fate=fate,
        old=shown,
        new=changed if is_rewritten else None,
        new_variable_id=after,
        held=unit in holders,
        holds=after in holders if after else unit in holders and fate is not Fate.DROPPED,
    )


def _windows(old: str, new: str, quote: str) -> tuple[str, str]:
    """The parts of two versions around a quote of the first version, or without a quote around the first difference."""
    if max(len(old), len(new)) <= LONGEST:
        return old, new
    same = same_beginning(old, new)
    place = max(0, old.find(quote) if quote else same)
    # The text before the quote also precedes its replacement, unless that text changed, too.
    anchor = old[max(0, place - _TELLING) : place]
    there = place if place <= same else new.find(anchor) + len(anchor) if anchor in new else same
    return _window(old, place), _window(new, there)


def _window(text: str, place: int) -> str:
    start = max(0, min(place - LONGEST // 3, len(text) - LONGEST))
    part = text[start : start + LONGEST]
    return ("…" if start else "") + part + ("…" if start + len(part) < len(text) else "")


async def _shown(graph: TraceGraph, operation_id: str) -> list[str]:
    """The units that an operation read only in a prompt: units current at that time whose text is in the prompt."""
    place = graph.operations[operation_id].sequence
    at_hand = (*graph.used(operation_id), *graph.made(operation_id))
    prompts = [one for one in at_hand if graph.variables[one].kind is VariableKind.PROMPT]
    if not prompts:
        return []
    said = {piece for text in (await graph.texts(prompts)).values() for piece in _pieces(text)}
    current = [graph.current_version(versions, place) for versions in graph.lineages(graph.variables)]
    units = [one for one in current if one is not None and _is_small_unit(graph, one)]
    texts = await graph.texts(units)
    return [unit for unit in units if _is_said(texts[unit], said)]


def _is_small_unit(graph: TraceGraph, variable_id: str) -> bool:
    variable = graph.variables[variable_id]
    return variable.kind is VariableKind.MEMORY_UNIT and variable.size <= _LARGE


def _is_said(text: str, said: set[str]) -> bool:
    """Whether all identifying sentences of a unit are in a prompt; ids and times don't identify."""
    telling = [piece for piece in _pieces(text) if letters(piece) >= _TELLING and (" " in piece or not piece.isascii())]
    return bool(telling) and said.issuperset(telling)


def _pieces(text: str) -> list[str]:
    """The sentences of a text, with escaped quotes unescaped."""
    plain = text.replace('\\"', '"').replace("\\'", "'")
    return [piece.strip("\"' ") for _, piece in cut(plain)]
