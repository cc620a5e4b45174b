"""Kept replies, identities of calls, and snapshots of a program's state."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from memtrace.identity import Variable
from memtrace.replay import replies, snapshots
from memtrace.replay.calls import Call, Turns, content, given, returns, shape
from memtrace.replay.replies import Replies, Reply
from memtrace.replay.snapshots import LangGraphStoreSnapshot, PathSnapshot, SqliteSnapshot

REPLY = Reply(201, "text/plain", b"a\nb\n")


def test_a_reply_has_the_name_of_its_request_and_turn(tmp_path: Path) -> None:
    kept = Replies(tmp_path, "record")
    first = kept.name("POST", "/chat", b'{"a": 1, "b": [2]}')
    asked, _, turn = first.rpartition(".")
    assert turn == "0"
    assert kept.name("POST", "/chat", b'{"b":[2],"a":1}') == f"{asked}.1"
    others = [
        ("GET", "/chat", b'{"a": 1, "b": [2]}'),
        ("POST", "/chats", b'{"a": 1, "b": [2]}'),
        ("POST", "/chat", b'{"a": 1, "b": [3]}'),
        ("POST", "/cha", b't{"a": 1, "b": [2]}'),
        ("POST", "/chat", b"no JSON"),
        ("POST", "/chat", b"no  JSON"),
    ]
    names = {kept.name(*other) for other in others}
    assert len(names | {first}) == 1 + len(others)
    assert {name.rpartition(".")[2] for name in names} == {"0"}


def test_a_turn_that_is_given_back_is_the_next(tmp_path: Path) -> None:
    kept = Replies(tmp_path, "record")
    names = [kept.name("GET", "/", b"") for _ in range(3)]
    kept.give_back(names[2])
    kept.give_back(names[0])
    assert [kept.name("GET", "/", b"") for _ in range(3)][:2] == [names[0], names[2]]
    assert kept.name("GET", "/", b"").endswith(".4")


@pytest.mark.parametrize(
    ("mode", "gives", "keeps", "asks"),
    [
        ("record", False, True, True),
        ("kept", True, False, False),
        ("mixed", True, False, True),
        ("fresh", False, False, True),
        ("resume", True, True, True),
    ],
)
def test_each_mode_gives_keeps_and_asks(tmp_path: Path, mode: str, gives: bool, keeps: bool, asks: bool) -> None:
    Replies(tmp_path / "r", "record").keep("old.0", REPLY)
    kept = Replies(tmp_path / "r", mode, ["other.0"])
    assert kept.may_ask is asks
    assert kept.find("old.0") == (REPLY if gives else None)
    assert kept.used == ({"old.0"} if gives else set())
    assert kept.find("missing.0") is None
    assert kept.keep("new.0", REPLY)
    assert (tmp_path / "r" / "new.0").exists() is keeps
    assert kept.new == ({"new.0"} if keeps else set())
    kept.copy(tmp_path / "copy")
    assert sorted(one.name for one in (tmp_path / "copy").iterdir()) == sorted(kept.used | kept.new)


def test_replies_that_are_wanted_fresh_or_are_damaged_are_not_given(tmp_path: Path) -> None:
    kept = Replies(tmp_path, "record")
    for name in ("a.0", "b.0", "c.0"):
        kept.keep(name, REPLY)
    (tmp_path / "c.0").write_bytes((tmp_path / "c.0").read_bytes()[:-1])
    mixed = Replies(tmp_path, "mixed", ["a.0"])
    assert [mixed.find(name) for name in ("a.0", "b.0", "c.0")] == [None, REPLY, None]
    assert mixed.used == {"b.0"}


def test_no_more_is_kept_than_there_is_room_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "MAX_BYTES", 2 * len(REPLY.body))
    kept = Replies(tmp_path, "record")
    assert [kept.keep(f"{number}.0", REPLY) for number in range(3)] == [True, True, False]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["0.0", "1.0"]
    assert kept.new == {"0.0", "1.0"}


@pytest.mark.parametrize("text", ["pkg.mod:Agent.search#0f3c.0", "m:f#a.12"])
def test_a_call_is_read_as_written(text: str) -> None:
    assert str(Call.parse(text)) == text


@pytest.mark.parametrize("text", ["", "m:f", "m:f#", "m:f#a", "m:f#a.", "m:f#.0", "#a.0", "m:f#a.x", "m:f#a.-1"])
def test_what_names_no_call(text: str) -> None:
    with pytest.raises(ValueError, match="names no call"):
        Call.parse(text)


class Agent:
    def search(self, query: str, *more: object, top: int = 3) -> list[str]:
        return [query]

    @classmethod
    def named(cls, name: str) -> Agent:
        return cls()


def plain(a: object, b: object = None) -> None:
    """A function without a rest."""


def test_the_shape_of_a_function() -> None:
    assert shape(Agent.search) == (f"{__name__}:Agent.search", ("self", "query"), "more")
    assert shape(plain) == (f"{__name__}:plain", ("a", "b"), None)
    assert shape(len) == ("builtins:len", (), None)
    assert [returns(one) for one in (Agent.search, Agent.named, plain, len)] == ["list[str]", "Agent", "None", None]


VARIABLE = Variable("id", "name", 1, "Message", 1)


@pytest.mark.parametrize(
    ("names", "rest", "args", "kwargs", "found"),
    [
        (("a", "b"), None, (1, "x"), {}, {"a": 1, "b": "x"}),
        (("a", "b"), None, (1,), {"b": 2, "c": 3}, {"a": 1, "b": 2, "c": 3}),
        (("self", "a"), None, (Agent(), 1), {}, {"a": 1}),
        (("cls", "a"), None, (Agent, 1), {}, {"a": 1}),
        (("a", "self"), None, (1, "s"), {}, {"a": 1, "self": "s"}),
        (("a",), "more", (1, 2, 3), {}, {"a": 1, "more": (2, 3)}),
        (("a",), "more", (1,), {}, {"a": 1}),
        (("a",), None, (1, 2), {}, {"a": 1}),
        (("a", "b"), None, (Agent(), VARIABLE), {"c": print}, {"b": VARIABLE}),
    ],
)
def test_arguments_that_are_data(
    names: tuple[str, ...], rest: str | None, args: tuple[Any, ...], kwargs: dict[str, Any], found: dict[str, Any]
) -> None:
    assert given(names, rest, args, kwargs) == found


def test_equal_calls_are_counted() -> None:
    turns = Turns()
    agent = Agent()
    calls = [
        turns.call(Agent.search, (agent, "q"), {}),
        turns.call(Agent.search, (Agent(), "q"), {}),
        turns.call(Agent.search, (agent,), {"query": "q"}),
        turns.call(Agent.search, (agent, "q", "more"), {}),
        turns.call(plain, ("q",), {}),
    ]
    assert [call.turn for call in calls] == [0, 1, 2, 0, 0]
    assert len({call.digest for call in calls}) == 3
    assert calls[0].function == f"{__name__}:Agent.search"
    assert turns.of("f", {"a": 1, "b": 2}).digest == turns.of("f", {"b": 2, "a": 1}).digest
    assert Turns().call(Agent.search, (agent, "q"), {}) == calls[0]


def test_content_of_arguments() -> None:
    assert content({"b": float("nan"), "a": VARIABLE}) == b'{"a":"name","b":"NaN"}'
    assert content({"a": {1: object}}) == content({"a": {1: object}})


def test_a_file_or_folder_is_restored(tmp_path: Path) -> None:
    folder, file, saved = tmp_path / "memory", tmp_path / "notes.txt", tmp_path / "saved"
    (folder / "inner").mkdir(parents=True)
    for name in ("a.txt", ".lock", "b-wal", "inner/c.txt"):
        (folder / name).write_text(name)
    file.write_text("old")
    with closing(sqlite3.connect(folder / "m.db")) as held:
        held.execute("PRAGMA journal_mode=WAL")
        held.execute("CREATE TABLE t (x)")
        held.execute("INSERT INTO t VALUES (1)")
        held.commit()
        assert (folder / "m.db-wal").exists()
        for number, path in enumerate((folder, file, tmp_path / "missing")):
            (saved / str(number)).mkdir(parents=True)
            PathSnapshot(path).save(saved / str(number))
    (folder / "a.txt").write_text("changed")
    (folder / "new.txt").touch()
    file.unlink()
    (tmp_path / "missing").touch()
    for number, path in enumerate((folder, file, tmp_path / "missing")):
        PathSnapshot(path).restore(saved / str(number))
    assert {one.name: one.read_text() for one in folder.glob("*") if one.suffix == ".txt" or "wal" in one.name} == {
        "a.txt": "a.txt",
        "b-wal": "b-wal",
    }
    assert not (folder / ".lock").exists()
    assert (folder / "inner" / "c.txt").read_text() == "inner/c.txt"
    assert (file.read_text(), (tmp_path / "missing").exists()) == ("old", False)
    with closing(sqlite3.connect(folder / "m.db")) as again:
        assert again.execute("SELECT x FROM t").fetchall() == [(1,)]


def test_a_database_in_memory_is_restored(tmp_path: Path) -> None:
    with closing(sqlite3.connect(":memory:")) as held:
        held.execute("CREATE TABLE t (x)")
        SqliteSnapshot(held).save(tmp_path)
        held.execute("INSERT INTO t VALUES (1)")
        held.commit()
        SqliteSnapshot(held).restore(tmp_path)
        assert held.execute("SELECT x FROM t").fetchall() == []


class Store:
    """A store of LangGraph, as far as a snapshot uses it; a search finds items of longer namespaces, too."""

    def __init__(self) -> None:
        self.items: dict[tuple[tuple[str, ...], str], Any] = {}

    def put(self, namespace: tuple[str, ...], key: str, value: Any) -> None:
        self.items[namespace, key] = value

    def delete(self, namespace: tuple[str, ...], key: str) -> None:
        del self.items[namespace, key]

    def list_namespaces(self, limit: int, offset: int) -> list[tuple[str, ...]]:
        return sorted({namespace for namespace, _ in self.items})[offset : offset + limit]

    def search(self, prefix: tuple[str, ...], limit: int, offset: int) -> list[Any]:
        found = [
            SimpleNamespace(namespace=namespace, key=key, value=value)
            for (namespace, key), value in self.items.items()
            if namespace[: len(prefix)] == prefix
        ]
        return found[offset : offset + limit]


@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_a_store_is_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int) -> None:
    monkeypatch.setattr(snapshots, "_AT_ONCE", at_once)
    store = Store()
    for number in range(3):
        store.put(("a",), f"k{number}", {"n": number})
        store.put(("a", "b"), f"k{number}", {"n": "ä\n"})
    before = dict(store.items)
    LangGraphStoreSnapshot(store).save(tmp_path)
    store.put(("a",), "k0", {"n": "changed"})
    store.put(("c",), "new", {})
    store.delete(("a", "b"), "k1")
    LangGraphStoreSnapshot(store).restore(tmp_path)
    assert store.items == before
