"""What must hold of every spine, checked without anything that makes it: each rule by looking at all there is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from attribution.spine.choose import losses
from attribution.spine.model import Role, Spine, State
from attribution.verdicts.naming import plain
from attribution.verdicts.verdict import Link, PieceLoss, Verdict
from schema.models import Derivation, Failure


def past(roots: Iterable[str], derivations: Iterable[Derivation]) -> set[str]:
    """All that some variables depend on, themselves included, from a list of derivations."""
    sources = defaultdict(list)
    for one in derivations:
        sources[one.target].append(one.source)
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting += sources[current]
    return found


def check(
    spine: Spine, failure: Failure, verdict: Verdict | None, derivations: Sequence[Derivation], most: int
) -> None:
    """Check all that is promised of a spine.

    Args:
        spine: what is checked.
        failure: whose spine it is.
        verdict: what is said of it.
        derivations: all of the trace.
        most: boxes that were allowed.
    """
    assert len(spine.boxes) <= most
    box_of = {id_: number for number, box in enumerate(spine.boxes) for id_ in (*box.variables, *box.operations)}
    assert len(box_of) == sum(box.count for box in spine.boxes), "a member is in two boxes"
    pieces = losses(failure, verdict)
    found = verdict.details.get("evidence", []) if verdict else []
    evidence = failure.evidence_ids or found
    steps = [step.variable_id for piece in pieces for step in piece.path]
    roots = [failure.answer_id, failure.question_id, *evidence, *steps]
    whole = past([one for one in roots if one is not None], derivations)
    variables = {id_ for box in spine.boxes for id_ in box.variables}
    assert variables == whole, "a variable of the past is in no box, or one of a box is not of the past"
    assert spine.variables == len(whole)
    _check_edges(spine, box_of, derivations, pieces)
    _check_no_cycle(spine)
    _check_ways(spine, box_of, [one for one in derivations if one.target in whole])
    for id_ in evidence:
        assert Role.EVIDENCE in spine.boxes[box_of[id_]].roles
    assert Role.QUESTION in spine.boxes[box_of[failure.question_id]].roles
    if failure.answer_id is not None:
        answer = spine.boxes[box_of[failure.answer_id]]
        assert Role.ANSWER in answer.roles
        reached = past([failure.answer_id], derivations)
        for box in spine.boxes:
            assert box.is_past == (not reached.isdisjoint(box.variables))
    for number, piece in enumerate(pieces):
        _check_piece(spine, box_of, number, piece)
    for box in spine.boxes:
        assert plain(box.label) == box.label, "a digest says nothing to people"
        assert sum(one.count for one in box.kinds) == box.count


def _check_edges(
    spine: Spine, box_of: Mapping[str, int], derivations: Sequence[Derivation], pieces: Sequence[PieceLoss]
) -> None:
    """An edge for each pair of boxes that a derivation joins, and no other but those to what lost a piece."""
    expected: dict[tuple[int, int], list[str]] = defaultdict(list)
    for one in derivations:
        if one.target in box_of and one.source in box_of and box_of[one.source] != box_of[one.target]:
            expected[box_of[one.source], box_of[one.target]].append(one.operation_id)
    told = {(edge.source, edge.target): edge for edge in spine.edges}
    assert len(told) == len(spine.edges)
    for ends, operations in expected.items():
        assert told[ends].derivations == len(operations), "a derivation is left out, or invented"
        assert sum(one.count for one in told[ends].operations) >= len(set(operations))
    links = {
        (box_of[before.variable_id], box_of[step.variable_id])
        for piece in pieces
        for before, step in zip(piece.path, piece.path[1:], strict=False)
        if step.link is Link.OPERATION or not step.holds
    }
    for ends, edge in told.items():
        if ends not in expected:
            assert edge.derivations == 0
            assert ends in links or spine.boxes[ends[1]].operations, "an edge is invented"


def _check_no_cycle(spine: Spine) -> None:
    for edge in spine.edges:
        assert spine.boxes[edge.source].layer < spine.boxes[edge.target].layer
    assert min((box.layer for box in spine.boxes), default=0) == 0
    assert [box.layer for box in spine.boxes] == sorted(box.layer for box in spine.boxes)


def _check_ways(spine: Spine, box_of: Mapping[str, int], derivations: Sequence[Derivation]) -> None:
    """Wherever a way leads from a member of a box to one of another, a way leads from box to box."""
    order = sorted(range(len(spine.boxes)), key=lambda number: spine.boxes[number].layer)
    reached = {number: {number} for number in order}
    for number in reversed(order):
        for edge in spine.edges:
            if edge.source == number:
                reached[number] |= reached[edge.target]
    targets = defaultdict(list)
    for one in derivations:
        targets[one.source].append(one.target)
    for number, box in enumerate(spine.boxes):
        seen: set[str] = set()
        waiting = list(box.variables)
        while waiting:
            for target in targets[waiting.pop()]:
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        assert {box_of[id_] for id_ in seen} <= reached[number]


def _check_piece(spine: Spine, box_of: Mapping[str, int], number: int, piece: PieceLoss) -> None:
    """Check that boxes show where a piece was and where it was lost, and that the loss lies on an edge."""
    states = {place: one.state for place, box in enumerate(spine.boxes) for one in box.states if one.piece == number}
    for step in piece.path:
        if step.holds:
            assert states[box_of[step.variable_id]] in {State.HAS, State.LOST}
    pairs = list(zip(piece.path, piece.path[1:], strict=False))
    breaks = [(a.variable_id, b.variable_id) for a, b in pairs if a.holds and not b.holds]
    if piece.reached or piece.operation_id is None:
        return
    if not breaks:
        assert states[box_of[piece.operation_id]] is State.LOST
        return
    lost = [(box_of[a], box_of[b]) for a, b in breaks if states[box_of[b]] is State.LOST]
    assert lost, "a loss is not told"
    broken = {(edge.source, edge.target) for edge in spine.edges if number in edge.lost}
    assert broken & set(lost) or any(a == b for a, b in lost), "a loss is on no edge"
