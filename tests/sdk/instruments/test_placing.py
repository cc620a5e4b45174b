"""In which trace a call is recorded when the application has opened none."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import memtrace
import pytest
from memtrace.context import scope
from memtrace.exporters.memory import MemoryExporter
from memtrace.instruments import handed_out, placing, program_name
from memtrace.instruments.homes import Home

STORE = "qdrant /data/q memories"


def here() -> str | None:
    current = scope.get()
    return None if current is None else current.trace.id


def memory(owner: str, store: str = STORE) -> placing.Place:
    return placing.of_memory(store, owner, what="mem0")


def search(owner: str, question: str, *units: str) -> tuple[str | None, list[str]]:
    """What an instrument of a memory does: the trace, and the texts as the application gets them."""
    with memory(owner):
        trace = here()
        with memtrace.operation("search", kind="Retrieval") as step:
            query = step.input(question, "query", kind="Query")
            found = [step.output(unit, "unit", kind="MemoryUnit") for unit in units]
        asked = memtrace.find(query)
        assert asked is not None
        placing.asked(query, asked)
        for unit in found:
            variable = memtrace.find(unit)
            assert variable is not None
            placing.gave(unit, variable, is_own=True)
    return trace, found


def placed(*contents: object) -> str | None:
    with placing.of_contents(contents, what="openai chat"):
        return here()


def test_inside_the_application_s_trace_the_call_belongs_to_it() -> None:
    with memtrace.trace("mine", id="mine"):
        with memory("user_id=alice"):
            assert here() == "mine"
        assert placed("hello") == "mine"
    assert here() is None


def test_a_memory_has_one_trace_in_every_process() -> None:
    with memory("user_id=alice"):
        trace = here()
    code = (
        "from memtrace.instruments import placing\n"
        f"print(placing.memory_home({STORE!r}, 'user_id=alice', what='mem0').trace)"
    )
    other = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert other.stdout.strip() == trace


@pytest.mark.parametrize(
    ("owner", "store"), [("user_id=bob", STORE), ("user_id=alice", "qdrant /data/q others"), ("agent_id=alice", STORE)]
)
def test_another_owner_or_store_has_another_trace(owner: str, store: str) -> None:
    with memory("user_id=alice"):
        alice = here()
    with memory(owner, store):
        assert here() not in {alice, None}


def test_trace_and_session_are_told_once(recorded: MemoryExporter) -> None:
    for _ in range(3):
        with memory("user_id=alice"):
            pass
    with placing.of_memory(STORE, "user_id=alice", what="mem0", session="talk 7"):
        pass
    (trace,) = recorded.of("trace")
    assert trace["name"] == "mem0: user_id=alice"
    assert trace["attributes"] == {"store": STORE, "owner": "user_id=alice"}
    assert [event["name"] for event in recorded.of("session")] == [f"run of {program_name.program()}", "talk 7"]


def test_nothing_is_left_in_the_thread_that_served_a_user() -> None:
    with ThreadPoolExecutor(1) as worker:
        worker.submit(search, "user_id=alice", "what do I like?", "Alice likes blue cheese").result()
        assert worker.submit(here).result() is None
        unrelated = worker.submit(placed, "a prompt with nothing of hers").result()
        with memory("user_id=alice"):
            assert unrelated != here()


def test_what_was_handed_out_places_the_model_s_call() -> None:
    alice, (cheese,) = search("user_id=alice", "what does she like?", "Alice likes blue cheese")
    bob, (tea,) = search("user_id=bob", "what does he like?", "Bob drinks green tea")
    assert placed([{"role": "user", "content": cheese}]) == alice
    assert placed([{"role": "user", "content": [{"type": "text", "text": tea}]}]) == bob
    assert placed(f"Known:\n- {'Alice likes ' + 'blue cheese'}\nAnswer.") == alice


def test_equal_texts_of_two_users_are_told_apart_by_the_object() -> None:
    alice, (hers,) = search("user_id=alice", "what do I like?", "User likes blue cheese")
    bob, (his,) = search("user_id=bob", "what do I like?", "User likes blue cheese")
    assert alice != bob
    assert placed([hers]) == alice
    assert placed([his]) == bob


def test_equal_texts_in_a_prompt_are_told_apart_by_where_they_were_given_out() -> None:
    ready = threading.Barrier(8)

    def serve(user: int) -> tuple[str | None, str | None]:
        trace, (unit,) = search(f"user_id={user}", "what do I like?", "User likes blue cheese")
        ready.wait()
        return trace, placed(f"Context: {unit}. Question: what do I like?")

    with ThreadPoolExecutor(8) as pool:
        pairs = list(pool.map(serve, range(8)))
    assert all(searched == answered for searched, answered in pairs)
    assert len({searched for searched, _ in pairs}) == 8
    with ThreadPoolExecutor(1) as elsewhere:  # where nothing was given out, nobody is chosen
        found = elsewhere.submit(placed, "Context: User likes blue cheese. Question: what do I like?").result()
    assert found not in {searched for searched, _ in pairs}


async def _serve(user: int) -> tuple[str | None, str | None]:
    await asyncio.sleep(0)
    trace, (unit,) = search(f"user_id={user}", "what do I like?", "User likes blue cheese")
    await asyncio.sleep(0.001 * (user % 7))
    return trace, placed(f"Context: {unit}")


def test_hundreds_of_tasks_do_not_mix() -> None:
    async def run() -> Iterable[tuple[str | None, str | None]]:
        return await asyncio.gather(*(_serve(user) for user in range(300)))

    pairs = list(asyncio.run(run()))
    assert all(searched == answered for searched, answered in pairs)
    assert len({searched for searched, _ in pairs}) == 300


def test_a_search_that_found_nothing_still_places_the_answer_here_but_not_elsewhere() -> None:
    alice, _ = search("user_id=alice", "What is the name of my dog?")
    assert placed([{"role": "user", "content": "What is the name of my dog?"}]) == alice
    with ThreadPoolExecutor(1) as elsewhere:
        asked_by_another = elsewhere.submit(placed, "What is the name of my dog?").result()
    assert asked_by_another != alice


def test_unrelated_calls_have_traces_of_their_own_named_after_the_program(recorded: MemoryExporter) -> None:
    assert placed("one question") != placed("one question")
    assert {event["name"] for event in recorded.of("trace")} == {f"{program_name.program()}: openai chat"}


def test_a_short_text_is_no_reason() -> None:
    alice, _ = search("user_id=alice", "what is it?", "yes")
    assert placed("Answer yes or no.") != alice


def test_texts_are_found_in_scripts_without_spaces() -> None:
    alice, _ = search("user_id=alice", "她喜欢什么?", "爱丽丝非常喜欢吃蓝纹奶酪和面包")
    assert placed("已知信息:爱丽丝非常喜欢吃蓝纹奶酪和面包。请回答问题") == alice


def test_a_task_that_outlives_the_call_around_it_is_placed_anew() -> None:
    """A queue's task is started by its first user, and then works for all."""

    async def run() -> None:
        work: asyncio.Queue[str] = asyncio.Queue()
        seen: list[str | None] = []

        async def worker() -> None:
            for _ in range(2):
                owner = await work.get()
                with memory(owner):
                    seen.append(here())

        with memory("user_id=alice"):
            alice = here()
            task = asyncio.create_task(worker())
            await work.put("user_id=alice")
            await asyncio.sleep(0)
        await work.put("user_id=bob")
        await task
        assert seen[0] == alice
        assert seen[1] not in {alice, None}

    asyncio.run(run())


