"""When a conversation becomes a part of the trace of the memory that it uses, and when it must not."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace

import memtrace
import pytest
from memtrace import sink, undecided
from memtrace.exporters.memory import MemoryExporter
from memtrace.instruments import conversations, placing
from memtrace.instruments.conversations import Talk
from memtrace.instruments.mem0.calls import Mem0Call
from memtrace.instruments.model_calls import TOOL_CALLS, ModelCall, Reply, Said
from memtrace.raw_events import RawEvent

from tests.sdk.graph import sources

STORE = "qdrant /data/q memories"
CAPE = "The queen's cape is in the wicker trunk."


@pytest.fixture(autouse=True)
def _with_a_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program has imported the package of a memory."""
    monkeypatch.setitem(sys.modules, "mem0", ModuleType("mem0"))


class Named:
    """What is recorded of mem0's ``Memory`` to name its store."""

    def __init__(self, config: object) -> None:
        self.config = config


def ask(messages: list[Said], reply: Reply) -> Reply:
    """A call of a model by the application, as the instrument of OpenAI records it."""
    talk = Talk(spoken=conversations.said(messages))
    with placing.of_contents(
        [part for said in messages for part in (said.content, said.same)],
        what="openai chat",
        continued=lambda: conversations.continued(talk),
    ):
        here = memtrace.context.scope.get()
        assert here is not None
        call = ModelCall(here, "openai chat")
        call.ask(messages, {}, talk=talk)
    call.done([reply])
    return reply


def calls(**arguments: str) -> Reply:
    written = "{" + ", ".join(f'"{name}": "{value}"' for name, value in arguments.items()) + "}"
    return Reply([{"name": "note", "arguments": written}], TOOL_CALLS)


@contextmanager
def memory(owner: str, *given: object, store: str = STORE) -> Iterator[None]:
    """A call of a memory that is given these arguments."""
    with placing.of_memory(store, owner, what="mem0", given=given):
        memtrace.variable("note", "MemoryUnit", "a note")
        yield


def trace_of(recorded: MemoryExporter, text: str) -> str:
    """The trace of the only message with this text."""
    found, *_ = [e["trace"] for e in recorded.of("variable") if text in e["value"] and e["kind"] == "Message"]
    return str(found)


def home(owner: str) -> str:
    return memtrace.trace_id(STORE, owner)


def test_a_conversation_whose_tool_writes_to_a_memory_belongs_to_the_memory(recorded: MemoryExporter) -> None:
    said = [Said("user", CAPE)]
    call = ask(said, calls(text=f"Cape: {CAPE}"))
    with memory("user_id=ann", f"Cape: {CAPE}"):
        pass
    ask([*said, Said("assistant", call.text), Said("tool", "stored")], Reply("Noted, in the book."))
    assert {event["trace"] for event in recorded.events} == {home("user_id=ann")}
    (trace,) = recorded.of("trace")
    assert trace["name"] == "mem0: user_id=ann"
    messages = [event for event in recorded.of("variable") if event["value"] == CAPE]
    assert len(messages) == 1  # the second call has the message, and not a copy
    assert [event["name"] for event in recorded.of("variable") if event["kind"] == "Answer"] == ["reply"]


def test_what_a_memory_is_given_by_a_tool_derives_from_the_reply_that_wrote_it(recorded: MemoryExporter) -> None:
    ask([Said("user", CAPE)], calls(text=f"Cape: {CAPE}"))
    settings = SimpleNamespace(provider="qdrant", config={"path": "/data/q", "collection_name": "wardrobe"})
    mem0 = Named(SimpleNamespace(vector_store=settings))
    for method in ("add", "update"):
        said = {"messages": f"Cape: {CAPE}", "data": f"Cape: {CAPE}", "user_id": "ann"}
        with placing.of_memory(STORE, "user_id=ann", what="mem0", given=said.values()):
            here = memtrace.context.scope.get()
            assert here is not None
            call = Mem0Call(mem0, method, here, said)
            with call.current():
                call._write("7", f"{method}: {CAPE}")
            call.done(None)
    (reply,) = [event["value"] for event in recorded.of("variable") if event["name"] == TOOL_CALLS]
    units = [event for event in recorded.of("variable") if event["kind"] == "MemoryUnit"]
    assert len(units) == 2
    for unit in units:
        assert ("Derivation", reply) in sources(recorded.events, unit)


