"""The steps of a conversation, what a program is sent, and when a conversation counts as finished."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from optimization.harness.datasets.model import Conversation, Dataset, Message, Question, Session
from optimization.harness.judging import F1, Exact
from optimization.harness.plan import Addition, FailedQuestion, Plan, UserRun, asking, openai, script

NOON = datetime(2025, 3, 4, 12, tzinfo=UTC)
M1, M2, M3 = (Message(f"m{number}", "Mara", f"text {number}") for number in (1, 2, 3))
FIRST, SECOND = Session("s1", (M1, M2)), Session("s2", (M3,))


def _question(name: str, after: str | None = None, **more: Any) -> Question:
    return Question(name, f"{name}?", ("gold",), after=after, **more)


@pytest.mark.parametrize(
    ("questions", "wanted"),
    [
        ([], ["m1 m2", "m3"]),
        (["a"], ["m1 m2", "m3", "a"]),
        (["a:m1"], ["m1", "a", "m2", "m3"]),
        (["a:m2"], ["m1 m2", "a", "m3"]),
        (["a:m3"], ["m1 m2", "m3", "a"]),
        (["a", "b:m1", "c:m1", "d"], ["m1", "b", "c", "m2", "m3", "a", "d"]),
    ],
)
def test_each_question_is_asked_as_early_as_it_may_be(questions: list[str], wanted: list[str]) -> None:
    asked = tuple(_question(name, after or None) for name, _, after in (one.partition(":") for one in questions))
    steps = script(Conversation("u", (FIRST, SECOND), asked))
    shown = [" ".join(m.id for m in one.messages) if isinstance(one, Addition) else one.id for one in steps]
    assert shown == wanted
    assert [one.session.id for one in steps if isinstance(one, Addition)] == [
        "s2" if "m3" in one else "s1" for one in wanted if one.startswith("m")
    ]


def test_what_a_program_is_sent() -> None:
    addition = Addition(FIRST, (M1, replace(M2, time=NOON)))
    assert addition.as_json() == {
        "session": "s1",
        "messages": [
            {"id": "m1", "speaker": "Mara", "text": "text 1", "time": None},
            {"id": "m2", "speaker": "Mara", "text": "text 2", "time": "2025-03-04T12:00:00+00:00"},
        ],
    }
    assert asking(_question("a")) == {"id": "a", "question": "a?"}
    assert asking(_question("a", time=NOON)) == {"id": "a", "question": "a?", "time": "2025-03-04T12:00:00+00:00"}


FAILED = tuple(FailedQuestion(_question(name), f"error of {name}") for name in ("a", "b"))


@pytest.mark.parametrize(
    ("run", "problem"),
    [
        (UserRun("u", "t"), None),
        (UserRun("u", "t", error="it ended"), "it ended"),
        (UserRun("u", "t", failed=FAILED), "error of a"),
        (UserRun("u", "t", error="it ended", failed=FAILED), "it ended"),
    ],
)
def test_why_a_conversation_is_not_finished(run: UserRun, problem: str | None) -> None:
    assert run.problem == problem


def test_a_run_goes_on_only_with_the_same_plan(tmp_path: Path) -> None:
    talk = Conversation("u", (FIRST,), (_question("a"),))
    plan = Plan("module:program", Dataset("lines", (talk,)), Exact(), tmp_path, {"a": "1", "b": "2"})
    same = [
        replace(plan, prompts={"b": "2", "a": "1"}),
        replace(plan, folder=tmp_path / "other", users=["u"], is_kept=False),
        replace(plan, dataset=Dataset("other", (talk,))),
    ]
    others = [
        replace(plan, program="module:other"),
        replace(plan, judge=F1()),
        replace(plan, prompts={"a": "1"}),
        replace(plan, prompts={"a": "2", "b": "1"}),
        replace(plan, dataset=Dataset("lines", (talk, replace(talk, user="v")))),
        replace(plan, dataset=Dataset("lines", (replace(talk, sessions=(SECOND,)),))),
    ]
    assert {one.fingerprint() for one in same} == {plan.fingerprint()}
    assert len({one.fingerprint() for one in [plan, *others]}) == 1 + len(others)


def test_the_default_model_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for value, wanted in [("http://h/v1", "http://h/v1"), ("", "https://api.openai.com/v1")]:
        monkeypatch.setenv("OPENAI_BASE_URL", value)
        assert openai() == {"OPENAI_BASE_URL": wanted}
