"""Wording for boxes and edges, shared by pictures, pages and the command line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from attribution.spine.model import Box, Edge, Role, Spine, State
from schema.kinds import VariableKind

_SIGNS = {State.LOST: "✕", State.HAS: "✓", State.LACKS: "–"}
_NAMES = 2
"""The number of operation names listed for a box."""


@dataclass(frozen=True, slots=True)
class BoxPhrase:
    """One phrase about a box, understandable without colours.

    Attributes:
        state: the state of the pieces that the phrase is about; None for a phrase about the box itself.
    """

    state: State | None
    text: str


def states(spine: Spine, box: Box) -> Iterator[BoxPhrase]:
    """Phrases for the states of the pieces in a box, losses first; then other facts about the box."""
    for state in (State.LOST, State.HAS, State.LACKS):
        pieces = [one.piece for one in box.states if one.state is state]
        if pieces:
            yield BoxPhrase(state, f"{_SIGNS[state]} {_state(state, pieces, len(spine.pieces))}")
    if box.is_decisive:
        yield BoxPhrase(State.LOST, "◆ the operation to blame" if box.operations else "◆ by the operation to blame")
    if Role.EVIDENCE in box.roles and not box.is_past:
        yield BoxPhrase(None, "the answer was not made from it")


def _state(state: State, pieces: Sequence[int], count: int) -> str:
    if count == 1:
        return {
            State.LOST: "the fact is lost here",
            State.HAS: "has the fact",
            State.LACKS: "does not have the fact",
        }[state]
    named = numbers(pieces)
    if state is State.LOST:
        return f"{named} {'is' if len(pieces) == 1 else 'are'} lost here"
    return f"{'has' if state is State.HAS else 'does not have'} {named}"


def numbers(pieces: Sequence[int]) -> str:
    """The numbers of pieces, from 1: ``fact 2``, ``facts 1, 2 and 4``."""
    said = [str(piece + 1) for piece in pieces]
    if len(said) == 1:
        return f"fact {said[0]}"
    return f"facts {', '.join(said[:-1])} and {said[-1]}"


def role(box: Box) -> str:
    """The role of a box, if the kind does not already say it; empty otherwise."""
    for one, word in ((Role.EVIDENCE, "evidence"), (Role.QUESTION, "the question"), (Role.ANSWER, "the answer")):
        if one in box.roles and box.kind != VariableKind.ANSWER:
            return word
    return ""


def inside(box: Box) -> str:
    """The kinds of a group's members, if the name does not already say them: ``95 Message, 11 Prompt``."""
    if box.count == 1 or (len(box.kinds) == 1 and box.label == f"{box.kinds[0].kind} × {box.count}"):
        return ""
    return ", ".join(f"{one.count:,} {one.kind}" for one in box.kinds)


def made_by(edges: Iterable[Edge]) -> str:
    """The operations of the edges to a box: ``memory_update × 91, search``."""
    names: Counter[str] = Counter()
    for edge in edges:
        for one in edge.operations:
            names[one.name] += one.count
    ranked = sorted(names.items(), key=lambda item: (-item[1], item[0]))
    said = [operations(name, count) for name, count in ranked[:_NAMES]]
    if len(ranked) > _NAMES:
        said.append(f"{len(ranked) - _NAMES} more")
    return ", ".join(said)


def operations(name: str, count: int) -> str:
    """Operations of one name: ``search``, ``update × 12``."""
    return name if count == 1 else f"{name} × {count:,}"


def summary(spine: Spine) -> str:
    """The spine in one sentence."""
    lost = sum(edge.lost != [] for edge in spine.edges)
    boxes = "1 box stands" if len(spine.boxes) == 1 else f"{len(spine.boxes)} boxes stand"
    said = f"{boxes} for {spine.variables:,} variable{'' if spine.variables == 1 else 's'}"
    return f"{said}; the way is broken at {lost} {'place' if lost == 1 else 'places'}" if lost else said
