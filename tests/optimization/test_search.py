"""The search's side of gepa: what is evaluated and counted, and what the reflecting model is shown."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from optimization.loop.evaluator import Evaluated, Judged, candidate_id
from optimization.loop.search import _Adapter, _EnoughError
from optimization.loop.split import Split

SPLIT = Split(("t1", "t2"), ("v1", "v2"), ("g1",))
OWN, OTHER = {"extract": "Write.", "answer": "Answer."}, {"extract": "Write all.", "answer": "Answer."}


def judged(number: int, right: bool, prompt: str | None = None) -> Judged:
    """An answer to a question."""
    return Judged(f"id-{number}", f"q{number}", ("gold",), f"a{number}", right, prompt=prompt)


class Evaluator:
    """The first answer of each user is right, and the second is right for who is named."""

    def __init__(self, *right: str) -> None:
        self._right = right

    async def evaluate(self, batch: Sequence[str], candidate: dict[str, str]) -> list[Evaluated]:
        del candidate
        return [Evaluated(user, (judged(1, True), judged(2, user in self._right))) for user in batch]


def adapter(*right: str, most: int = 5, by_blame: bool = True) -> _Adapter:
    """The adapter in the running loop."""
    return _Adapter(cast("Any", Evaluator(*right)), asyncio.get_running_loop(), SPLIT, most, OWN, by_blame)


async def test_as_many_conversations_are_evaluated_as_are_allowed() -> None:
    search = adapter(most=5)
    assert search.evaluations == 0
    await asyncio.to_thread(search.evaluate, ["t1", "t2", "v1"], OWN)
    assert search.evaluations == 3
    with pytest.raises(_EnoughError):
        await asyncio.to_thread(search.evaluate, ["t1", "t2", "v1"], OWN)
    assert search.evaluations == 3
    await asyncio.to_thread(search.evaluate, ["v1", "v2"], OWN)
    assert search.evaluations == 5


async def test_only_validation_counts_for_a_candidate() -> None:
    search = adapter("v1", "v2", most=9)
    first = search.candidates[candidate_id(OWN)]
    assert (first.prompts, first.parent, first.changed, first.score) == (OWN, None, None, 0.0)
    found = await asyncio.to_thread(search.evaluate, ["t1", "v1"], OWN, True)
    assert (found.scores, [one.user for one in found.trajectories]) == ([0.5, 1.0], ["t1", "v1"])
    assert first.scores == {"v1": 1.0}
    assert not search.is_perfect
    plain = await asyncio.to_thread(search.evaluate, ["v2"], OWN)
    assert plain.trajectories is None
    assert search.is_perfect


@pytest.mark.parametrize(
    ("by_blame", "name", "shown"),
    [(True, "extract", ["q1"]), (True, "answer", ["q2", "q4"]), (False, "extract", ["q1", "q2", "q4"])],
)
async def test_the_reflecting_model_sees_what_its_prompt_is_blamed_for(
    by_blame: bool, name: str, shown: list[str]
) -> None:
    search = adapter(by_blame=by_blame)
    found = Evaluated("t1", (judged(1, False, "extract"), judged(2, False), judged(3, True), judged(4, False)))
    batch = SimpleNamespace(trajectories=[found])
    told = search.make_reflective_dataset(OWN, batch, [name])
    assert [one["Question"] for one in told[name]] == shown
    assert told[name][0]["What had been said"] == ["(unknown)"]
    changed = await asyncio.to_thread(search.evaluate, ["v1"], OTHER)
    assert changed.scores == [0.5]
    tried = search.candidates[candidate_id(OTHER)]
    assert (tried.parent, tried.changed) == (candidate_id(OWN), name)


async def test_nothing_is_shown_where_all_answers_were_right() -> None:
    search = adapter()
    batch = SimpleNamespace(trajectories=[Evaluated("t1", (judged(1, True),))])
    assert search.make_reflective_dataset(OWN, batch, ["extract"]) == {}


@pytest.mark.parametrize(
    ("answers", "chosen"),
    [
        ((judged(1, False, "answer"), judged(2, False, "answer"), judged(3, False, "extract")), "answer"),
        ((judged(1, True, "answer"), judged(2, False, "extract")), "extract"),
        ((judged(1, False),), "extract"),
        ((), "extract"),
    ],
)
async def test_the_prompt_that_is_blamed_most_changes_next(answers: tuple[Judged, ...], chosen: str) -> None:
    search = adapter()
    assert search.blamed(None, [Evaluated("t1", answers)], [], 0, OWN) == [chosen]
