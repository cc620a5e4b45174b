"""A script for the packages' environments: records a memory of LangGraph or mem0, forks it twice, and compares.

Prints the result as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import memtrace
from memtrace.exporters.memory import MemoryExporter

STORES: dict[str, Any] = {}


def _langgraph(store: Any, message: str) -> list[str]:
    """A graph that puts a message into a store, and reads all messages of the store."""
    from typing import TypedDict

    from langgraph.graph import END, START, StateGraph

    class State(TypedDict, total=False):
        message: str
        found: list[str]

    @memtrace.operation(kind="Update", output="MemoryUnit")
    def remember(message: str) -> str:
        number = len(store.search(("notes",), limit=100))
        store.put(("notes",), f"k{number}", {"text": message})
        return message

    @memtrace.operation(kind="Retrieval")
    def search(question: str) -> list[str]:
        return [item.value["text"] for item in store.search(("notes",), limit=100)]

    def write(state: State) -> State:
        remember(state["message"])
        return {}

    def read(state: State) -> State:
        return {"found": search(memtrace.variable("What is noted?", kind="Query", name="question"))}

    graph = StateGraph(State)
    graph.add_node("write", write)
    graph.add_node("read", read)
    graph.add_edge(START, "write")
    graph.add_edge("write", "read")
    graph.add_edge("read", END)
    found: list[str] = graph.compile(store=store).invoke({"message": message})["found"]
    return found


def _store() -> Any:
    """The store of this process, found by the program as an application's global."""
    from langgraph.store.memory import InMemoryStore

    if "store" not in STORES:
        STORES["store"] = InMemoryStore()
    return STORES["store"]


def langgraph(message: str) -> str:
    """The program; each replay must find the store's original content."""
    given = {"message": message}
    with memtrace.trace("langgraph", id="langgraph", program="tests.optimization.forks:langgraph", input=given):
        memtrace.replay.state("notes", memtrace.replay.LangGraphStoreSnapshot(_store()))
        text = memtrace.variable(message, kind="Message", name="m1")
        return answer(_langgraph(_store(), text))


@memtrace.operation(kind="Generation", output="Answer", output_name="answer")
def answer(notes: list[str]) -> str:
    """The notes as one text."""
    return " | ".join(notes)


def _mem0(folder: str, server: str) -> Any:
    from mem0 import Memory

    openai = {"api_key": "x", "openai_base_url": server}
    return Memory.from_config(
        {
            "llm": {"provider": "openai", "config": {**openai, "model": "s"}},
            "embedder": {"provider": "openai", "config": {**openai, "model": "e", "embedding_dims": 32}},
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "path": f"{folder}/qdrant",
                    "embedding_model_dims": 32,
                    "on_disk": True,
                    "collection_name": "c",
                },
            },
            "history_db_path": f"{folder}/history.db",
        }
    )


def mem0(folder: str, server: str, message: str) -> str:
    """The program: adds a message to a mem0 memory in a folder, and returns all units."""
    given = {"folder": folder, "server": server, "message": message}
    with memtrace.trace("mem0", id="mem0", program="tests.optimization.forks:mem0", input=given):
        own = memtrace.replay.place(folder)
        memory = _mem0(own, memtrace.replay.model_url(server))

        @memtrace.operation(kind="Update", output=False)
        def add(message: str) -> None:
            memory.add([{"role": "user", "content": str(message)}], user_id="u")

        @memtrace.operation(kind="Retrieval")
        def search(question: str) -> list[str]:
            return sorted(one["memory"] for one in memory.get_all(filters={"user_id": "u"})["results"])

        add(memtrace.variable(message, kind="Message", name="m1"))
        found = search(memtrace.variable("What is noted?", kind="Query", name="question"))
        memory.vector_store.client.close()
        return answer(found)


def digest(folder: Path) -> str:
    """A hash of all files of a folder, with names and contents."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


def _held() -> str:
    items = _store().search(("notes",), limit=100)
    return json.dumps([[item.key, item.value, str(item.created_at), str(item.updated_at)] for item in items])


ASK = memtrace.replay.Ask("answer", "Answer", "What is noted?")


def _forked(name: str, operation: str, held: Any) -> dict[str, Any]:
    """Two forks with different messages, and null replays before and after the forks."""
    kept = memtrace.replay.folder_of(name)
    before = held(), digest(kept)
    with memtrace.replay.Replayer(kept) as replayer:
        null = replayer.run(ask=ASK)
        call = next(one.call for one in null.calls if operation in one.call)
        forks = [
            replayer.run([memtrace.replay.Do(call, inputs={"message": text})], "mixed", ask=ASK)
            for text in ("I have a cat called Mia.", "I have a fish called Bob.")
        ]
        again = replayer.run(ask=ASK)
    return {
        "null": [null.answers, null.error, null.problems, null.live],
        "again": [again.answers, again.error, again.problems, again.live],
        "forks": [[one.answers, one.error, one.problems] for one in forks],
        "untouched": before == (held(), digest(kept)),
    }


def main(what: str, folder: str) -> None:
    """Record a run of ``what`` ("langgraph" or "mem0"), fork the run, and print how both stores compare, as JSON."""
    os.environ["MEMTRACE_REPLAY"] = f"{folder}/kept"
    memtrace.configure(exporter=MemoryExporter())
    if what == "langgraph":
        _store().put(("notes",), "k0", {"text": "The tea is in the tin."})
        said = langgraph("I have a dog called Bo.")
        found = _forked("langgraph", "remember", _held)
    else:
        memory, server = f"{folder}/memory", os.environ["MEMTRACE_TEST_MODEL"]
        Path(memory).mkdir()
        first = _mem0(memory, server)
        first.add([{"role": "user", "content": "I keep the tea in the tin."}], user_id="u")
        first.vector_store.client.close()
        said = mem0(memory, server, "I have a dog called Bo.")
        found = _forked("mem0", "add", lambda: digest(Path(memory)))
    print(json.dumps({"said": said, **found}))  # noqa: T201 (read by the test)


if __name__ == "__main__":
    main(*sys.argv[1:])
