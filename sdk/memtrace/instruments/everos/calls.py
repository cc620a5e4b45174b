"""Records the clients' calls, which add, search, read and delete memories."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from memtrace.context import scope
from memtrace.faults import report
from memtrace.identity import Variable
from memtrace.instruments import placing
from memtrace.instruments.both_forms import Called, Told, both
from memtrace.instruments.everos.items import Item, items
from memtrace.instruments.frameworks.runs import Run, runs, single
from memtrace.instruments.frameworks.values import asked, given, same
from memtrace.instruments.making import Making, gave, searched_for
from memtrace.instruments.units import current, newest, read
from memtrace.recent import Recent

METHODS = ("add", "flush", "search", "get", "delete", "edit")

_OWNERS = ("user_id", "sender", "sender_id", "agent_id", "group_id")
_KINDS = {"add": "Update", "edit": "Update", "search": "Retrieval", "get": "Retrieval", "delete": "Deletion"}
_UNITS = "units of everos"
_sessions: Recent[str, str] = Recent(20_000)
"""The owner of each session, for calls that name only the session."""
_memories: Recent[str, str] = Recent(20_000)
"""The owner of each memory that a search has found, for deletions that name only the memory's id."""


def recorded(package: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """A recording method in place of a client's method."""
    signature = inspect.signature(original)

    @contextmanager
    def around(called: Called) -> Iterator[Told]:
        given = _arguments(signature, called.owner, called.args, called.kwargs)
        call = _Call(package, called.name, called.owner, given)
        with call.place:
            call.begin()
            try:
                yield call.ended
            except BaseException as error:
                call.failed(error)
                raise

    return both(around)(original)


def _arguments(
    signature: inspect.Signature, self: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments by name, with further fields of the request; empty if the arguments don't fit the method."""
    try:
        bound = dict(signature.bind(self, *args, **kwargs).arguments)
    except TypeError:
        return {}
    for more in ("extra_query", "extra_body", "filters"):
        if isinstance(bound.get(more), Mapping):
            bound = {**bound[more], **bound}
    return bound


class _Call:
    """One call. Failures to record are reported and never raised."""

    def __init__(self, package: str, method: str, client: Any, arguments: dict[str, Any]) -> None:
        self.package, self.method, self.arguments = package, method, arguments
        self.store = _address(package, client)
        owner, session = _owner(arguments, self.store), _text(arguments.get("session_id"))
        self.owner = owner
        if session:
            _sessions.set(f"{self.store} {session}", owner)
        self.place = placing.of_memory(self.store, owner, what=package, session=session)
        self.run: Run | None = None
        self.making: Making | None = None
        self.query: Variable | None = None

    def begin(self) -> None:
        try:
            here = scope.get()
            around = runs.around()
            if here is None:
                return
            self.run = run = single(here, "memory") if around is None else Run(around.root, around, "memory", "")
            name = f"{self.package}.{self.method}"
            attributes = {
                key: value
                for key, value in self.arguments.items()
                if isinstance(value, bool | int | float) or (key in {"method", "session_id"} and isinstance(value, str))
            }
            said = [self._message(run, one) for one in _messages(self.arguments)] if self.method == "add" else []
            self.making = Making(run.here, name, _KINDS.get(self.method, "Other"), attributes=attributes)
            for one in said:
                self.making.use(one, "message")
            query = self.arguments.get("query")
            if self.method == "search" and isinstance(query, str):
                self.query = asked(run, self.making, query, is_writing=False)
                searched_for(run.here, query, self.query)
        except Exception as error:
            report(f"{self.package}.{self.method}", error)

    def ended(self, result: Any) -> None:
        run, making = self.run, self.making
        if run is None or making is None:
            return
        try:
            if self.method in {"search", "get"}:
                self._found(run, making, items(result))
            elif self.method == "delete":
                self._deleted(run, making)
            making.end()
        except Exception as error:
            report(f"{self.package}.{self.method}", error)

    def failed(self, error: BaseException) -> None:
        try:
            if self.making is not None:
                self.making.end(error)
        except Exception as wrong:
            report(f"{self.package}.{self.method}", wrong)

    def _message(self, run: Run, said: str) -> Variable:
        found = same(run, said)
        return given(run, said, "message", "Message") if found is None else found

    def _found(self, run: Run, making: Making, found: Iterable[Item]) -> None:
        units = [(item, current(run.here, (self.store, item.id), item.text)) for item in found]
        if self.query is not None:
            making.consider(self.query, [(unit, item.score) for item, unit in units], [unit for _, unit in units])
        seen: set[str] = run.here.trace.notes.setdefault(f"{_UNITS} {self.store}", set())
        for item, unit in units:
            seen.add(item.id)
            _memories.set(f"{self.store} {item.id}", self.owner)
            made = read(making, unit, item.text, objects=(item.value, item.text), leaves=(item.text,))
            gave(run.here, item.text, made)

    def _deleted(self, run: Run, making: Making) -> None:
        """Record the deletion of one memory by id, or of all memories that this process has seen."""
        seen: set[str] = run.here.trace.notes.setdefault(f"{_UNITS} {self.store}", set())
        one = _text(self.arguments.get("memory_id")) or _text(self.arguments.get("id"))
        gone = {one} if one else set(seen)
        for id_ in sorted(gone):
            unit = newest(run.here, (self.store, id_))
            if unit is not None:
                making.invalidate(unit)
        seen -= gone


def _messages(arguments: Mapping[str, Any]) -> list[str]:
    if isinstance(arguments.get("content"), str):
        return [arguments["content"]]
    said = []
    listed = arguments.get("messages")
    for one in listed if isinstance(listed, list | tuple) else ():
        content = one.get("content") if isinstance(one, Mapping) else getattr(one, "content", None)
        content = getattr(content, "actual_instance", content)
        parts = content if isinstance(content, list) else [content]
        texts = [part.get("text") if isinstance(part, Mapping) else getattr(part, "text", part) for part in parts]
        said += [text for text in texts if isinstance(text, str) and text]
    return said


def _address(package: str, client: Any) -> str:
    """The address of the server, without user and password."""
    inner = getattr(client, "_client", None)
    url = getattr(inner, "base_url", None)
    if url is None:
        url = getattr(getattr(getattr(client, "_api_client", None), "configuration", None), "host", "")
    address = str(url).rstrip("/")
    scheme, separator, rest = address.partition("://")
    return f"{package} {scheme}{separator}{rest.rpartition('@')[2]}" if separator else f"{package} {address}"


def _owner(arguments: Mapping[str, Any], store: str) -> str:
    """The owner of the memory; for messages without an owner, the sender."""
    for key in _OWNERS:
        said = _text(arguments.get(key))
        if said:
            return f"{'user_id' if key in {'sender', 'sender_id'} else key}={said}"
    memory = _text(arguments.get("memory_id"))
    if memory and (whose := _memories.get(f"{store} {memory}")):
        return whose
    listed = arguments.get("messages")
    for one in listed if isinstance(listed, list | tuple) else ():
        said = _text(one.get("sender_id")) if isinstance(one, Mapping) else _text(getattr(one, "sender_id", None))
        if said:
            return f"user_id={said}"
    session = _text(arguments.get("session_id"))
    return (_sessions.get(f"{store} {session}") or f"session_id={session}") if session else ""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
