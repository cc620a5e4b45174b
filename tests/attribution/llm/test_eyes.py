"""A model's judgements beside the free pass's findings: when a judgement is asked for, and which odds it changes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from attribution.free_pass.rules import Finding
from attribution.llm.walk.asking import DROPPED, HOLDS, SAME, SUPPORTS, Opinion
from attribution.llm.walk.passages import LONGEST, Passage, around
from attribution.llm.walk.reliability import Counts, Reliability, changed
from attribution.llm.walk.walk import ModelEyes, weighed
from attribution.needed.presence import HOLDS as THRESHOLD
from attribution.needed.presence import Presence
from attribution.text.segments import passage
from attribution.verdicts.probabilities import likely, score_of
from schema.kinds import ErrorType, Origin
from schema.models import Failure
from tests.attribution.llm.judging import knowing

GOOD = Counts((20, 20, 0), (20, 0, 20))
"""A yes and a no each change the odds by the factor 41."""
FAIR = Counts((20, 16, 4), (20, 3, 17))
"""A yes changes the odds by less than the factor 9."""
YES = GOOD.factor(yes=True)


class _Asker:
    """Says the same to every judgement, and keeps what was asked."""

    def __init__(self, said: Any) -> None:
        self.said = said
        self.asked: list[Any] = []

    async def same(self, *given: Any) -> Any:
        self.asked.append(given)
        return self.said

    async def dropped(self, *given: Any) -> Any:
        self.asked.append(given)
        return self.said


def _eyes(said: Any, counts: Counts = GOOD, **kinds: Any) -> tuple[ModelEyes, _Asker]:
    asker: Any = _Asker(said)
    right = {DROPPED: (9, 9)}
    known = {SAME: counts, HOLDS: counts, SUPPORTS: counts} | kinds
    return ModelEyes(asker, knowing(Reliability(known, right, 3))), asker


def _finding(error_type: ErrorType | None, likelihood: float, operation: str | None = None) -> Finding:
    return Finding(error_type, operation, likelihood, "because", tuple)  # type: ignore[arg-type]


def _tried(answer: str | None = "In spring.", golds: tuple[str, ...] = ("March",), **other: Any) -> Any:
    failure = Failure("f", "p", "t", Origin.USER, "q", "a", None, (), "When did she move?", answer, golds, None)
    return SimpleNamespace(**{"failure": failure, "is_gold_free": False} | other)


ASKED = [
    (0.03, {}, True),
    (0.029, {}, False),
    (0.97, {}, True),
    (0.971, {}, False),
    (0.4, {"answer": None}, True),
    (0.4, {"answer": "x" * 400}, True),
    (0.4, {"answer": "x" * 401}, False),
    (0.4, {"answer": "I don't know."}, False),
    (0.4, {"is_gold_free": True}, False),
    (0.4, {"golds": ("Right.\n\nAs we agreed, the hull comes first.",)}, False),
]


@pytest.mark.parametrize(("likelihood", "other", "is_asked"), ASKED)
async def test_when_it_is_asked_whether_an_answer_is_right(likelihood: float, other: Any, is_asked: bool) -> None:
    eyes, asker = _eyes(Opinion(False))
    found = await eyes.on_answer(_tried(**other), [_finding(ErrorType.JUDGE, likelihood)])
    assert bool(asker.asked) is is_asked
    assert (found[0].likelihood != likelihood) is is_asked


async def test_a_model_that_guesses_is_not_asked() -> None:
    guess = Counts((20, 10, 10), (20, 10, 10))
    for one in (_eyes(Opinion(True), guess), _eyes(Opinion(True), **{SAME: Counts()})):
        assert (await one[0].on_answer(_tried(), [_finding(ErrorType.JUDGE, 0.4)]))[0].likelihood == 0.4
        assert one[1].asked == []
    eyes, asker = _eyes(Opinion(True))
    assert await eyes.on_answer(_tried(), [_finding(ErrorType.RESPONSE, 0.4)]) == [_finding(ErrorType.RESPONSE, 0.4)]
    assert asker.asked == []


@pytest.mark.parametrize(
    ("said", "counts", "before", "after"),
    [
        (None, GOOD, 0.4, 0.4),
        (Opinion(False), GOOD, 0.4, changed(0.4, 1 / YES)),
        (Opinion(True, "spring"), GOOD, 0.4, changed(0.4, YES)),
        (Opinion(True, "spring"), FAIR, 0.4, 0.49),
        (Opinion(True, "spring"), FAIR, 0.495, 0.495),
        (Opinion(True, "spring"), FAIR, 0.1, changed(0.1, FAIR.factor(yes=True))),
        (Opinion(True, "spring"), FAIR, 0.5, changed(0.5, FAIR.factor(yes=True))),
    ],
)
async def test_only_a_model_that_is_hardly_ever_wrong_dismisses(
    said: Any, counts: Counts, before: float, after: float
) -> None:
    eyes, asker = _eyes(said, counts)
    others = [_finding(ErrorType.ANNOTATION, 0.2), _finding(ErrorType.JUDGE, before), _finding(ErrorType.RESPONSE, 0.3)]
    found = await eyes.on_answer(_tried(), others)
    assert asker.asked == [("When did she move?", ("March",), "In spring.")]
    assert [one.likelihood for one in found] == pytest.approx([0.2, after, 0.3])
    noted: list[dict[str, Any]] = []
    if said is not None:
        factor = round(counts.factor(yes=said.yes), 2)
        noted = [{"asked": SAME, "text": "In spring.", "said": said.yes, "factor": factor}]
        noted[0] |= {"quote": said.quote} if said.quote else {}
    assert eyes.judgements == noted


HELD = Presence(score_of(0.9, THRESHOLD), "in March 2025")
SOME = Passage("in March", "in March", ("v",))
OTHER = Passage("in Leeds", "in Leeds", ("v",))


@pytest.mark.parametrize(
    ("before", "said", "wanted"),
    [
        (Presence(0.0, ""), [(SOME, "March")], (changed(0.1, YES), "March")),
        (Presence(0.0, ""), [(OTHER, ""), (SOME, "March")], (changed(0.1, YES), "March")),
        (HELD, [(SOME, "March")], (changed(0.9, YES), "March")),
        (Presence(score_of(0.999, THRESHOLD), "all"), [(SOME, "March")], (changed(0.999, YES), "March")),
        (HELD, [(SOME, "")], (changed(0.9, 1 / YES), "in March 2025")),
        (HELD, [(OTHER, "")], (0.9, "in March 2025")),
        (HELD, [(OTHER, ""), (SOME, "")], (changed(0.9, 1 / YES), "in March 2025")),
        (
            Presence(HELD.score, " March "),
            [(Passage("It was in March.", "", ("v",)), "")],
            (changed(0.9, 1 / YES), " March "),
        ),
        (Presence(HELD.score, ""), [(OTHER, "")], (changed(0.9, 1 / YES), "")),
    ],
)
def test_one_yes_is_enough_and_a_no_is_about_its_passage(
    before: Presence, said: list[tuple[Passage, str]], wanted: tuple[float, str]
) -> None:
    found = weighed(before, said, Reliability({HOLDS: GOOD}))
    assert found.quote == wanted[1]
    assert likely(found.score, THRESHOLD) == pytest.approx(min(wanted[0], 0.999), abs=1e-9)


def test_a_yes_that_makes_nothing_likelier_changes_nothing() -> None:
    guess = Reliability({HOLDS: Counts((20, 10, 10), (20, 10, 10))})
    assert weighed(HELD, [(SOME, "March")], guess) is HELD


class _Graph:
    """Operations in the order of their names' numbers; each used and made one variable."""

    operations: Any

    def __init__(self, *names: str) -> None:
        self.operations = {
            one: SimpleNamespace(sequence=int(one[2:]), kind="Update", name=f"n{one}" * 40) for one in names
        }

    def used(self, operation_id: str) -> list[str]:
        return [f"used-{operation_id}", f"other-{operation_id}"]

    def made(self, operation_id: str) -> list[str]:
        return []

    async def text(self, variable_id: str) -> str:
        return f" text of {variable_id} " + "x" * 300


