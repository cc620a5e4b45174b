"""Records mem0's open-source memory: ``Memory`` and ``AsyncMemory``, with any vector store and model that it supports.

The classes of a memory's vector store, model and database are patched when a call first uses them. Only the memory's
own objects record, and only inside a call: entity stores and telemetry have the same classes.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from importlib import import_module
from types import ModuleType
from typing import Any

from memtrace.config import enabled
from memtrace.context import scope
from memtrace.faults import report
from memtrace.instruments import placing
from memtrace.instruments.callers import line
from memtrace.instruments.covering import covering
from memtrace.instruments.mem0 import replay
from memtrace.instruments.mem0.calls import KINDS, Mem0Call
from memtrace.instruments.mem0.owners import Owner, owner_of, store_of
from memtrace.instruments.patches import Patches
from memtrace.recent import Recent
from memtrace.steps import Step
from memtrace.stored_units import newest_unit
from memtrace.variables import deleted

_running: ContextVar[Mem0Call | None] = ContextVar("memtrace.mem0", default=None)
_BY_ID = {"get", "update", "delete"}


class Mem0Instrument:
    """``add``, ``search``, ``get``, ``get_all``, ``update``, ``delete`` and ``delete_all``, synchronous or not."""

    distribution = "mem0ai"
    modules = ("mem0",)
    tested = ("1.0.0", "2.2.1")

    def __init__(self) -> None:
        self._patches = Patches("mem0")
        self._seen: set[type] = set()
        self._owners: Recent[tuple[str, str], str] = Recent(100_000)
        """Owners by store and unit id, for calls that name only the unit."""

    def install(self) -> None:
        """Begin to record."""
        main = import_module("mem0.memory.main")
        for memory in (main.Memory, main.AsyncMemory):
            for name in KINDS:
                self._patches.wrap(memory, name, self._recording(name))
            self._patches.wrap(memory, "_add_to_vector_store", _storing)
        if hasattr(main, "concurrent"):
            self._patches.put(main, "concurrent", _carrying())
        if hasattr(main, "score_and_rank"):
            self._patches.wrap(main, "score_and_rank", _ranking)

    def remove(self) -> None:
        """Leave the package as it was."""
        self._patches.restore()
        self._seen.clear()

    def _recording(self, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
            signature = inspect.signature(original)

            def said(memory: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
                """The arguments by name; None if the call is not recorded, or the arguments don't fit."""
                if not enabled() or _is_inside(memory):
                    return None
                try:
                    return dict(signature.bind(memory, *args, **kwargs).arguments)
                except TypeError:
                    return None

            if inspect.iscoroutinefunction(original):

                async def recorded_later(memory: Any, *args: Any, **kwargs: Any) -> Any:
                    named = said(memory, args, kwargs)
                    if named is None:
                        return await original(memory, *args, **kwargs)
                    row = None
                    if self._must_look(memory, name, named):
                        row = await asyncio.to_thread(_row, memory, named)
                    with self._call(memory, name, named, row) as call:
                        result = _found(call, await original(memory, *args, **kwargs))
                        _done(call, result)
                        return result

                return recorded_later

            def recorded(memory: Any, *args: Any, **kwargs: Any) -> Any:
                named = said(memory, args, kwargs)
                if named is None:
                    return original(memory, *args, **kwargs)
                row = _row(memory, named) if self._must_look(memory, name, named) else None
                with self._call(memory, name, named, row) as call:
                    result = _found(call, original(memory, *args, **kwargs))
                    _done(call, result)
                    return result

            return recorded

        return wrapper

    def _must_look(self, memory: Any, name: str, named: Mapping[str, Any]) -> bool:
        """Whether the owner of a unit must be looked up in the store."""
        if name not in _BY_ID or scope.get() is not None:
            return False
        try:
            return self._owners.get((store_of(memory), str(named.get("memory_id")))) is None
        except Exception as error:
            report("owner of a unit of mem0", error)
            return False

    @contextmanager
    def _call(self, memory: Any, name: str, named: Mapping[str, Any], row: Any) -> Iterator[Mem0Call | None]:
        place, call = None, None
        try:
            self._patch(memory)
            owner = self._owner(memory, name, named, row)
            given = [value for value in named.values() if value is not memory]
            place = placing.of_memory(store_of(memory), owner.name, what="mem0", session=owner.run, given=given)
        except Exception as error:
            report("call of mem0", error)
        if place is None:
            yield None
            return
        with place:
            here = scope.get()
            try:
                call = None if here is None else _Recording(self, memory, name, here, named, owner)
            except Exception as error:
                report("beginning of a call of mem0", error)
            if call is None:
                yield None
                return
            token = _running.set(call)
            try:
                with covering(), call.current():
                    yield call
            except BaseException as error:
                _quietly("end of a call of mem0", call.failed, error)
                raise
            finally:
                _running.reset(token)

    def _owner(self, memory: Any, name: str, named: Mapping[str, Any], row: Any) -> Owner:
        if name not in _BY_ID:
            return owner_of(named)
        key = (store_of(memory), str(named.get("memory_id")))
        payload = getattr(row, "payload", None)
        if isinstance(payload, Mapping):
            self.learn(*key, owner_of(payload))
        return Owner(self._owners.get(key) or "")

    def learn(self, store: str, id_: str, owner: Owner) -> None:
        """Note the owner of a unit."""
        self._owners.get((store, id_))
        self._owners.set((store, id_), owner.name)

    def owned(self, store: str) -> dict[str, list[str]]:
        """The ids of the known units of a store, by owner."""
        found: dict[str, list[str]] = {}
        for (where, id_), owner in [*self._owners.old.items(), *self._owners.young.items()]:
            if where == store:
                found.setdefault(owner, []).append(id_)
        return found

    def _patch(self, memory: Any) -> None:
        """Patch the classes of the memory's objects, unless they are patched already."""
        for used, seams in (
            (memory.vector_store, {"search": _searching, "list": _listing, "get": _getting, **_WRITES}),
            (memory.llm, {"generate_response": _asking}),
            (memory.db, {"get_last_messages": _remembering}),
        ):
            kind = type(used)
            if kind in self._seen:
                continue
            self._seen.add(kind)
            for name, wrapper in seams.items():
                owner = next((base for base in kind.__mro__ if name in vars(base)), None)
                if owner is not None:
                    self._patches.wrap(owner, name, wrapper)


