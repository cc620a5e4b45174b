"""The gate lets honest changes through and nothing else; its statistics are checked against enumeration and scipy."""

from __future__ import annotations

import itertools
import random

import pytest

from optimization.gate.gate import Rules, Scored, Seen, against_texts, decide, refusal
from optimization.gate.prompts import learnt_by_heart, placeholders
from optimization.gate.statistics import controls_needed, conversations_needed, sign_flip, upper_bound
from schema.errors import InputError

RULES = Rules()
SEEN = Seen(gold=("Bo", "Ghent", "on Tuesday"), questions=("What is the dog called?", "Where does she live?"))


def _answers(rights: dict[str, str]) -> list[Scored]:
    """Answers by conversation: a text of 1 (right) and 0 (wrong)."""
    return [
        Scored(conversation, f"q{number}", mark == "1")
        for conversation, marks in rights.items()
        for number, mark in enumerate(marks)
    ]


@pytest.mark.parametrize("differences", [[1, 1, 1], [2, -1, 0, 3, 1], [-1, -2], [0, 0], [1, 1, 1, 1, 1, -1, 4, 2, -3]])
def test_the_sign_flip_is_exact(differences: list[int]) -> None:
    changed = [one for one in differences if one]
    worlds = [
        sum(one * sign for one, sign in zip(changed, signs, strict=True))
        for signs in itertools.product((1, -1), repeat=len(changed))
    ]
    expected = sum(total >= sum(changed) for total in worlds) / len(worlds)
    assert sign_flip(differences) == pytest.approx(expected)


def test_the_sign_flip_of_many_conversations_is_quick() -> None:
    assert sign_flip([1] * 400) == pytest.approx(2.0**-400)


@pytest.mark.parametrize(("events", "trials"), [(0, 29), (0, 59), (1, 50), (7, 40), (39, 40)])
def test_the_bound_is_that_of_clopper_and_pearson(events: int, trials: int) -> None:
    from scipy.stats import beta  # takes two seconds

    assert upper_bound(events, trials, 0.05) == pytest.approx(beta.ppf(0.95, events + 1, trials - events), abs=1e-9)


def test_numbers_that_are_needed() -> None:
    assert controls_needed(0.10, 0.05) == 29
    assert controls_needed(0.05, 0.05) == 59
    assert upper_bound(0, 28, 0.05) > 0.10 >= upper_bound(0, 29, 0.05)
    assert conversations_needed(0.05) == 5
    assert sign_flip([1] * 5) <= 0.05 < sign_flip([1] * 4)
    assert upper_bound(3, 3, 0.05) == upper_bound(0, 0, 0.05) == 1.0


def test_an_honest_change_passes() -> None:
    before = _answers({f"c{number}": "1100" for number in range(18)})
    after = _answers({f"c{number}": "1110" for number in range(18)})
    found = decide(before, after, RULES, cost_before=100.0, cost_after=110.0)
    assert (found.accepted, found.reasons, found.better, found.harmed, found.controls) == (True, (), 18, 0, 36)
    assert found.p == pytest.approx(2.0**-18)
    assert found.cost == pytest.approx(1.1)


def test_one_that_breaks_what_was_right_does_not() -> None:
    before = _answers({f"c{number}": "11000" for number in range(18)})
    after = _answers({f"c{number}": "10110" if number < 7 else "11110" for number in range(18)})
    found = decide(before, after, RULES)
    assert not found.accepted
    (reason,) = found.reasons
    assert reason.startswith(
        "it may harm what was right: 7 of 36 right answers are wrong now, which may be up to 33.4%"
    )


def test_one_that_is_dearer_than_allowed_does_not() -> None:
    before = _answers({f"c{number}": "1100" for number in range(18)})
    after = _answers({f"c{number}": "1110" for number in range(18)})
    found = decide(before, after, RULES, cost_before=100.0, cost_after=200.0)
    assert found.reasons == ("it costs 2.00 times as much as before, where 1.25 times is the most",)


@pytest.mark.parametrize(
    ("before", "after", "passes"), [(100.0, 125.0, True), (100.0, 125.1, False), (0.0, 9.0, True), (8.0, 0.0, True)]
)
def test_the_cost_may_reach_the_factor(before: float, after: float, passes: bool) -> None:
    old = _answers({f"c{number}": "1100" for number in range(18)})
    new = _answers({f"c{number}": "1110" for number in range(18)})
    found = decide(old, new, RULES, cost_before=before, cost_after=after)
    assert (found.accepted, found.cost) == (passes, after / before if before else None)


def test_a_decision_tells_its_counts_and_all_reasons() -> None:
    before = {"c0": "110", "c1": "100", "c2": "110", "c3": "000"}
    after = {"c0": "111", "c1": "000", "c2": "011", "c3": "100"}
    found = decide(_answers(before), _answers(after), RULES, 1.0, 2.0)
    assert (found.better, found.worse, found.controls, found.harmed, found.cost) == (2, 1, 5, 2, 2.0)
    assert found.bound == upper_bound(2, 5, RULES.level)
    assert found.p == sign_flip([1, -1, 0, 1])
    starts = ("the gate has 4 conversations", "it is not shown to be better", "it may harm", "it costs 2.00 times")
    assert [reason.startswith(start) for reason, start in zip(found.reasons, starts, strict=True)] == [True] * 4