def test_a_second_conversation_with_the_same_memory_belongs_to_it_too(recorded: MemoryExporter) -> None:
    for text in ("Eulalia has shoes of size thirty-seven.", "The grey wig is washed every two weeks."):
        ask([Said("user", f"Please note: {text}")], calls(text=text))
        with memory("user_id=ann", [{"role": "user", "content": text}]):
            pass
    assert {event["trace"] for event in recorded.events} == {home("user_id=ann")}


def test_a_reply_that_the_program_stores_brings_its_conversation_along(recorded: MemoryExporter) -> None:
    reply = "- the stove smokes when the wind is from the west\n- nut cake on Fridays"
    ask([Said("user", "List the facts of the entry.")], Reply(reply, objects=(reply,)))
    with memory("", "the stove smokes when the wind is from the west"):
        pass
    assert {event["trace"] for event in recorded.events} == {home("")}


def test_a_short_argument_counts_in_the_thread_of_the_conversation_only(recorded: MemoryExporter) -> None:
    ask([Said("user", "Where is the cape?")], calls(text="cape"))
    with ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(lambda: memory("user_id=ben", "cape").__enter__()).result()
    with memory("user_id=ann", "cape"):
        pass
    assert trace_of(recorded, "Where is the cape?") == home("user_id=ann")


def test_a_long_argument_counts_in_every_thread(recorded: MemoryExporter) -> None:
    ask([Said("user", "Please keep this.")], calls(text=CAPE))
    with ThreadPoolExecutor(1) as tools:
        tools.submit(lambda: memory("user_id=ann", CAPE).__enter__()).result()
    assert trace_of(recorded, "Please keep this.") == home("user_id=ann")


def test_a_memory_that_is_given_other_texts_joins_nothing(recorded: MemoryExporter) -> None:
    ask([Said("user", "What do I like?")], calls(text="likes of the user"))
    with memory("user_id=ben", "What does Ben like best of all?"):
        pass
    assert trace_of(recorded, "What do I like?") not in {home("user_id=ben"), home("user_id=ann")}


def test_of_two_conversations_with_the_same_arguments_none_is_joined_elsewhere(recorded: MemoryExporter) -> None:
    for user in ("Ann", "Ben"):
        ask([Said("user", f"{user} asks: where is the cape?")], calls(text="the cape of the queen"))
    with ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(lambda: memory("user_id=ben", "the cape of the queen").__enter__()).result()
    assert home("user_id=ben") not in {trace_of(recorded, "Ann asks"), trace_of(recorded, "Ben asks")}


def test_two_users_in_threads_are_not_mixed(recorded: MemoryExporter) -> None:
    """Eight users say the same to models that call the same tool, side by side."""
    ready = threading.Barrier(8)

    def serve(user: int) -> None:
        ask([Said("user", f"I am user {user}. Where is my cape?")], calls(text="the cape of the user"))
        ready.wait(20)
        with memory(f"user_id={user}", "the cape of the user"):
            pass

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(serve, range(8)))
    for user in range(8):
        assert trace_of(recorded, f"I am user {user}.") == home(f"user_id={user}")


def test_a_text_that_another_trace_has_too_is_no_proof(recorded: MemoryExporter) -> None:
    with memory("user_id=ben"):
        unit = memtrace.variable(CAPE, "MemoryUnit", "unit")
        known = memtrace.find(unit)
        assert known is not None
        placing.gave(unit, known)
    ask([Said("user", "Ann says something.")], calls(text=f"{CAPE}"))
    with ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(lambda: memory("user_id=ben", str(CAPE)).__enter__()).result()
    assert trace_of(recorded, "Ann says something.") != home("user_id=ben")


