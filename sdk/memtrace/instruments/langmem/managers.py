"""Records managers of memory: messages and existing memories go to a model, whose tool calls change the memory.

A manager with a store searches and writes the store, and the store's calls are recorded. A manager without a store
returns memories to the application: comparing them with the given memories tells the changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from memtrace.config import is_ready
from memtrace.context import scope, unsampled
from memtrace.faults import report
from memtrace.identity import Variable
from memtrace.instruments import placing
from memtrace.instruments.both_forms import Called, Told, unheard
from memtrace.instruments.frameworks.messages import is_message, leaves
from memtrace.instruments.frameworks.root import Root
from memtrace.instruments.frameworks.runs import Run, inside, runs, writing
from memtrace.instruments.frameworks.values import SPOKEN, given, message, same
from memtrace.instruments.langgraph.items import address, reasons
from memtrace.instruments.making import Making, gave, learn
from memtrace.instruments.placing import NotRecordedError
from memtrace.instruments.texts import texts
from memtrace.instruments.units import Unit, current, newest, written

STORE = "langmem"
"""A name for the store of memories that only the application keeps. The ids of these memories are unique."""


@contextmanager
def with_store(call: Called) -> Iterator[Told]:
    """Record a run of a manager with a store."""
    manager, given_to, config = call.owner, call.argument("input"), call.argument("config", 1)
    run = _begin(given_to, config, "MemoryStoreManager")
    if run is None:
        yield unheard
        return
    try:
        namespace = manager.namespace(config)
        home = placing.memory_home(address(manager.store), "/".join(map(str, namespace)), what="langmem")
        run.root.place(home)
        _messages(run, given_to)
    except NotRecordedError:
        pass
    except Exception as error:
        report("langmem MemoryStoreManager", error)
    with _inside(run):
        yield unheard


@contextmanager
def without_store(call: Called) -> Iterator[Told]:
    """Record a run of a manager without a store, unless it is a part of a manager with a store."""
    given_to, config = call.argument("input"), call.argument("config", 1)
    around = runs.around()
    if around is not None and around.kind == "manager":
        yield unheard
        return
    run = _begin(given_to, config, "MemoryManager")
    if run is None:
        yield unheard
        return
    before: dict[Unit, tuple[Any, Variable]] = {}
    try:
        _messages(run, given_to)
        before = _existing(run, given_to)
    except NotRecordedError:
        pass
    except Exception as error:
        report("langmem MemoryManager", error)

    def told(result: Any) -> None:
        try:
            _changed(run, before, result)
        except NotRecordedError:
            return
        except Exception as error:
            report("langmem MemoryManager", error)

    with _inside(run):
        yield told


@contextmanager
def _inside(run: Run) -> Iterator[None]:
    tokens = inside.set(run), reasons.set(lambda: run.replies[-1:])
    try:
        with writing():
            yield
    finally:
        inside.reset(tokens[0])
        reasons.reset(tokens[1])


def _begin(given_to: Any, config: Any, name: str) -> Run | None:
    around = runs.around()
    if around is not None:
        return Run(around.root, around, "manager", name, given_to)
    here = scope.get()
    if here is None and (unsampled.get() is not None or not is_ready()):
        return None
    said = (config or {}).get("configurable") if isinstance(config, Mapping) else None
    return Run(Root(given_to, dict(said or {}), here), None, "manager", name, given_to)


def _messages(run: Run, given_to: Any) -> None:
    for one in given_to.get("messages") or ():
        if is_message(one):
            run.messages.append(message(run, one))
            continue
        said = one.get("content") if isinstance(one, Mapping) else one[1] if isinstance(one, tuple) else one
        role = one.get("role") if isinstance(one, Mapping) else None
        if isinstance(said, str):
            found = same(run, said)
            # The question of a search with the same words is no message: what is remembered is a message of its own.
            if found is None or found.kind not in SPOKEN:
                found = given(run, said, str(role or "message"), "Message")
            run.messages.append(found)


def _existing(run: Run, given_to: Any) -> dict[Unit, tuple[Any, Variable]]:
    """The memories that the manager gets, by unit, each with its value and variable."""
    found: dict[Unit, tuple[Any, Variable]] = {}
    for one in given_to.get("existing") or ():
        if isinstance(one, str) or len(one) < 2:
            continue  # a text without an id gets a new id each time
        unit, value = (STORE, str(one[0])), _plain(one[-1])
        found[unit] = value, current(run.here, unit, value)
        for _, leaf in leaves(value):
            if isinstance(leaf, str):
                texts(run.here.trace).add(leaf, found[unit][1])
    return found


def _changed(run: Run, before: Mapping[Unit, tuple[Any, Variable]], result: Any) -> None:
    """Record the memories in the manager's result that are new, changed or removed."""
    here = run.here
    making: Making | None = None
    for one in result:
        unit, content = (STORE, str(one.id)), one.content
        is_removal = unit in before and type(content).__name__ == "RemoveDoc"
        value = _plain(content)
        if not is_removal and unit in before and value == before[unit][0]:
            learn(here, one, before[unit][1])
            gave(here, content, before[unit][1], is_own=True)
            continue
        if making is None:
            making = Making(here, "MemoryManager", "Update")
            for reply in run.replies:
                making.use(reply, "decision")
        if is_removal:
            making.invalidate(before[unit][1])
            continue
        parts = [leaf for _, leaf in leaves(value) if isinstance(leaf, str)]
        decided = [reply for reply in run.replies if any(same(run, part) is reply for part in parts)]
        written(making, unit, value, sources=decided or run.replies, leaves=parts)
        made = newest(here, unit)
        if made is not None:
            learn(here, one, made)
            gave(here, content, made, is_own=True)
    if making is not None:
        making.end()


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value