class _Recording(Mem0Call):
    """A call that tells the instrument the owner of each written unit."""

    def __init__(
        self, instrument: Mem0Instrument, memory: Any, name: str, here: Any, named: Mapping[str, Any], owner: Owner
    ) -> None:
        super().__init__(memory, name, here, named)
        self._instrument = instrument
        self._owner = owner

    def _write(self, id_: str, text: str) -> None:
        self._instrument.learn(self.store, id_, self._owner)
        super()._write(id_, text)

    def emptied(self) -> None:
        """Record that each unit of the store that this process knows is gone, in the trace of the unit's owner."""
        for owner, ids in self._instrument.owned(self.store).items():
            with self.current():
                here = [unit for id_ in ids if (unit := newest_unit(store=self.store, id=id_)) is not None]
                for unit in here:
                    deleted(unit)
            if not here and owner != self._owner.name:
                self._emptied_for(owner, ids)

    def _emptied_for(self, owner: str, ids: list[str]) -> None:
        token = scope.set(None)
        try:
            with placing.of_memory(self.store, owner, what="mem0") as place:
                here = scope.get() if place.is_recorded else None
                gone = [unit for id_ in ids if (unit := newest_unit(store=self.store, id=id_)) is not None]
                if here is None or not gone:
                    return
                step = Step(here, (f"mem0 {self.name}", KINDS[self.name]))
                called_for = self._owner.name or "all owners"
                step.begin(line(), {"attributes": {"calledFor": called_for, "emptied": self.store}}, [()])
                inside = scope.set(step)
                try:
                    for unit in gone:
                        deleted(unit)
                finally:
                    scope.reset(inside)
                    step.finish("ok")
        finally:
            scope.reset(token)


def _is_inside(memory: Any) -> bool:
    """Whether a call of the same memory is recorded around this call."""
    call = _running.get()
    return call is not None and call.memory is memory and scope.get() is not None


def _row(memory: Any, named: Mapping[str, Any]) -> Any:
    try:
        return memory.vector_store.get(vector_id=named.get("memory_id"))
    except Exception:  # the application's own call will raise the error
        return None


def _found(call: Mem0Call | None, result: Any) -> Any:
    """The result of a search after the changes of a replay."""
    return result if call is None or call.replayed is None else replay.found(call.replayed, result)


def _done(call: Mem0Call | None, result: object) -> None:
    if call is not None:
        _quietly("result of a call of mem0", call.done, result)


def _quietly(what: str, function: Callable[..., Any], *args: Any) -> Any:
    try:
        return function(*args)
    except Exception as error:
        report(what, error)
        return None


def _of(used: Any, part: str) -> Mem0Call | None:
    """The running call, if ``used`` is this part of the call's memory."""
    call = _running.get()
    return call if call is not None and getattr(call.memory, part, None) is used else None


