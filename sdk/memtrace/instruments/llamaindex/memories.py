"""Records LlamaIndex's memories: the history that a memory keeps, cuts or sums up, and the filling of its blocks.

A memory is a conversation: its calls, and the agents that use it, share its trace and session.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from memtrace.context import scope
from memtrace.faults import report
from memtrace.instruments import joining, placing, program_name
from memtrace.instruments.both_forms import Called, Told, both, unheard
from memtrace.instruments.frameworks import buffers
from memtrace.instruments.frameworks.messages import plain
from memtrace.instruments.frameworks.runs import Run, runs, single
from memtrace.instruments.frameworks.values import message
from memtrace.instruments.homes import Home
from memtrace.instruments.llamaindex.blocks import Filling, filling
from memtrace.instruments.patches import Wrapper
from memtrace.instruments.placing import NotRecordedError
from memtrace.recent import Recent

_KEPT = "kept by memories"
_PRIVATE = "conversation"
"""How the identity of a conversation begins that has none of its own, such as one call of an agent without a memory."""
_VIEWS = frozenset({"ChatMemoryBuffer"})
"""Memories that give out a part of the history and keep the whole."""

_given: Recent[int, tuple[Any, Run]] = Recent(20_000)
"""The messages that memories gave out, which are kept alive, by their ``id``; each with the run of the call."""

_homes: Recent[str, Home] = Recent(20_000)
"""The traces of conversations that an engine has with a vector store, by the conversation."""

current: ContextVar[Run | None] = ContextVar("memtrace.llamaindex.memory", default=None)
"""The run of the memory's call around this code."""


def wrappers() -> dict[str, Wrapper]:
    """The wrapper of each method of a memory, by name."""
    names = ("put", "put_messages", "set", "get")
    return dict.fromkeys((*names, *(f"a{name}" for name in names)), both(_called))


def block_wrappers() -> dict[str, Wrapper]:
    """The wrapper of each method of a memory's block, by name."""
    return {"aput": both(_filled)}


def said(one: Any) -> Any:
    """A message of LlamaIndex in the form that the frameworks share."""
    role = str(getattr(one.role, "value", one.role))
    kind = {"user": "human", "assistant": "ai"}.get(role, role)
    return SimpleNamespace(type=kind, content=one.content or "", additional_kwargs={}, id=None, tool_calls=_calls(one))


def _calls(one: Any) -> list[dict[str, Any]]:
    """The calls of tools in a message: blocks of the message; in older versions, what the model's service sent."""
    blocks = [block for block in getattr(one, "blocks", ()) if getattr(block, "block_type", "") == "tool_call"]
    if blocks:
        return [{"name": block.tool_name, "args": _arguments(block.tool_kwargs)} for block in blocks]
    told = (getattr(one, "additional_kwargs", None) or {}).get("tool_calls") or ()
    functions = [getattr(call, "function", None) for call in told]
    return [{"name": str(call.name), "args": _arguments(call.arguments)} for call in functions if call is not None]


def _arguments(given: Any) -> Any:
    """Arguments of a tool; a model's service gives them as JSON."""
    try:
        return json.loads(given) if isinstance(given, str) else given
    except ValueError:
        return given


def conversation(memory: Any) -> str:
    """The id of a memory's conversation; a memory without one gets an identity of this process."""
    for name in ("session_id", "chat_store_key"):
        key = getattr(memory, name, None)
        if isinstance(key, str) and key not in {"", "chat_history"}:
            return key
    return placing.private_store(_PRIVATE, memory)


@contextmanager
def _called(call: Called) -> Iterator[Told]:
    if current.get() is not None:
        yield unheard
        return
    memory, method = call.owner, call.name.removeprefix("a")
    given = None if method == "get" else call.args[0] if call.args else next(iter(call.kwargs.values()), None)
    run = _guarded(_run, memory, given)
    if run is None:
        yield unheard
        return
    if method != "get":
        _guarded(_put, run, memory, method, given)
    token = current.set(run)
    try:
        yield (lambda result: _guarded(_got, run, memory, result)) if method == "get" else unheard
    finally:
        current.reset(token)


