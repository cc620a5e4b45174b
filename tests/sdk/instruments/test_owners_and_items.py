"""What calls of memories name and ask for, which memories an EverOS answer has, and which Python runs a program."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from memtrace.instruments.everos.items import MAX_ITEMS, Item, items
from memtrace.instruments.langgraph import calls
from memtrace.instruments.langgraph.items import Ask, Write
from memtrace.instruments.mem0.owners import Owner, owner_of, store_of
from memtrace.instruments.run import checked, environment, interpreter_of


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ({}, Owner()),
        ({"user_id": "u"}, Owner("user_id=u")),
        ({"user_id": " u "}, Owner("user_id=u")),
        ({"user_id": 7}, Owner("user_id=7")),
        ({"user_id": 1.5, "agent_id": "a"}, Owner("agent_id=a")),
        ({"user_id": "", "agent_id": "a"}, Owner("agent_id=a")),
        ({"user_id": " * ", "run_id": "r"}, Owner("run_id=r")),
        ({"run_id": "r"}, Owner("run_id=r")),
        ({"user_id": "u", "run_id": "r"}, Owner("user_id=u", "r")),
        ({"agent_id": "a", "run_id": "r", "user_id": "u"}, Owner("user_id=u", "r")),
        ({"filters": {"user_id": "u"}}, Owner("user_id=u")),
        ({"user_id": "u", "filters": {"user_id": "v", "run_id": "r"}}, Owner("user_id=u", "r")),
        ({"filters": {"user_id": {"eq": "u"}}}, Owner("user_id=u")),
        ({"filters": {"user_id": {"ne": "u"}}}, Owner()),
        ({"filters": {"AND": [{"user_id": "u"}, {"run_id": {"eq": "r"}}, "x"]}}, Owner("user_id=u", "r")),
        ({"filters": {"AND": [{"AND": [{"agent_id": "a"}]}]}}, Owner("agent_id=a")),
        ({"filters": {"AND": {"user_id": "u"}}}, Owner()),
        ({"filters": {"AND": "user_id"}}, Owner()),
        ({"filters": {"OR": [{"user_id": "u"}]}}, Owner()),
        ({"filters": "user_id"}, Owner()),
    ],
)
def test_the_widest_owner_that_a_call_names(said: dict[str, Any], wanted: Owner) -> None:
    assert owner_of(said) == wanted


class _Op(SimpleNamespace):
    """An operation in a batch, as LangGraph's own classes are: known by the class's name."""


class GetOp(_Op): ...


class SearchOp(_Op): ...


class PutOp(_Op): ...


class ListNamespacesOp(_Op): ...


_SEARCHED: dict[str, Any] = {"filter": {"about": "Rex"}, "limit": 3, "offset": 1}


@pytest.mark.parametrize(
    ("op", "method", "said", "wanted"),
    [
        (GetOp(namespace=("a",), key=7), "get", {"namespace": ["a"], "key": 7}, Ask("get", ("a",), "7", None)),
        (
            SearchOp(namespace_prefix=("a", "b"), query="q", **_SEARCHED),
            "search",
            {"namespace_prefix": ["a", "b"], "query": "q", **_SEARCHED},
            Ask("search", ("a", "b"), None, "q", _SEARCHED),
        ),
        (
            SearchOp(namespace_prefix=(), query=None, filter=None, limit=10, offset=0),
            "search",
            {"namespace_prefix": (), "limit": 10},
            Ask("search", (), None, None, {"limit": 10}),
        ),
        (
            PutOp(namespace=("a",), key="k", value={"n": 1}),
            "put",
            {"namespace": ("a",), "key": "k", "value": {"n": 1}},
            Write("put", ("a",), "k", {"n": 1}),
        ),
        (
            PutOp(namespace=("a",), key="k", value=None),
            "delete",
            {"namespace": ("a",), "key": "k"},
            Write("delete", ("a",), "k", None),
        ),
    ],
)
def test_an_operation_in_a_batch_asks_what_the_same_call_asks(
    op: _Op, method: str, said: dict[str, Any], wanted: Ask | Write
) -> None:
    assert calls._of_op(op) == wanted
    assert calls._of_call(method, (), said) == wanted


def test_a_listing_of_namespaces_reads_no_memory() -> None:
    assert calls._of_op(ListNamespacesOp()) is None


class _Memory:
    def __init__(self, provider: str, config: Any) -> None:
        settings = SimpleNamespace(provider=provider, config=config)
        self.config = SimpleNamespace(vector_store=settings)
        self.vector_store = SimpleNamespace()


@pytest.mark.parametrize(
    ("provider", "config", "wanted"),
    [
        ("qdrant", {"host": "h", "port": 6333, "collection_name": "c"}, "qdrant h 6333 c"),
        ("qdrant", SimpleNamespace(host="h", port=6333, collection_name="c"), "qdrant h 6333 c"),
        ("qdrant", {"host": "h", "port": 6333}, "qdrant h 6333 "),
        ("qdrant", {"url": "https://me:secret@h:1/x?key=k#f", "api_key": "k", "collection_name": "c"},
         "qdrant https://h:1/x c"),
        ("qdrant", {"url": "https://h/x", "collection_name": "c"}, "qdrant https://h/x c"),
        ("pgvector", {"dbname": "d", "user": "u", "password": "secret", "host": "h", "collection_name": "c"},
         "pgvector h d c"),
        ("faiss", {"path": "/a/b", "collection_name": "c"}, "faiss /a/b c"),
        ("faiss", {"path": "b", "collection_name": "c"}, f"faiss {Path.cwd() / 'b'} c"),
        ("faiss", {"path": "~/b", "collection_name": "c"}, f"faiss {Path.home() / 'b'} c"),
    ],
)  # fmt: skip
def test_the_name_of_a_store_has_its_address_and_no_secret(provider: str, config: Any, wanted: str) -> None:
    memory = _Memory(provider, config)
    assert store_of(memory) == wanted
    memory.config.vector_store.provider = "another"
    assert store_of(memory) == wanted  # a memory keeps its name


@pytest.mark.parametrize(
    "config", [{}, {"path": ":memory:"}, {"host": "h", "client": object()}, {"host": "", "path": None}]
)
def test_a_store_without_an_address_is_of_this_process(config: dict[str, Any]) -> None:
    one, other = (
        _Memory("qdrant", config | {"collection_name": "c"}),
        _Memory("qdrant", config | {"collection_name": "c"}),
    )
    assert store_of(one).endswith(" c")
    assert store_of(one) != store_of(other)
    assert "qdrant h" not in store_of(one)


def _found(answer: Any) -> list[tuple[str, str, float | None]]:
    return [(one.id, one.text, one.score) for one in items(answer)]


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        (None, []),
        ("text", []),
        ({"id": "a", "text": "t"}, [("a", "t", None)]),
        ({"memory_id": "a", "text": "t"}, [("a", "t", None)]),
        ({"id": "", "memory_id": "a", "text": "t"}, [("a", "t", None)]),
        ({"id": 5, "text": "t"}, []),
        ({"id": "a"}, []),
        ({"id": "a", "text": ""}, []),
        ({"id": "a", "text": "t", "summary": "s", "content": "c"}, [("a", "s", None)]),
        ({"id": "a", "episode": "", "atomic_fact": ["one", "two"], "foresight": "f"}, [("a", "one\ntwo", None)]),
        ({"id": "a", "atomic_fact": ["one", 2], "foresight": "f"}, [("a", "f", None)]),
        ({"id": "a", "atomic_fact": [], "description": "d"}, [("a", "d", None)]),
        ({"id": "a", "text": "t", "score": 1}, [("a", "t", 1.0)]),
        ({"id": "a", "text": "t", "score": "1"}, [("a", "t", None)]),
        ([{"id": "b", "text": "1"}, {"id": "a", "text": "2"}], [("b", "1", None), ("a", "2", None)]),
        ([{"id": "a", "text": "first"}, {"id": "a", "text": "second"}], [("a", "first", None)]),
        ({"result": {"memories": ({"id": "a", "text": "t"},)}}, [("a", "t", None)]),
        ({"id": "a", "text": "t", "inside": {"id": "b", "text": "u"}}, [("a", "t", None), ("b", "u", None)]),
        *[
            ({name: [{"id": "a", "text": "t"}]}, [])
            for name in ("original_data", "pending_messages", "raw_messages", "unprocessed_messages")
        ],
    ],
)
def test_the_memories_of_an_answer(answer: Any, wanted: list[tuple[str, str, float | None]]) -> None:
    assert _found(answer) == wanted


class _Model:
    model_fields: ClassVar[dict[str, Any]] = {}

    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)


def test_models_are_read_like_dictionaries_and_kept_as_they_are() -> None:
    inner = _Model(id="a", text="t", score=0.5)
    assert items(_Model(memories=[inner])) == [Item("a", "t", 0.5, inner)]
    assert items(SimpleNamespace(id="a", text="t")) == []


@pytest.mark.parametrize(("depth", "count"), [(6, 1), (7, 0)])
def test_memories_that_lie_deep_are_left_out(depth: int, count: int) -> None:
    answer: Any = {"id": "a", "text": "t"}
    for _ in range(depth):
        answer = [answer]
    assert len(items(answer)) == count


@pytest.mark.parametrize(("others", "count"), [(MAX_ITEMS - 2, 1), (MAX_ITEMS - 1, 0)])
def test_so_many_values_of_an_answer_are_looked_at(others: int, count: int) -> None:
    assert len(items([*[None] * others, {"id": "a", "text": "t"}])) == count


@pytest.mark.parametrize(
    ("instruments", "before", "more", "wanted"),
    [
        ((), None, {}, "all"),
        ((), " ", {}, "all"),
        ((), "mem0", {}, "mem0"),
        ((), None, {"MEMTRACE_INSTRUMENT": "openai"}, "openai"),
        ((), "mem0", {"MEMTRACE_INSTRUMENT": None}, "mem0"),
        (("openai", "mem0"), "everos", {}, "openai,mem0"),
        (("openai", "all"), "everos", {}, "all"),
    ],
)
def test_the_instruments_of_a_started_program(
    instruments: tuple[str, ...], before: str | None, more: dict[str, str | None], wanted: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.delenv("MEMTRACE_INSTRUMENT", raising=False)
    monkeypatch.setenv("SOME_SETTING", "kept")
    if before is not None:
        monkeypatch.setenv("MEMTRACE_INSTRUMENT", before)
    found = environment(instruments, more | {"OTHER": "new", "SOME_SETTING": None})
    assert (found["MEMTRACE_INSTRUMENT"], found["OTHER"], found["SOME_SETTING"]) == (wanted, "new", "kept")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no first lines of scripts")
@pytest.mark.parametrize(
    ("name", "first", "wanted"),
    [
        ("python3.11", "", "itself"),
        ("pypy3", "", "itself"),
        ("app", "#!/opt/bin/python3 -E\n", "/opt/bin/python3"),
        ("app", "#! /opt/bin/pypy\n", "/opt/bin/pypy"),
        ("app", "#!/bin/sh\n", None),
        ("app", "#!\n", None),
        ("app", "\x7fELF", None),
        ("app", "#!/usr/bin/env python-of-a-test\n", "found"),
        ("app", "#!/usr/bin/env -S python-of-a-test\n", "found"),
        ("app", "#!/usr/bin/env python-that-is-absent\n", None),
    ],
)
def test_the_python_that_runs_a_program(
    name: str, first: str, wanted: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = tmp_path / "bin" / "python-of-a-test"
    found.parent.mkdir()
    found.write_text("", "utf-8")
    found.chmod(0o755)
    monkeypatch.setenv("PATH", str(found.parent))
    path = tmp_path / name
    path.write_text(first, "utf-8")
    assert interpreter_of(str(path)) == {"itself": str(path), "found": str(found)}.get(wanted or "", wanted)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ([], "name the program to run, such as: memtrace run -- python app.py"),
        (["no-such-program"], "there is no program 'no-such-program' that can be run"),
    ],
)
def test_a_program_that_can_not_be_run_is_named(command: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="program") as caught:
        checked(command, {"PATH": str(tmp_path), "MEMTRACE_INSTRUMENT": "all"})
    assert str(caught.value) == message