class _Traced:
    """A traced piece, in the first variable of each operation."""

    def __init__(self, *names: str) -> None:
        self.graph = _Graph(*names)
        self.failure = _tried().failure
        self.detail = SimpleNamespace(literal=True, quote="She moved in March.")

    async def presence(self, variable_ids: Any) -> dict[str, Presence]:
        return {one: Presence(1.0 if one.startswith("used") else 0.0, "") for one in variable_ids}


def _steps(*likelihoods: float) -> list[Finding]:
    return [_finding(ErrorType.UPDATE, one, f"op{number}") for number, one in enumerate(likelihoods, 1)]


@pytest.mark.parametrize(
    ("findings", "said", "wanted"),
    [
        (_steps(0.6), 0, None),
        (_steps(0.6, 0.4), None, ["op1", "op2"]),
        (_steps(0.6, 0.4), 0, ["op1", "op2"]),
        (_steps(0.6, 0.4), 1, ["op2", "op1"]),
        (_steps(0.4, 0.3), 1, ["op2", "op1"]),
        (_steps(0.2, 0.3, 0.2), 2, ["op3", "op1", "op2"]),
        (_steps(0.96, 0.9), 1, None),  # 0.036 of the probability is left for the second one
        (_steps(0.94, 0.9), 1, ["op1", "op2"]),
        (_steps(0.2, 0.2, 0.2, 0.2), 0, ["op1", "op2", "op3", "op4"]),
        (_steps(0.2, 0.2, 0.2, 0.2, 0.2), 0, None),
        ([_finding(ErrorType.JUDGE, 0.4, "op1"), *_steps(0.3)], 0, None),
        ([_finding(ErrorType.RETRIEVAL, 0.4), _finding(ErrorType.UPDATE, 0.3, "op1")], 0, None),
    ],
)
async def test_which_step_dropped_the_piece(findings: list[Finding], said: Any, wanted: list[str] | None) -> None:
    eyes, asker = _eyes(said)
    traced: Any = _Traced(*[f"op{number}" for number in range(1, 6)])
    found = await eyes.on_steps(traced, findings)
    assert bool(asker.asked) is (wanted is not None)
    if wanted is None:
        assert found == findings
        return
    assert [one.operation_id for one in found] == wanted
    if said is None:
        assert eyes.judgements == []
    else:
        shown = asker.asked[0][1][said]
        assert (shown.name, shown.made) == (f"Update: {f'nop{said + 1}' * 40}"[:80], "")
        assert shown.given == f"text of used-op{said + 1} {'x' * 300}"[:LONGEST]
        assert eyes.judgements == [{"asked": DROPPED, "text": shown.name, "said": True, "factor": 38.0}]


@pytest.mark.parametrize(
    ("start", "is_shown"),
    [("Mara (1 May): ", True), ("x" * 59 + " ", True), ("x" * 60 + " ", False)],
)
def test_the_beginning_of_a_line_is_shown_with_its_sentence(start: str, is_shown: bool) -> None:
    text = f"An earlier line.\n{start}Hello there. She moved to Leeds in March."
    placed = next(one for one in passage(text) if "Leeds" in one.sentence.text)
    sentence = placed.sentence.text
    before = text[text.rindex("\n") + 1 : placed.start]
    assert around(text, placed) == (f"{before}{sentence}" if len(before) <= 60 else sentence)[:LONGEST]
    assert is_shown or around(text, placed).startswith("She")
