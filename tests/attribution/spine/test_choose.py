"""What is on a spine, and which step of a path is the break."""

from __future__ import annotations

from dataclasses import replace

import pytest

from attribution.spine.choose import Link as LinkBetween
from attribution.spine.choose import break_of, choose, evidence_of, losses, roots
from attribution.spine.model import Role, State
from attribution.verdicts.verdict import Link, PieceLoss, Step, Verdict
from schema.kinds import ErrorType
from schema.models import Derivation, Failure
from tests.factory import TraceBuilder


@pytest.mark.parametrize(
    ("holds", "operation", "expected"),
    [
        ([True, False, True, False], "operation 1", 1),
        ([True, False, True, False], "operation 3", 3),
        ([True, False, True, False], None, 3),
        ([True, True, False, False], "operation 3", 2),
        ([True, True], "operation 1", None),
        ([], None, None),
    ],
)
def test_the_blamed_operation_breaks_a_path_that_breaks_twice(
    holds: list[bool], operation: str | None, expected: int | None
) -> None:
    path = tuple(
        Step(f"variable {place}", f"operation {place}", Link.DERIVATION, "", holds=one)
        for place, one in enumerate(holds)
    )
    assert break_of(PieceLoss("a piece", ErrorType.UPDATE, operation, 0.9, "a reason", path)) == expected


def failure(*evidence: str) -> Failure:
    built = TraceBuilder("p")
    question = replace(built.variable("q"), id="q")
    built.texts[question.value_hash] = "?"
    return replace(built.failure(question), question_id="q", answer_id="a", evidence_ids=evidence)


def loss(path: str, operation: str | None = "lost", *, reached: bool = False) -> PieceLoss:
    """A loss whose path is a word per step: the variable, and ``-`` where the piece is gone."""
    steps = tuple(
        Step(word.rstrip("-"), f"to {word.rstrip('-')}", Link.DERIVATION, f"in {word}", holds=not word.endswith("-"))
        for word in path.split()
    )
    return PieceLoss("a piece", ErrorType.UPDATE, operation, 0.9, "a reason", steps, reached=reached)


def verdict(*pieces: PieceLoss, **details: object) -> Verdict:
    return Verdict(ErrorType.UPDATE, "lost", 0.9, "a reason", losses=pieces, details=details)


def edge(source: str, target: str) -> Derivation:
    built = TraceBuilder("p")
    made = built.variable("t")
    (found,) = built.derive(made, built.variable("s"), by=built.operation("o"))
    return replace(found, source=source, target=target)


def test_without_a_verdict_question_answer_and_evidence_are_chosen() -> None:
    edges = [edge("c", "a"), edge("m", "c")]
    chosen = choose(failure("m", "gone"), None, ["q", "a", "m", "c"], edges)
    assert dict(chosen.roles) == {"m": {Role.EVIDENCE}, "q": {Role.QUESTION}, "a": {Role.ANSWER}, "c": {Role.READ}}
    assert (chosen.paths, chosen.links, chosen.operations) == ([], [], set())
    assert dict(choose(failure(), None, ["m"], edges).roles) == {}


def test_the_path_of_a_piece_breaks_on_an_edge() -> None:
    edges = [edge("m", "u"), edge("u", "c"), edge("c", "a")]
    chosen = choose(failure("m"), verdict(loss("m u c- a-", "to c")), ["q", "a", "m", "u", "c"], edges)
    assert chosen.paths == [["m", "u", "c", "a"]]
    assert dict(chosen.roles) == {
        "m": {Role.EVIDENCE, Role.PATH},
        "q": {Role.QUESTION},
        "a": {Role.ANSWER, Role.PATH},
        "c": {Role.READ, Role.LOSS},
        "u": {Role.PATH, Role.HOLDER},
    }
    states = {"m": {0: State.HAS}, "u": {0: State.HAS}, "c": {0: State.LOST}, "a": {0: State.LACKS}}
    assert dict(chosen.states) == states
    assert chosen.quotes == {"m": "in m", "u": "in u"}
    assert {ends: lost for ends, lost in chosen.lost.items() if lost} == {("u", "c"): [0]}
    assert (chosen.links, chosen.operations) == ([], set())


def test_steps_without_a_derivation_are_linked_by_their_operation() -> None:
    chosen = choose(failure(), verdict(loss("m u c-", "to c"), loss("m u")), ["m", "u", "c"], [])
    assert chosen.links[:3] == [
        LinkBetween("m", "u", "to u"),
        LinkBetween("u", "c", "to c", (0,)),
        LinkBetween("m", "u", "to u"),
    ]
    assert chosen.links[3:] == [LinkBetween("u", "lost", "lost", (1,))]
    assert chosen.operations == {"lost"}
    assert chosen.roles["lost"] == {Role.LOSS}
    assert chosen.states["lost"] == {1: State.LOST}
    assert Role.HOLDER in chosen.roles["u"]


@pytest.mark.parametrize(
    ("piece", "operations"),
    [(loss("m u"), {"lost"}), (loss("m u", None), set()), (loss("m- u-"), set()), (loss("m u-", "to u"), set())],
)
def test_an_operation_that_made_nothing_stands_itself(piece: PieceLoss, operations: set[str]) -> None:
    assert choose(failure(), verdict(piece), ["m", "u"], []).operations == operations


def test_a_piece_that_reached_the_answer() -> None:
    chosen = choose(failure(), verdict(loss("m u-", None, reached=True)), ["m", "u", "a"], [edge("m", "u")])
    assert dict(chosen.states) == {"m": {0: State.HAS}, "a": {0: State.HAS}}
    assert chosen.roles["u"] == {Role.PATH}
    without_answer = choose(failure(), verdict(loss("m u-", None, reached=True)), ["m", "u"], [])
    assert dict(without_answer.states) == {"m": {0: State.HAS}}


def test_unknown_variables_are_passed_over() -> None:
    chosen = choose(failure(), verdict(loss("m gone u")), ["m", "u"], [edge("m", "u")])
    assert chosen.paths == [["m", "u"]]
    assert set(chosen.roles) == {"m", "u", "lost"}
    assert chosen.links == [LinkBetween("u", "lost", "lost", (0,))]


def test_pieces_of_a_verdict() -> None:
    of_question, of_message = loss("q u"), loss("m u")
    assert losses(failure(), None) == ()
    assert losses(failure(), verdict(of_question, of_message)) == [of_message]
    assert losses(failure(), verdict(loss(""))) == [loss("")]


@pytest.mark.parametrize(
    ("named", "found", "evidence"),
    [((), [], []), (("m", "m", "n"), ["x"], ["m", "n"]), ((), ["x", 7, "y", "x"], ["x", "y"])],
)
def test_evidence_and_the_variables_to_look_behind(
    named: tuple[str, ...], found: list[object], evidence: list[str]
) -> None:
    said = verdict(loss("u a v"), evidence=found)
    assert evidence_of(failure(*named), said) == evidence
    assert roots(failure(*named), said) == ["a", "q", *evidence, "u", "v"]
    assert evidence_of(failure(*named), None) == list(dict.fromkeys(named))
    assert roots(replace(failure(*named), answer_id=None), None) == ["q", *dict.fromkeys(named)]