def test_an_object_that_another_trace_gave_out_joins_no_conversation_with_the_same_words(
    recorded: MemoryExporter,
) -> None:
    """Bob's reply is stored for Bob, although the model has just written the same words as an argument for Ann."""
    bobs = ask([Said("user", "My cape?")], Reply(f"Cape: {CAPE}"))
    undecided.settle_all()
    ask([Said("user", "Note where the cape is.")], calls(text=f"Cape: {CAPE}"))
    with memory("user_id=bob", bobs.text):
        pass
    undecided.settle_all()
    assert trace_of(recorded, "Note where the cape is.") != home("user_id=bob")


def test_a_joined_conversation_stays_where_it_is(recorded: MemoryExporter) -> None:
    ask([Said("user", "Keep this for Ann.")], calls(text=CAPE))
    for owner in ("user_id=ann", "user_id=ben"):
        with memory(owner, CAPE):
            pass
    assert trace_of(recorded, "Keep this for Ann.") == home("user_id=ann")
    assert {event["trace"] for event in recorded.of("trace")} == {home("user_id=ann"), home("user_id=ben")}


def test_inside_an_open_trace_nothing_waits(recorded: MemoryExporter) -> None:
    with memtrace.trace("mine", id="mine"):
        ask([Said("user", CAPE)], calls(text=CAPE))
        assert not undecided.is_any()
    with memory("user_id=ann", CAPE):
        pass
    assert trace_of(recorded, CAPE) == "mine"


def test_without_a_memory_nothing_waits(monkeypatch: pytest.MonkeyPatch, recorded: MemoryExporter) -> None:
    monkeypatch.setattr("memtrace.instruments.joining._MEMORIES", ("no_such_package",))
    ask([Said("user", CAPE)], calls(text=CAPE))
    assert not undecided.is_any()
    assert trace_of(recorded, CAPE)


def test_a_conversation_that_ended_is_sent_after_some_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undecided, "ENDED_SECONDS", 0.0)
    monkeypatch.setattr(undecided, "_TICK", 0.01)
    monkeypatch.setattr("memtrace.undecided.ended.__kwdefaults__", {"seconds": 0.0})
    ask([Said("user", CAPE)], Reply("Good to know."))
    until(lambda: not undecided.is_any())


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_flush_and_inject_send_what_waits(recorded: MemoryExporter) -> None:
    ask([Said("user", CAPE)], calls(text=CAPE))
    assert undecided.is_any()
    memtrace.flush()
    assert not undecided.is_any()
    with placing.of_contents(["another call"], what="openai chat"):
        assert undecided.is_any()
        memtrace.inject()
        assert not undecided.is_any()


def test_too_many_events_or_traces_are_sent(monkeypatch: pytest.MonkeyPatch, recorded: MemoryExporter) -> None:
    monkeypatch.setattr(undecided, "MAX_EVENTS", 20)
    monkeypatch.setattr(undecided, "MAX_TRACES", 3)
    for place in range(5):
        ask([Said("user", f"Conversation {place}.")], calls(text="x"))
    assert len(undecided.all_of()) == 3
    ask([Said("user", f"Message {place} of many.") for place in range(30)], calls(text="x"))
    assert len(undecided.all_of()) == 2
    assert len({event["trace"] for event in recorded.events}) == 6


def test_large_values_do_not_wait(monkeypatch: pytest.MonkeyPatch, recorded: MemoryExporter) -> None:
    monkeypatch.setattr(undecided, "MAX_CHARACTERS", 10_000)
    ask([Said("user", "A short message.")], calls(text="x"))
    assert undecided.is_any()
    ask([Said("user", "word " * 3_000)], calls(text="x"))
    assert not undecided.is_any()
    ask([Said("user", "Another short message.")], calls(text="x"))
    assert undecided.is_any()  # what was sent counts no more
    assert trace_of(recorded, "word") not in {trace_of(recorded, "A short"), trace_of(recorded, "Another short")}


