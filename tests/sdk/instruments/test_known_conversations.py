"""Which earlier call a call of a model continues, and in which trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from memtrace.identity import Variable
from memtrace.instruments import conversations
from memtrace.instruments.conversations import MAX_TRACES, Held, Talk, answered, continued, earlier, home, talk_of
from memtrace.instruments.model_calls import Said

HISTORY = [("user", "How tall is the tower of Pisa?"), ("assistant", "It is 56 metres tall.")]


@pytest.fixture(autouse=True)
def _nothing_known() -> None:
    conversations.forget()


@pytest.mark.parametrize(
    ("body", "name", "before", "is_held"),
    [
        ({}, None, None, False),
        ({"conversation": "c1"}, "c1", None, True),
        ({"conversation": {"id": "c1"}}, "c1", None, True),
        ({"conversation": {"name": "c1"}}, None, None, False),
        ({"conversation": ["c1"]}, None, None, True),
        ({"previous_response_id": "r1"}, None, "r1", False),
        ({"previous_response_id": 7}, None, None, False),
        *(
            ({"metadata": {name: "t1"}}, "t1", None, False)
            for name in ("conversation_id", "thread_id", "session_id", "conversationId", "threadId", "sessionId")
        ),
        ({"metadata": {"litellm_session_id": "t1"}}, "t1", None, False),
        ({"metadata": {"thread_id": 7}}, "7", None, False),
        ({"metadata": {"thread_id": "", "session_id": "s1"}}, "s1", None, False),
        ({"metadata": {"session_id": "s1", "thread_id": "t1"}}, "t1", None, False),
        ({"metadata": {"thread_id": ["t1"]}}, None, None, False),
        ({"metadata": {"user": "u1"}}, None, None, False),
        ({"metadata": "thread_id"}, None, None, False),
        ({"metadata": {"thread_id": "t1"}, "conversation": "c1"}, "c1", None, True),
    ],
)
def test_a_request_names_its_conversation(
    body: dict[str, Any], name: str | None, before: str | None, is_held: bool
) -> None:
    assert talk_of(body, []) == Talk(name, before, [], is_held)


def test_instructions_and_reasoning_are_no_part_of_what_is_said() -> None:
    roles = ("system", "developer", "reasoning", "user", "assistant", "tool")
    talk = talk_of({}, [Said(role, role if role != "tool" else {"a": 1}) for role in roles])
    assert talk.spoken == [("user", "user"), ("assistant", "assistant"), ("tool", '{"a":1}')]


def reply(spoken: Sequence[tuple[str, str]], trace: str, *replies: object) -> None:
    answered(Talk(spoken=spoken), trace, replies, None, Held(trace))


def test_a_call_that_sends_the_history_again_continues_it() -> None:
    reply(HISTORY[:1], "t1", HISTORY[1][1])
    assert continued(Talk(spoken=HISTORY)) == ["t1"]
    assert continued(Talk(spoken=[*HISTORY, ("user", "And how old?")])) == ["t1"]
    for other in (
        HISTORY[:1],
        [],
        [("assistant", HISTORY[0][1]), HISTORY[1]],
        [("user", "How old is the tower?"), HISTORY[1]],
        [HISTORY[0], ("assistant", "It is 57 metres tall.")],
        [*HISTORY, HISTORY[1]],
    ):
        assert continued(Talk(spoken=other)) == []


@pytest.mark.parametrize(
    "replied",
    [
        '{"text": "It is 56 metres tall.", "sure": true, "next": "Shall I go on?"}',
        '{"text": "It is 56 metres tall.\\n", "languages": ["\\u0395"]}',
        "<think>\n183 feet.\n</think>\n\nIt is 56 metres tall.",
        "**It is 56 metres tall.**\n\n",
        "It is 56 metres",
    ],
)
def test_a_history_with_what_a_program_kept_of_a_reply_continues_the_conversation(replied: str) -> None:
    reply(HISTORY[:1], "t1", replied)
    assert continued(Talk(spoken=[*HISTORY, ("user", "And how old?")])) == ["t1"]


@pytest.mark.parametrize(
    "replied", ["It is 57 metres tall.", "{", "...", "56 metres", '{"metres": 56}', [{"name": "find"}], "x" * 100_001]
)
def test_a_history_with_another_reply_continues_no_conversation_of_one_turn(replied: object) -> None:
    reply(HISTORY[:1], "t1", replied)
    assert continued(Talk(spoken=[*HISTORY, ("user", "And how old?")])) == []


def test_two_users_who_began_alike_are_told_apart_by_the_reply() -> None:
    """Another process has the earlier calls of the second user, so that only the first one is known here."""
    turns = [*HISTORY, ("user", "And how old?")]
    reply(turns, "t1", "It was begun in 1173.")
    assert continued(Talk(spoken=[*turns, ("assistant", "Begonnen 1173."), ("user", "By whom?")])) == []


def test_a_short_reply_that_was_kept_whole_is_recognised() -> None:
    reply(HISTORY[:1], "t1", '{"metres": "56 m"}')
    assert continued(Talk(spoken=[HISTORY[0], ("assistant", "56 m"), ("user", "And how old?")])) == ["t1"]


def test_thousands_may_begin_alike() -> None:
    """Only the newest traces are kept: each call would copy all of them."""
    for number in range(300):
        reply(HISTORY[:1], f"t{number}", HISTORY[1][1])
    found = continued(Talk(spoken=[*HISTORY, ("user", "And how old?")]))
    assert found == [f"t{number}" for number in range(300 - MAX_TRACES, 300)]


def test_an_empty_reply_is_kept_as_nothing() -> None:
    reply(HISTORY[:1], "t1", "It is 56 metres tall.")
    assert continued(Talk(spoken=[HISTORY[0], ("assistant", ""), ("user", "And how old?")])) == []


def test_without_a_reply_nothing_can_be_continued() -> None:
    reply(HISTORY[:1], "t1")
    assert continued(Talk(spoken=HISTORY)) == []


def test_the_last_two_messages_are_enough_if_they_are_long() -> None:
    reply([("user", "Hi"), ("assistant", "Hello"), HISTORY[0]], "long", HISTORY[1][1])
    assert continued(Talk(spoken=[("user", "cut"), *HISTORY])) == ["long"]
    eleven, twelve = "x" * 11, "y" * 12
    reply([("user", "Hi"), ("assistant", "Hello"), ("user", eleven)], "short", twelve)
    assert continued(Talk(spoken=[("user", "cut"), ("user", eleven), ("assistant", twelve)])) == []
    reply([("user", "Hi"), ("assistant", "Hello"), ("user", twelve)], "enough", twelve)
    assert continued(Talk(spoken=[("user", "cut"), ("user", twelve), ("assistant", twelve)])) == ["enough"]


def test_histories_that_no_call_has_continued_come_first() -> None:
    for trace in ("t1", "t2", "t3"):
        reply(HISTORY[:1], trace, HISTORY[1][1])
    assert continued(Talk(spoken=HISTORY)) == ["t1", "t2", "t3"]
    following = [*HISTORY, ("user", "And how old?")]
    reply(following, "t2", "Very old.")
    assert continued(Talk(spoken=following)) == ["t1", "t3"]
    for trace in ("t1", "t3"):
        reply(following, trace, "Very old.")
    assert continued(Talk(spoken=following)) == ["t1", "t2", "t3"]
    reply(following, "unknown", "Very old.")
    assert continued(Talk(spoken=following)) == ["t1", "t2", "t3"]
    reply(HISTORY[:1], "t1", HISTORY[1][1])
    assert continued(Talk(spoken=following)) == ["t1"]


def test_several_replies_are_one_history() -> None:
    reply(HISTORY[:1], "t1", "First.", {"name": "f"})
    assert continued(Talk(spoken=[HISTORY[0], ("assistant", "First."), ("assistant", '{"name":"f"}')])) == ["t1"]
    assert continued(Talk(spoken=[HISTORY[0], ("assistant", "First.")])) == []


def test_the_server_of_a_model_holds_a_history() -> None:
    history = Held("t1", (Variable("v", "v", 1, "Message", 1),), True)
    answered(Talk(name="c1", is_held=True), "t1", ["a"], "r1", history)
    answered(Talk(name="named", is_held=False), "t2", ["a"], None, Held("t2"))
    for talk in (Talk(before="r1"), Talk(name="c1", is_held=True), Talk(name="c1", before="r1")):
        assert earlier(talk, "t1") == history
        assert earlier(talk, "other") == Held("other")
        found = home(talk, "openai")
        assert found is not None
        assert found.trace == "t1"
    for talk in (Talk(), Talk(name="c1"), Talk(before="r2"), Talk(name="named", is_held=True)):
        assert earlier(talk, "t1") == Held("t1")
    conversations.forget()
    assert earlier(Talk(before="r1"), "t1") == Held("t1")


def test_a_named_conversation_has_a_trace_of_its_own() -> None:
    assert home(Talk(spoken=HISTORY), "openai") is None
    first, second, before = home(Talk(name="c1"), "a"), home(Talk(name="c2"), "a"), home(Talk(before="r1"), "openai")
    assert first is not None
    assert second is not None
    assert before is not None
    assert first == home(Talk(name="c1"), "b")
    assert len({first.trace, second.trace, before.trace}) == 3
    assert "openai" in before.name


def test_a_request_for_a_summary_belongs_to_the_conversation_whose_turns_it_quotes() -> None:
    for trace, turns in (
        ("quay-1", ("My berth is number 47.", "Pekka mends the engine.")),
        ("quay-2", ("My berth is number 74.",)),
    ):
        spoken: list[tuple[str, str]] = []
        for turn in turns:
            spoken.append(("user", turn))
            reply(spoken, trace, "Ok.")
            spoken.append(("assistant", "Ok."))
    written = "user: My berth is number 47.\nassistant: Ok.\nuser: Pekka mends the engine."
    assert continued(Talk(spoken=[("user", written)])) == ["quay-1"]
    one = "user: My berth is number 47.\nassistant: Ok."
    for other in ([("user", one)], [("assistant", written)], [("user", "Hello."), ("user", written)]):
        assert continued(Talk(spoken=other)) == []


def test_a_summary_of_what_two_users_said_alike_belongs_to_both_conversations() -> None:
    for trace in ("quay-1", "quay-2"):
        reply([("user", "My berth is number 47.")], trace, "Ok.")
        reply([("user", "Pekka mends the engine.")], trace, "Ok.")
    written = "user: My berth is number 47.\nuser: Pekka mends the engine."
    assert continued(Talk(spoken=[("user", written)])) == ["quay-1", "quay-2"]


def test_a_tool_that_the_program_runs_follows_the_reply_that_calls_it() -> None:
    conversations.called("card", {"name": "Bo"}, "shed-1")
    assert conversations.running("card", {"name": "Bo"}) == ["shed-1"]
    conversations.called("card", {"name": "Bo"}, "shed-2")
    assert conversations.running("card", {"name": "Bo"}) == ["shed-2"]  # in shed-1 it has run
    for tool, arguments in (("card", {"name": "Ann"}), ("note", {"name": "Bo"})):
        assert conversations.running(tool, arguments) == []
