"""When a framework's run becomes a part of the trace of the memory that it uses, and when it must not."""

from __future__ import annotations

import sys
from types import ModuleType

import memtrace
import pytest
from memtrace import undecided
from memtrace.exporters.memory import MemoryExporter
from memtrace.instruments import joining, placing
from memtrace.instruments.frameworks.root import Root
from memtrace.instruments.homes import Home
from memtrace.instruments.making import Making, outside
from memtrace.instruments.units import current, written

STORE = "InMemoryStore of this test"


@pytest.fixture(autouse=True)
def _with_a_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mem0", ModuleType("mem0"))
    monkeypatch.setattr("memtrace.instruments.frameworks.root._written", memtrace.recent.Recent(100))


def memory(*namespace: str) -> Home:
    return placing.memory_home(STORE, "/".join(namespace), what="InMemoryStore")


def run(said: str, *names: str, session: str | None = None) -> Root:
    """A run whose model comes first; ``names`` are the values of its context and configuration."""
    root = Root(said, session=session)
    outside(root.place(), said, "input", "Message")
    root.names = frozenset(names)
    return root


def where(recorded: MemoryExporter, text: str) -> str:
    (found,) = [event["trace"] for event in recorded.of("variable") if event["value"] == text]
    return str(found)


def test_conversations_of_one_name_belong_to_the_memory_that_is_named_so(recorded: MemoryExporter) -> None:
    for day, is_written in (("monday", True), ("friday", False)):
        root = run(f"I speak on {day}.", "2C", "teacher Bellandi", session=f"2C-{day}")
        root.uses(memory("register", "2C"), ("register", "2C"), is_written=is_written)
        root.ended()
    other = run("I speak of the other class.", "3A", "teacher Orsini", session="3A-monday")
    other.uses(memory("register", "3A"), ("register", "3A"), is_written=True)
    assert (
        where(recorded, "I speak on monday.") == where(recorded, "I speak on friday.") == memory("register", "2C").trace
    )
    assert where(recorded, "I speak of the other class.") == memory("register", "3A").trace


def test_a_run_that_names_nobody_belongs_to_the_memory_that_it_uses(recorded: MemoryExporter) -> None:
    for is_written in (False, True):
        root = run(f"It writes: {is_written}", session=None)
        root.uses(memory("post"), ("post",), is_written=is_written)
        assert where(recorded, f"It writes: {is_written}") == memory("post").trace


def test_a_conversation_that_names_nobody_belongs_to_a_memory_into_which_runs_write(recorded: MemoryExporter) -> None:
    for day, is_written in (("one", True), ("two", False)):
        root = run(f"Thread {day}", session=day)
        root.uses(memory("notes"), ("notes",), is_written=is_written)
    assert where(recorded, "Thread one") == where(recorded, "Thread two") == memory("notes").trace


def test_conversations_that_only_read_documents_stay_apart(recorded: MemoryExporter) -> None:
    for user in ("ann", "ben"):
        root = run(f"I am {user}.", session=f"thread of {user}")
        root.uses(memory("faq"), ("faq",))
        root.ended()
    assert len({where(recorded, "I am ann."), where(recorded, "I am ben."), memory("faq").trace}) == 3


def test_users_whom_the_namespace_does_not_name_stay_apart(recorded: MemoryExporter) -> None:
    """The program names each user in a word of its own, and writes for all into one namespace."""
    for user in ("ann", "ben"):
        root = run(f"I am {user}.", user, session=f"thread of {user}")
        root.uses(memory("notes"), ("notes",), is_written=True)
        root.ended()
    assert len({where(recorded, "I am ann."), where(recorded, "I am ben."), memory("notes").trace}) == 3


def test_a_part_of_a_name_is_no_name(recorded: MemoryExporter) -> None:
    root = run("I am Ann.", "ann", session="thread")
    root.uses(memory("notes", "annette"), ("notes", "annette"), is_written=True)
    assert where(recorded, "I am Ann.") != memory("notes", "annette").trace