def test_each_attempt_has_its_share_of_alpha() -> None:
    before = _answers({f"c{number}": "1" * 30 + "0" for number in range(5)})
    after = _answers({f"c{number}": "1" * 31 for number in range(5)})
    assert decide(before, after, Rules(alpha=2.0**-5)).accepted
    assert not decide(before, after, Rules(alpha=2.0**-4, attempts=3)).accepted
    assert decide(before, after, Rules(alpha=2.0**-4, attempts=2)).accepted


def test_too_few_conversations_or_controls_are_refused_before_anything_is_paid() -> None:
    few = _answers({f"c{number}": "10" for number in range(4)})
    assert "has 4 conversations, and needs at least 5" in str(refusal(few, RULES))
    few_right = _answers({f"c{number}": "10" for number in range(28)})
    assert "28 answers of the gate are right, and 29 are needed" in str(refusal(few_right, RULES))
    enough = _answers({f"c{number}": "10" for number in range(29)})
    assert refusal(enough, RULES) is None
    assert "all answers of the gate are right" in str(refusal(_answers({f"c{n}": "1" for n in range(30)}), RULES))
    assert refusal(enough, Rules(attempts=4)) is not None


def test_answers_of_other_questions_are_no_comparison() -> None:
    with pytest.raises(InputError, match="c0 q1: was answered on one side only"):
        decide(_answers({"c0": "10"}), _answers({"c0": "1"}), RULES)
    with pytest.raises(InputError, match="a question was answered twice"):
        decide([Scored("c", "q", True)] * 2, [Scored("c", "q", True)], RULES)


def test_null_changes_are_accepted_as_seldom_as_said() -> None:
    """Answers of a conversation use the same memory, so they improve or worsen together."""
    chance = random.Random(20261124)
    accepted = 0
    for _ in range(1000):
        before: list[Scored] = []
        after: list[Scored] = []
        for conversation in range(20):
            memory = chance.random(), chance.random()
            for question in range(6):
                asked = chance.random()
                for answers, luck in ((before, memory[0]), (after, memory[1])):
                    right = asked < 0.75 or chance.random() < 0.9 * (luck > 0.5)
                    answers.append(Scored(f"c{conversation}", f"q{question}", right))
        accepted += decide(before, after, Rules(margin=0.5)).accepted
    assert 0 < accepted <= 50


def test_texts() -> None:
    old = {"extraction": "Extract facts from {message} about ${user}.", "answer": "Answer {{ question }}: %(notes)s"}
    assert against_texts(old, old, SEEN) == ("the prompts are the same",)
    better = {**old, "extraction": "Extract each fact, also names and days, from {message} about ${user}."}
    assert against_texts(old, better, SEEN) == ()
    dropped = {**old, "extraction": "Extract facts from the message about ${user} {user}."}
    assert against_texts(old, dropped, SEEN) == (
        "the prompt extraction has other placeholders than before: {message}, {user}",
    )
    by_heart = {**old, "answer": "If asked for the dog, say Bo. Answer {{question}}: %(notes)s. Ghent on Tuesday."}
    assert against_texts(old, by_heart, SEEN) == ("the prompt answer has learnt answers by heart: bo, ghent, tuesday",)
    assert against_texts(old, {"answer": old["answer"], "other": ""}, SEEN) == (
        "there are prompts that the program does not have: other",
        "prompts are missing: extraction",
    )


def test_what_is_a_placeholder() -> None:
    found = placeholders('{a} {b.c} {{ d }} {} ${e} $f %(g)s %s <<H>> 5% {"json": 1} $5 {not this}')
    assert sorted(found) == ["$f", "${e}", "%(g)s", "%s", "<<H>>", "{a}", "{b.c}", "{{d}}", "{}"]


def test_words_of_questions_and_old_prompts_are_not_learnt() -> None:
    old, new = {"p": "Dogs matter."}, {"p": "Dogs matter. A dog called Bo; a cat."}
    assert learnt_by_heart(old, new, ["the dog Bo", "dogs", "a"], ["Is it a dog?"]) == {"p": ["bo"]}


@pytest.mark.parametrize(("name", "value"), [("alpha", 0.0), ("margin", 1.0), ("attempts", 0), ("cost_factor", 0.5)])
def test_impossible_rules_are_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"gate: {name}: must be"):
        Rules(**{name: value})  # type: ignore[arg-type]


def test_extreme_rules_are_possible() -> None:
    assert Rules(alpha=0.999, margin=0.001, attempts=1, cost_factor=1.0).level == 0.999
    for name, value in (("alpha", 1.0), ("margin", 0.0), ("alpha", -0.1)):
        with pytest.raises(InputError, match=f"gate: {name}: must be"):
            Rules(**{name: value})  # type: ignore[arg-type]