def test_an_unsampled_trace_is_not_recorded(recorded: MemoryExporter) -> None:
    memtrace.configure(exporter=recorded, sampling=0.0)
    with memory("user_id=alice") as place:
        assert not place.is_recorded
        assert here() is None
        assert placed("within it") is None
    memtrace.configure(exporter=recorded)
    assert not recorded.events


def test_the_longest_of_texts_that_begin_alike_is_found() -> None:
    alice, _ = search("user_id=alice", "q?", "User likes blue", "User likes blue cheese")
    with memory("user_id=alice"):
        inside = handed_out.inside("Remember: User likes blue cheese. And User likes blue skies.")
    assert [same.text for same in inside] == ["User likes blue cheese", "User likes blue"]
    assert all(list(same.given) == [alice] for same in inside)


def test_a_private_store_keeps_its_identity_and_no_other_has_it() -> None:
    class Store:
        pass

    one, two = Store(), Store()
    assert placing.private_store("store", one) == placing.private_store("store", one)
    assert placing.private_store("store", one) != placing.private_store("store", two)


def chosen(*contents: object, continued: Iterable[str] = (), named: Home | None = None) -> Home:
    return placing.contents_home(contents, what="openai chat", named=lambda: named, continued=lambda: list(continued))


def is_new(found: Home, *others: str | None) -> bool:
    return found.trace not in others and found.name == f"{program_name.program()}: openai chat"


def replied(owner: str, reply: str) -> tuple[str, str]:
    """A model's reply in a memory's trace: only the same object proves the trace."""
    with memory(owner), memtrace.operation("answer", kind="Generation") as step:
        made = step.output(reply, "reply", kind="Answer")
        variable = memtrace.find(made)
        assert variable is not None
        placing.gave(made, variable, proof="object")
        return here() or "", made


