"""The parts of an optimization that need no program: dividing users, keeping evaluations, and the report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from optimization.loop.evaluator import Evaluated, Judged, is_of_budget, keep, kept
from optimization.loop.report import diff, markdown
from optimization.loop.search import Found, TriedPrompts, _why
from optimization.loop.split import split
from schema.errors import InputError

USERS = [f"user {number}" for number in range(21)]


@pytest.mark.parametrize(
    ("users", "share", "sizes"),
    [(3, 0.4, (1, 1, 1)), (4, 0.5, (1, 1, 2)), (5, 0.5, (2, 1, 2)), (20, 0.5, (5, 5, 10)), (21, 0.2, (9, 8, 4))],
)
def test_users_are_divided(users: int, share: float, sizes: tuple[int, int, int]) -> None:
    found = split(USERS[:users], gate_share=share)
    parts = (found.train, found.validation, found.gate)
    assert tuple(map(len, parts)) == sizes
    assert sorted(user for part in parts for user in part) == sorted(USERS[:users])


def test_users_are_divided_by_their_names_and_the_seed() -> None:
    assert split(USERS) == split(USERS[::-1])
    assert split(USERS, 1) == split(USERS, 1) != split(USERS, 2)


@pytest.mark.parametrize(("users", "share"), [(0, 0.5), (2, 0.5), (3, 0.9), (3, 0.1)])
def test_too_few_users_are_not_divided(users: int, share: float) -> None:
    with pytest.raises(InputError, match=f"has {users} conversations, too few to divide.* at least 5"):
        split(USERS[:users], gate_share=share)


def test_an_evaluation_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    answer = Judged("q1", "Who?", ("Bo", "Bob"), "Rex", right=False, prompt="answer", reason="why", quotes=("a", "b"))
    found = Evaluated("ada", (answer, replace(answer, question="Whose?", right=True)), calls=3, tokens=40)
    path = tmp_path / "new" / "one.json"
    assert kept(path) is None
    keep(path, found)
    assert kept(path) == found
    assert (found.score, Evaluated("ada", ()).score) == (0.5, 0.0)


@pytest.mark.parametrize(
    ("problem", "is_one"),
    [
        ("ada: the limit of 5 live calls of models is reached", True),
        ("the limit of the cost of models is reached", True),
        ("the answer took longer than 60 s", False),
        ("the limit of 5 live calls of models is near", False),
    ],
)
def test_a_spent_budget_is_known_by_its_message(problem: str, is_one: bool) -> None:
    assert is_of_budget(problem) is is_one


def said(**more: Any) -> dict[str, Any]:
    gate = {"accepted": True, "reasons": [], "p": 0.0312, "better": 5, "worse": 0, "harmed": 1, "controls": 40}
    return {
        "gate": {**gate, "bound": 0.0871, "cost": 1.5},
        "before": {"answer": "Be short.\n", "note": "Keep all."},
        "after": {"answer": "Be short.\nName the day.\n", "note": "Keep all."},
        "found": {"candidates": [1, 2], "evaluations": 12, "reflections": 3, "ended": "12 | evaluations"},
        "split": {"train": ["a"], "validation": ["b"], "gate": ["c", "d"]},
        "fixed": [("ada", "When?\nToday?")],
        "broken": [],
        "calls": 1234,
        "tokens": 56789,
        "cost": 0.12345,
        **more,
    }


def test_a_report_tells_the_decision_its_figures_and_the_changes() -> None:
    assert markdown(said()).splitlines() == [
        "# Optimization of prompts",
        "",
        "**Accepted.**",
        "",
        "",
        "| | |",
        "| --- | --- |",
        "| conversations | 1 train, 1 validation, 2 gate |",
        "| candidates | 2 |",
        "| evaluated conversations of the search | 12 |",
        "| reflections | 3 |",
        r"| the search ended because | 12 \| evaluations |",
        "| better conversations, worse ones | 5, 0 |",
        "| p, by conversation | 0.0312 |",
        "| right answers that are wrong now | 1 of 40 |",
        "| at most so many may be harmed | 8.7% |",
        "| cost, to that before | 1.50 |",
        "| paid | 1,234 live calls, 56,789 tokens, cost 0.1235 |",
        "",
        "## Changes",
        "",
        "```diff",
        "--- answer (before)",
        "+++ answer (after)",
        "@@ -1 +1,2 @@",
        " Be short.",
        "+Name the day.",
        "```",
        "",
        "## Fixed: 1 answers of the gate",
        "",
        "- ada: When? Today?",
        "",
        "## Broken: 0 answers of the gate",
        "",
        "None.",
    ]


def test_a_report_of_a_gate_that_refused_before_the_search_has_no_figures_of_it() -> None:
    refused = {"accepted": False, "reasons": ["too few conversations"], "p": None, "cost": None}
    told = markdown(said(gate=refused, found=None, after=said()["before"], fixed=[], cost=None))
    assert "**Not accepted.**\n\n- too few conversations\n" in told
    assert not [line for line in told.splitlines() if line.startswith(("| candidates", "| p,", "| cost, to"))]
    assert "| paid | 1,234 live calls, 56,789 tokens |" in told
    assert "## Changes\n\nNone.\n" in told


@pytest.mark.parametrize(("ticks", "fence"), [("", "```"), ("``", "```"), ("```", "````"), ("`````", "``````")])
def test_a_block_of_code_in_a_prompt_does_not_end_the_changes(ticks: str, fence: str) -> None:
    before = {"answer": f"Reply in JSON:\n{ticks}\n{{}}\n{ticks}\n"}
    after = {"answer": before["answer"] + "Name the day.\n"}
    told = markdown(said(before=before, after=after)).splitlines()
    assert [line for line in told if line.strip(" `") in {"", "diff"} and "```" in line and line[0] == "`"] == [
        f"{fence}diff",
        fence,
    ]
    assert told.index("+Name the day.") == told.index(fence) - 1


def test_prompts_that_lost_their_end_or_are_gone_are_shown_line_by_line() -> None:
    assert diff({"a": "one"}, {"a": "one"}) == ""
    assert diff({"b": "x", "a": "one"}, {"a": "two"}).splitlines() == [
        *("--- a (before)", "+++ a (after)", "@@ -1 +1 @@", "-one", "+two"),
        *("--- b (before)", "+++ b (after)", "@@ -1 +0,0 @@", "-x"),
    ]


def tried(name: str, **scores: float) -> TriedPrompts:
    return TriedPrompts(name, {}, None, None, scores)


@pytest.mark.parametrize(
    ("candidates", "best"),
    [
        ([tried("own", ada=0.5, bo=0.5)], "own"),
        ([tried("own", ada=0.5, bo=0.5), tried("new", ada=0.4, bo=0.7)], "new"),
        # Of equal ones the earliest: the program's own prompts are not changed for nothing.
        ([tried("own", ada=0.5, bo=0.5), tried("new", ada=0.0, bo=1.0)], "own"),
        # Only what was evaluated on all conversations is compared.
        ([tried("own", ada=0.5, bo=0.5), tried("new", ada=1.0), tried("newer", ada=0.6, bo=0.5)], "newer"),
        ([tried("own", ada=0.5), tried("new", bo=1.0)], "own"),
        ([tried("own"), tried("new")], "own"),
    ],
)
def test_the_best_candidate_has_the_best_mean(candidates: list[TriedPrompts], best: str) -> None:
    assert Found(tuple(candidates), "", 0, 0).best(["ada", "bo"]).id == best


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ((None, None, ""), "nobody knows"),
        ((None, "search", "two may be"), "nobody knows for sure: two may be"),
        (("UpdateError", None, "it is gone"), "UpdateError: it is gone"),
        (("UpdateError", "merge", "it is gone"), "UpdateError in the operation merge: it is gone"),
    ],
)
def test_a_model_is_told_why_an_answer_is_wrong(told: tuple[str | None, str | None, str], why: str) -> None:
    assert _why(*told) == why
