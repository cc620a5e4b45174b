"""Chooses what is on a spine: evidence, losses, question, answer, and what the answer was made from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from attribution.spine.model import Role, State
from attribution.verdicts.verdict import PieceLoss, Step, Verdict, own_loss
from schema.models import Derivation, Failure


@dataclass(frozen=True, slots=True)
class Link:
    """An operation that had a variable at hand, and should have brought a piece into its output.

    Attributes:
        source: a variable.
        target: a variable that the operation made; the operation itself if it made none.
        lost: the indexes of the pieces lost here.
    """

    source: str
    target: str
    operation_id: str
    lost: tuple[int, ...] = ()


@dataclass(slots=True)
class Chosen:
    """What is on a spine, by id of a variable, or of an operation that made nothing.

    Attributes:
        roles: why the element is on the spine.
        states: the state of each piece in the element.
        quotes: the words of a piece in the element.
        paths: the paths of the pieces, in order.
        links: connections without a derivation.
        lost: for pairs of variables, the pieces lost on the edge between them.
        operations: operations that made nothing, and stand on the spine themselves.
    """

    roles: dict[str, set[Role]] = field(default_factory=lambda: defaultdict(set))
    states: dict[str, dict[int, State]] = field(default_factory=lambda: defaultdict(dict))
    quotes: dict[str, str] = field(default_factory=dict)
    paths: list[list[str]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    lost: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    operations: set[str] = field(default_factory=set)


def losses(failure: Failure, verdict: Verdict | None) -> Sequence[PieceLoss]:
    """The pieces of a verdict; for a verdict without pieces, the evidence that its path quotes.

    A path that begins at the question follows no piece.
    """
    if verdict is None:
        return ()
    return [
        one
        for one in verdict.losses or own_loss(verdict)
        if not one.path or one.path[0].variable_id != failure.question_id
    ]


def evidence_of(failure: Failure, verdict: Verdict | None) -> list[str]:
    """The messages that state the right answer: named by the failure, or else found by the verdict."""
    found = [] if verdict is None else verdict.details.get("evidence", [])
    named: Iterable[str] = failure.evidence_ids or (one for one in found if isinstance(one, str))
    return list(dict.fromkeys(named))


def roots(failure: Failure, verdict: Verdict | None) -> list[str]:
    """The variables whose backward closures contain the whole spine, in order."""
    found = [failure.answer_id, failure.question_id, *evidence_of(failure, verdict)]
    found += [step.variable_id for loss in losses(failure, verdict) for step in loss.path]
    return list(dict.fromkeys(one for one in found if one is not None))


def break_of(loss: PieceLoss) -> int | None:
    """The index of the step in a loss's path that lost the piece; None if there is no such step.

    Of several such steps, the step of the operation that lost the piece is taken, else the last.
    """
    path = loss.path
    places = [place for place in range(1, len(path)) if path[place - 1].holds and not path[place].holds]
    blamed = [place for place in places if path[place].operation_id == loss.operation_id]
    return max(blamed or places, default=None)


def choose(
    failure: Failure, verdict: Verdict | None, known: Iterable[str], derivations: Sequence[Derivation]
) -> Chosen:
    """What is on the spine of a failure.

    Args:
        failure: with question, answer and evidence.
        verdict: names the losses; None without a verdict.
        known: the ids of the known variables; other ids are ignored.
        derivations: between known variables.
    """
    there = set(known)
    chosen = Chosen()
    for id_ in evidence_of(failure, verdict):
        if id_ in there:
            chosen.roles[id_].add(Role.EVIDENCE)
    if failure.question_id in there:
        chosen.roles[failure.question_id].add(Role.QUESTION)
    answer = failure.answer_id
    if answer is not None and answer in there:
        chosen.roles[answer].add(Role.ANSWER)
        for derivation in derivations:
            if derivation.target == answer:
                chosen.roles[derivation.source].add(Role.READ)
    joined = {(derivation.source, derivation.target) for derivation in derivations}
    for number, loss in enumerate(losses(failure, verdict)):
        _follow(chosen, number, loss, there, joined)
        if loss.reached and answer in chosen.roles and answer is not None:
            chosen.states[answer][number] = State.HAS
    return chosen


def _follow(chosen: Chosen, number: int, loss: PieceLoss, there: set[str], joined: set[tuple[str, str]]) -> None:
    """Add the path of a piece."""
    broken = None if loss.reached else break_of(loss)
    path = [(place, step) for place, step in enumerate(loss.path) if step.variable_id in there]
    chosen.paths.append([step.variable_id for _, step in path])
    for place, step in path:
        chosen.roles[step.variable_id].add(Role.LOSS if place == broken else Role.PATH)
        if step.holds or not loss.reached:
            chosen.states[step.variable_id][number] = _state(step, place == broken)
        if step.quote and step.holds:
            chosen.quotes.setdefault(step.variable_id, step.quote)
    for (_, before), (place, step) in pairwise(path):
        ends = (before.variable_id, step.variable_id)
        lost = (number,) if place == broken else ()
        if place == broken:
            chosen.roles[before.variable_id].add(Role.HOLDER)
        if ends in joined:
            chosen.lost[ends] += lost
        elif step.operation_id is not None and ends[0] != ends[1]:
            chosen.links.append(Link(*ends, step.operation_id, lost))
    holders = [step for _, step in path if step.holds]
    if loss.operation_id is not None and broken is None and holders:
        # The operation made nothing that could lack the piece, so it stands on the spine itself.
        last = holders[-1].variable_id
        chosen.operations.add(loss.operation_id)
        chosen.roles[last].add(Role.HOLDER)
        chosen.roles[loss.operation_id].add(Role.LOSS)
        chosen.states[loss.operation_id][number] = State.LOST
        chosen.links.append(Link(last, loss.operation_id, loss.operation_id, (number,)))


def _state(step: Step, is_break: bool) -> State:
    if is_break:
        return State.LOST
    return State.HAS if step.holds else State.LACKS