def test_a_continued_conversation_places_a_call_whose_contents_say_nothing() -> None:
    assert chosen("hello there", continued=["talk"]).trace == "talk"
    # Several traces have the same messages: the one that gave something here last is meant, or none.
    assert is_new(chosen("hello there", continued=["talk", "other"]), "talk", "other")
    alice, (cheese,) = search("user_id=alice", "what do I like?", "Alice likes blue cheese")
    assert alice is not None
    assert chosen("hello there", continued=["talk", alice]).trace == alice
    assert is_new(chosen("hello there", continued=["talk", "other"]), "talk", "other", alice)
    # What the contents prove comes before the conversation.
    assert chosen(cheese, continued=["talk"]).trace == alice
    assert chosen("what do I like?", continued=["talk"]).trace == "talk"


def test_most_of_the_contents_decide_and_a_tie_goes_to_the_question_or_to_the_last_trace() -> None:
    alice, hers = search("user_id=alice", "what do we like?", "Alice likes blue cheese", "Alice likes old wine")
    bob, his = search("user_id=bob", "and what do I like?", "Bob drinks green tea", "Bob drinks cold milk")
    whole = [*hers, his[0]]
    assert chosen(*whole).trace == chosen("; ".join(whole)).trace == alice
    assert chosen(hers[0], his[0]).trace == bob
    assert chosen(hers[0], his[0], "what do we like?").trace == alice
    with ThreadPoolExecutor(1) as elsewhere:
        assert is_new(elsewhere.submit(chosen, hers[0], his[0]).result(), alice, bob)
        carol, _ = elsewhere.submit(search, "user_id=carol", "what else is there?", "Carol eats apples").result()
        assert is_new(elsewhere.submit(chosen, hers[0], his[0]).result(), alice, bob, carol)


def test_a_named_conversation_gives_way_to_a_memory_alone() -> None:
    alice, (cheese,) = search("user_id=alice", "what do I like?", "Alice likes blue cheese")
    talk = placing.conversation_home("c1")
    assert chosen("hello there", named=talk).trace == talk.trace
    for given in (cheese, f"Known: {'Alice likes ' + 'blue cheese'}"):
        found = chosen(given, named=talk)
        assert (found.trace, found.session, found.name) == (alice, "c1", "")
    bob, reply = replied("user_id=bob", "You like old cheese best of all")
    assert chosen(reply).trace == bob
    assert chosen(reply, named=talk).trace == talk.trace
    assert chosen("what do I like?", named=talk).trace == talk.trace


def test_a_conversation_has_its_id_as_session_unless_it_has_a_name_of_its_own() -> None:
    plain, called = placing.conversation_home("c1"), placing.conversation_home("c1", name="a talk")
    assert plain.trace == called.trace != placing.conversation_home("c2").trace
    assert (plain.name, plain.session) == (f"{program_name.program()}: c1", "c1")
    assert (called.name, called.session) == (f"{program_name.program()}: a talk", None)


def test_a_store_that_takes_no_attribute_has_an_identity_as_long_as_it_lives() -> None:
    class Slotted:
        __slots__ = ()

    one, two = Slotted(), Slotted()
    assert placing.private_store("store", one) == placing.private_store("store", one)
    assert placing.private_store("store", one) != placing.private_store("store", two)


def test_a_run_in_one_trace_keeps_all_calls_together(recorded: MemoryExporter, monkeypatch: pytest.MonkeyPatch) -> None:
    def call(conversation: str | None = None) -> str:
        home = None if conversation is None else placing.conversation_home(conversation)
        with placing.of_contents([], what="openai chat", named=lambda: home):
            memtrace.variable("text", "Other", "Which gate?")
        return str(recorded.events[-1]["trace"])

    def keep(store: str) -> str:
        with placing.of_memory(store, "", what="memory"):
            memtrace.variable("text", "Other", "Gate 12")
        return str(recorded.events[-1]["trace"])

    private = placing.private_store("InMemoryStore", object())
    assert len({call(), call(), call("may"), call("june"), keep(private)}) == 5
    monkeypatch.setenv("MEMTRACE_ONE_TRACE", "1")
    one = call()
    assert {call(), call("july"), call("august"), keep(private)} == {one}
    assert {event["name"] for event in recorded.of("session")} >= {"july", "august"}
    # Other runs read and write these memories, too.
    assert keep("chroma /data/c gates") != one
    assert keep("chroma /data/kept in memory of Ann gates") != one
    with memtrace.trace("mine", id="mine"):
        assert call("july") == "mine"
    monkeypatch.setenv("MEMTRACE_RUN", "another")
    assert call() != one