def test_sampling_decides_on_the_trace_of_the_memory(monkeypatch: pytest.MonkeyPatch, recorded: MemoryExporter) -> None:
    kept = {home("user_id=ann")}
    monkeypatch.setattr(placing, "is_sampled", lambda trace: trace in kept)
    for user in ("ann", "ben"):
        ask([Said("user", f"I am {user}.")], calls(text=f"{CAPE} says {user}"))
        with placing.of_memory(STORE, f"user_id={user}", what="mem0", given=[f"{CAPE} says {user}"]):
            pass
    ask([Said("user", "I use no memory.")], Reply("So be it."))
    assert {event["trace"] for event in recorded.events} == kept
    assert trace_of(recorded, "I am ann.")


def test_the_words_of_a_reply_that_another_user_says_join_nothing(recorded: MemoryExporter) -> None:
    ask([Said("user", "I am Ann, and I water the lemon trees.")], Reply("Thank you for telling me, Ann!"))
    with ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(lambda: memory("user_id=ben", "Thank you for telling me").__enter__()).result()
    assert trace_of(recorded, "I am Ann") != home("user_id=ben")


def test_what_other_threads_record_comes_after_what_waits(
    monkeypatch: pytest.MonkeyPatch, recorded: MemoryExporter
) -> None:
    """A thread that records in a trace while the waiting events are sent does not overtake them."""
    ask([Said("user", "Where is the cape?")], calls(text="cape of the queen"))
    (waiting,) = undecided.all_of()
    event, send = waiting.events[-1], sink.export
    sent: list[int] = []

    def slow(events: list[RawEvent]) -> None:
        if not sent:
            sent.append(len(events))
            thread.start()
            thread.join(0.2)  # long enough to overtake, if nothing held it back
            sent.append(0)
        else:
            sent.append(len(events))
        send(events)

    thread = threading.Thread(target=lambda: sink.send([event]))
    monkeypatch.setattr(sink, "export", slow)
    undecided.settle(waiting.trace.id)
    thread.join(10)
    assert sent == [len(waiting.events), 0, 1]


def test_a_child_process_sends_nothing_that_waits_in_its_parent(recorded: MemoryExporter) -> None:
    ask([Said("user", "Where is the cape?")], calls(text="cape of the queen"))
    undecided.after_fork()  # in the child, if a thread of the parent recorded this just before the fork
    assert not undecided.is_any()
    undecided.settle_all()
    assert not recorded.events


def test_what_sampling_left_out_is_forgotten_with_the_rest(
    monkeypatch: pytest.MonkeyPatch, recorded: MemoryExporter
) -> None:
    monkeypatch.setattr(placing, "is_sampled", lambda trace: False)
    ask([Said("user", "Left out.")], Reply("So be it."))
    (waiting,) = undecided.all_of()
    undecided.settle(waiting.trace.id)
    undecided.forget()
    sink.set_gate(undecided._gate)
    sink.send(waiting.events)
    assert len(recorded.events) == len(waiting.events)


def test_a_program_that_ends_loses_nothing(tmp_path: Path) -> None:
    program = textwrap.dedent(f"""
        import sys, types
        sys.modules["mem0"] = types.ModuleType("mem0")
        import memtrace
        from memtrace.exporters.file import FileExporter
        from memtrace.instruments import placing
        memtrace.configure(exporter=FileExporter({str(tmp_path / "events.ndjson")!r}))
        with placing.of_contents(["hello"], what="openai chat"):
            memtrace.variable("the last words", "Message")
    """)
    subprocess.run([sys.executable, "-c", program], check=True, env=dict(os.environ))
    assert "the last words" in (tmp_path / "events.ndjson").read_text("utf-8")
