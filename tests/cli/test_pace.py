"""The pace of a run: what is done, how fast, and the time left."""

from __future__ import annotations

from api.cli.pace import Pace
from optimization.harness.datasets.model import Conversation, Message, Question, Session


def _conversation(user: str, messages: int, questions: int) -> Conversation:
    said = tuple(Message(f"m{number}", "Ann", "Hello.") for number in range(messages))
    asked = tuple(Question(f"q{number}", "Who?", ("Ann",)) for number in range(questions))
    return Conversation(user, (Session("s", said),), asked)


def test_time_left_is_by_the_time_of_each_sort_of_step() -> None:
    clock = [0.0]
    pace = Pace([_conversation("u", 10, 4)], 1, lambda: clock[0])
    assert (pace.seconds_left, str(pace)) == (None, "0 of 10 messages, 0 of 4 questions")
    clock[0] = 20.0
    pace.said("construction", "u", 10)
    assert pace.seconds_left is None
    clock[0] = 30.0
    pace.said("answers", "u", 1)
    assert pace.seconds_left == 30.0
    assert str(pace) == "10 of 10 messages (2.0 s each), 1 of 4 questions (10 s each), about 30 s left"
    pace.said("answers", "u", 4)
    assert str(pace).endswith("4 of 4 questions (2.5 s each)")


def test_finished_users_take_no_time_and_two_users_run_at_once() -> None:
    clock = [0.0]
    pace = Pace([_conversation(user, 2, 2) for user in ("a", "b", "c")], 2, lambda: clock[0])
    pace.said("import", "a", 0)
    assert (pace.done, pace.total) == (4, 12)
    for user in ("b", "c"):
        clock[0] += 4.0
        pace.said("construction", user, 2)
    pace.said("answers", "b", 1)
    assert pace.done == 9


def test_a_conversation_that_begins_again_counts_once() -> None:
    pace = Pace([_conversation("u", 4, 2)], 1, lambda: 0.0)
    pace.said("construction", "u", 4)
    pace.said("construction", "u", 2)
    assert pace.done == 2