def test_two_namespaces_are_two_memories(recorded: MemoryExporter) -> None:
    for user in ("ann", "ben"):
        root = run(f"I am {user}.", session=f"thread of {user}")
        root.uses(memory("notes", user), ("notes", user), is_written=True)
    assert where(recorded, "I am ann.") == memory("notes", "ann").trace
    assert where(recorded, "I am ben.") == memory("notes", "ben").trace


def test_a_memory_of_a_user_takes_the_conversation_and_one_of_an_agent_does_not(recorded: MemoryExporter) -> None:
    for owner in ("user_id=ann", "agent_id=guide"):
        root = run(f"With {owner}", session=owner)
        root.uses(placing.memory_home(STORE, owner, what="mem0"))
        root.ended()
    assert where(recorded, "With user_id=ann") == placing.memory_home(STORE, "user_id=ann", what="mem0").trace
    assert where(recorded, "With agent_id=guide") != placing.memory_home(STORE, "agent_id=guide", what="mem0").trace


def test_a_run_that_has_joined_stays_where_it_is(recorded: MemoryExporter) -> None:
    root = run("For Ann.", session="thread")
    root.uses(memory("notes", "ann"), ("notes", "ann"), is_written=True)
    root.uses(memory("notes", "ben"), ("notes", "ben"), is_written=True)
    outside(root.place(), "Later.", "input", "Message")
    assert where(recorded, "For Ann.") == where(recorded, "Later.") == memory("notes", "ann").trace


def test_an_agent_with_a_history_of_one_call_belongs_to_the_store_into_which_its_tools_write(
    recorded: MemoryExporter,
) -> None:
    for number, is_written in ((1, True), (2, False)):
        own = placing.memory_home("app.py", f"session=conversation in memory {number}", what="app.py")
        root = Root("a run", session=f"conversation in memory {number}")
        outside(root.place(joining.opened(own), is_shared=True), f"Message {number}", "input", "Message")
        root.uses(own, is_written=True)
        assert root.is_open  # no other conversation shares this history
        root.uses(memory("index"), is_written=is_written)
        root.ended()
    assert where(recorded, "Message 1") == where(recorded, "Message 2") == memory("index").trace


def test_later_runs_of_a_joined_conversation_go_on_there(recorded: MemoryExporter) -> None:
    first = run("First.", session="thread")
    first.uses(memory("notes"), ("notes",), is_written=True)
    first.ended()
    outside(Root("thanks", session="thread").place(), "Thanks.", "input", "Message")
    assert where(recorded, "Thanks.") == memory("notes").trace


def test_the_second_run_of_a_conversation_that_was_sent_is_not_joined(recorded: MemoryExporter) -> None:
    run("Hello.", session="thread").ended()
    assert not undecided.is_any()
    second = run("Note this.", session="thread")
    second.uses(memory("notes"), ("notes",), is_written=True)
    assert where(recorded, "Hello.") == where(recorded, "Note this.") != memory("notes").trace


def test_what_the_memory_s_trace_knows_is_known_in_the_joined_run(recorded: MemoryExporter) -> None:
    home, unit = memory("notes"), (STORE, "notes/1")
    with placing.Place(lambda: home):
        here = memtrace.context.scope.get()
        assert here is not None
        making = Making(here, "put", "Update")
        told = outside(here, "The key is red.", "stored", "Message")
        making.use(told)
        written(making, unit, {"text": "The key is red."}, sources=[told])
        making.end()
    root = run("Which key?", session=None)
    asked = outside(root.place(), "asked before it was joined", "input", "Message")
    root.uses(home, ("notes",))
    found = current(root.place(), unit, {"text": "The key is red."})
    making = Making(root.place(), "answer", "Generation")
    making.use(asked)
    making.use(found)
    making.end()
    units = [event for event in recorded.of("variable") if event["kind"] == "MemoryUnit"]
    assert [event["variable"] for event in units] == [found.id]  # the written unit was found, no second one made
    assert {event["trace"] for event in recorded.events} == {home.trace}