def _storing(original: Callable[..., Any]) -> Callable[..., Any]:
    def recorded(memory: Any, messages: Any, *args: Any, **kwargs: Any) -> Any:
        call = _running.get()
        if call is not None and call.memory is memory:
            _quietly("messages of mem0", call.described, messages)
        return original(memory, messages, *args, **kwargs)  # a coroutine if the memory is asynchronous

    return recorded


def _asking(original: Callable[..., Any]) -> Callable[..., Any]:
    def recorded(model: Any, *args: Any, **kwargs: Any) -> Any:
        call = _of(model, "llm")
        if call is None:
            return original(model, *args, **kwargs)
        messages = kwargs.get("messages", args[0] if args else None)
        replayed = _quietly("replay of mem0", replay.asked, call.model_call()[0], messages)
        noted = {} if replayed is None else replayed.noted
        name = getattr(getattr(model, "config", None), "model", None)
        asked = _quietly("prompt of mem0", call.ask, messages, name, noted)
        if asked is None:
            return original(model, *args, **kwargs)
        try:
            if replayed is None:
                reply = original(model, *args, **kwargs)
            else:
                reply = replay.replied(replayed, original, model, args, kwargs)
        except BaseException as error:
            asked.fail(error)
            raise
        _quietly("reply to mem0", call.answered, asked, reply)
        return reply

    return recorded


def _after(tell: Callable[[Mem0Call, Any, Mapping[str, Any]], None], part: str) -> Callable[..., Callable[..., Any]]:
    """A wrapper that tells the running call the result and the arguments of a method."""

    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(original)

        def recorded(used: Any, *args: Any, **kwargs: Any) -> Any:
            call = _of(used, part)
            result = original(used, *args, **kwargs)
            if call is not None:
                _quietly(f"{part} of mem0", _tell, call, result, used, args, kwargs)
            return result

        def _tell(call: Mem0Call, result: Any, used: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
            tell(call, result, signature.bind(used, *args, **kwargs).arguments)

        return recorded

    return wrapper


def _rows(result: Any) -> list[Any]:
    """The rows of a listing; some stores return a tuple whose first element is the list."""
    if isinstance(result, list | tuple) and result and isinstance(result[0], list | tuple):
        result = result[0]
    return list(result) if isinstance(result, list | tuple) else []


_searching = _after(lambda call, result, said: call.saw(result or ()), "vector_store")
_listing = _after(lambda call, result, said: call.saw(_rows(result)), "vector_store")
_getting = _after(lambda call, result, said: call.saw([result] if result is not None else ()), "vector_store")
_remembering = _after(lambda call, result, said: call.remembered(result or ()), "db")
_WRITES = {
    "insert": _after(
        lambda call, result, said: call.inserted(said.get("ids") or (), said.get("payloads") or ()), "vector_store"
    ),
    "update": _after(
        lambda call, result, said: call.updated(said.get("vector_id"), said.get("payload")), "vector_store"
    ),
    "delete": _after(lambda call, result, said: call.removed(said.get("vector_id")), "vector_store"),
    "reset": _after(lambda call, result, said: call.emptied(), "vector_store"),
    "delete_col": _after(lambda call, result, said: call.emptied(), "vector_store"),
}


def _ranking(original: Callable[..., Any]) -> Callable[..., Any]:
    def recorded(*args: Any, **kwargs: Any) -> Any:
        call = _running.get()
        if call is not None:
            _quietly("ranking of mem0", rank, call, args, kwargs)
        return original(*args, **kwargs)

    signature = inspect.signature(original)

    def rank(call: Mem0Call, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        """Rank again without a limit: the function is pure, and returns the score of each candidate."""
        said = signature.bind(*args, **kwargs).arguments
        everything = {**said, "threshold": float("-inf"), "top_k": len(said["semantic_results"])}
        call.ranked = [(str(one["id"]), float(one["score"])) for one in original(**everything)]

    return recorded


class _CarryingPool(concurrent.futures.ThreadPoolExecutor):
    """A pool whose threads work in the context of the submitter, as ``asyncio.to_thread`` does."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        return super().submit(copy_context().run, fn, *args, **kwargs)


def _carrying() -> ModuleType:
    """A copy of the module ``concurrent`` with this pool, for mem0."""
    futures = ModuleType("concurrent.futures")
    futures.__dict__.update(vars(concurrent.futures), ThreadPoolExecutor=_CarryingPool)
    module = ModuleType("concurrent")
    module.__dict__.update(vars(concurrent), futures=futures)
    return module