@contextmanager
def _filled(call: Called) -> Iterator[Told]:
    run = current.get()
    if run is None or filling.get() is not None:
        yield unheard
        return
    given = call.args[0] if call.args else call.kwargs.get("messages") or ()
    told = Filling(run, call.owner, conversation(call.owner), [])
    _guarded(lambda: told.messages.extend(message(run, said(one)) for one in given))
    token = filling.set(told)
    try:
        yield unheard
    finally:
        filling.reset(token)
        _guarded(told.store)


def _guarded(call: Any, *args: Any) -> Any:
    try:
        return call(*args)
    except NotRecordedError:
        return None
    except Exception as error:
        report("memory of LlamaIndex", error)
        return None


def join(run: Run, arguments: Iterable[Any]) -> None:
    """Let an outermost run that gets messages of a memory belong to the memory's conversation."""
    for value in arguments:
        for one in value if isinstance(value, list | tuple) else (value,):
            found = _given.get(id(one))
            if found is not None and found[0] is one:
                of = found[1].root
                run.root.session = of.session
                if run.root.placed is None:
                    run.root.placed = of.placed
                return


def live_in(memory: Any, home: Home) -> None:
    """Record the calls of a memory in a trace from now on."""
    _homes.set(conversation(memory), home)


def around() -> Run | None:
    """The run of LlamaIndex around this code."""
    span = import_module("llama_index.core.instrumentation.span").active_span_id.get()
    return runs.of(span) or runs.around()


def _run(memory: Any, given: Any) -> Run | None:
    key, outer = conversation(memory), around()
    own = placing.memory_home(_store(memory), f"session={key}", what=program_name.program(), session=key)
    home = _homes.get(key) or own
    if outer is not None:
        outer.root.session = outer.root.session or key
        outer.root.place(joining.opened(home) if key.startswith(f"{_PRIVATE} in memory ") else home, is_shared=True)
        outer.root.uses(home, is_written=given is not None)
        return Run(outer.root, outer, "memory", type(memory).__name__)
    texts = [getattr(one, "content", None) for one in (given if isinstance(given, Sequence) else [given])]
    with placing.Place(lambda: joining.used_by(texts, home)) as place:
        here = scope.get()
        if not place.is_recorded or here is None:
            return None
    run = single(here, "memory", type(memory).__name__)
    run.root.session = key
    return run


def _store(memory: Any) -> str:
    """Identifies the database of a memory; for a database in this process's memory, the program and its folder."""
    url = str(getattr(getattr(memory, "sql_store", None), "async_database_uri", None) or "")
    return url.rpartition("@")[2] if url and ":memory:" not in url else str(Path.cwd() / program_name.program())


def _kept(run: Run) -> list[Any]:
    kept: dict[str, list[Any]] = run.here.trace.notes.setdefault(_KEPT, {})
    return kept.setdefault(run.root.session or "", [])


def _put(run: Run, memory: Any, method: str, given: Any) -> None:
    new = [said(one) for one in (given if isinstance(given, Sequence) else [given]) if hasattr(one, "role")]
    for one in new:
        if one.content or one.tool_calls:
            message(run, one)
    kept = _kept(run)
    if method == "set":
        _changed(run, memory, kept, new, "set")
        kept.clear()
    kept.extend(new)


def _got(run: Run, memory: Any, result: Any) -> None:
    """Compare the history that a memory gives out with what was put into it."""
    given, kept = [said(one) for one in result or ()], _kept(run)
    for one in result or ():
        _given.set(id(one), (one, run))
    _changed(run, memory, kept, given, "get" if type(memory).__name__ in _VIEWS else "flush")
    if type(memory).__name__ not in _VIEWS:
        kept[:] = [one for one in given if one.type != "system"]


def _changed(run: Run, memory: Any, kept: Sequence[Any], given: Sequence[Any], what: str) -> None:
    how = buffers.change(buffers.spoken_of(kept), [plain(one) for one in given])
    if how.dropped:
        whole = buffers.version(run, "messages", kept, is_state=True)
        buffers.rewrite(run, f"{type(memory).__name__}.{what}", whole, how, given)
