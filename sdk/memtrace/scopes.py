"""``with trace(...)`` and ``with session(...)``: the trace and the session in which the program records."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from contextvars import Token
from types import TracebackType
from typing import Any, Self, TypeVar, cast, overload

from memtrace import steps
from memtrace.config import enabled, is_masked, is_ready, is_sampled
from memtrace.context import question, scope, state_of, unsampled
from memtrace.faults import report, warn
from memtrace.ids import new_id
from memtrace.kinds import MAX_ID_CHARACTERS, MAX_NAME_CHARACTERS
from memtrace.raw_events import SESSION, TRACE
from memtrace.sink import emit
from memtrace.steps import Scope, TraceState
from memtrace.streams import in_block, is_function
from memtrace.unrecorded import closed, opened

Function = TypeVar("Function", bound=Callable[..., Any])


class trace:  # noqa: N801 (reads as a statement)
    """Record what happens inside as the trace ``id``: the life of one memory store for one user or run.

    To continue a trace, give the same id again, in this process or another. ``trace`` can also be used with
    ``async with``, and as a decorator: each call of the function is then a trace, all with the same id if an id is
    given.

    Args:
        name: a name for people; for ``@trace`` without arguments, the name of the function.
        id: up to 200 characters; without an id, a new trace begins.
        attributes: any values that JSON can represent.
        program: ``module:function`` for a replay of the trace. The data for the replay are then kept on this machine
            (``memtrace.replay``).
        input: the arguments of the program, by name: values that JSON can represent, dataclasses and models.
    """

    # fmt: off
    __slots__ = (
        "_asked", "_attributes", "_input", "_line", "_name", "_program", "_said_id", "_thread", "_token", "_unsampled",
        "id", "is_recorded",
    )
    # fmt: on

    id: str
    is_recorded: bool
    _name: str | None
    _said_id: str | None
    _attributes: Mapping[str, Any] | None
    _program: str | None
    _input: Mapping[str, Any] | None
    _token: Token[Scope | None] | None
    _line: tuple[str, int] | None
    """The line of the application that made this object; None once the object is used."""
    _thread: int

    @overload
    def __new__(cls, name: Function, /) -> Function: ...  # type: ignore[misc]
    @overload
    def __new__(
        cls,
        name: str | None = None,
        *,
        id: str | None = None,
        attributes: Mapping[str, Any] | None = None,
        program: str | None = None,
        input: Mapping[str, Any] | None = None,
    ) -> Self: ...
    def __new__(
        cls,
        name: Any = None,
        *,
        id: str | None = None,  # noqa: A002 (the field's own word)
        attributes: Mapping[str, Any] | None = None,
        program: str | None = None,
        input: Mapping[str, Any] | None = None,  # noqa: A002 (the field's own word)
    ) -> Any:
        """A block or decorator; for ``@trace`` without parentheses, the recording function."""
        if is_function(name):
            return cls(getattr(name, "__name__", None))(name)
        self = object.__new__(cls)
        self._line = None
        self._name = name
        self._said_id = id
        self.id = str(id)[:MAX_ID_CHARACTERS] if id else new_id()
        self._attributes = attributes
        self._program = program
        self._input = input
        self.is_recorded = False
        self._token = None
        frame = sys._getframe(1)
        self._line = frame.f_code.co_filename, frame.f_lineno
        return self

    def __del__(self) -> None:
        if self._line is not None and not sys.is_finalizing():
            warn(
                "trace that is not entered",
                "memtrace.trace(%r) at %s:%d records nothing, for it is only made: write `with memtrace.trace(...):` "
                "around what is to be recorded, or @memtrace.trace(...) above a function",
                self._name,
                *self._line,
            )

    def __enter__(self) -> Self:
        self._line = None
        if not is_ready():
            return self
        try:
            self._begin()
        except Exception as error:
            report("trace", error)
        return self

    def __call__(self, fn: Function) -> Function:
        """A function whose calls are traces; the function itself if recording is switched off."""
        self._line = None
        if not enabled():
            return fn
        return cast("Function", in_block(fn, self._again))

    def _again(self) -> trace:
        return trace(
            self._name, id=self._said_id, attributes=self._attributes, program=self._program, input=self._input
        )

    def _begin(self) -> None:
        self.is_recorded = is_sampled(self.id)
        self._thread = opened()
        self._unsampled = unsampled.set(None if self.is_recorded else self.id)
        self._asked = question.set(None)
        if not self.is_recorded:
            self._token = scope.set(None)
            return
        state = state_of(self.id)
        self._token = scope.set(Scope(state))
        kept = None if self._program is None else self._keep(state)
        if state.is_told and self._name is None and self._attributes is None and kept is None:
            return
        state.is_told = True
        said: dict[str, Any] = {}
        if self._name:
            said["name"] = self._name[:MAX_NAME_CHARACTERS]
        if self._attributes is not None or kept is not None:
            said["attributes"] = {**(self._attributes or {}), **({} if kept is None else {"replay": kept})}
        emit([(TRACE, said, self.id, time.time_ns(), self.id)])

    def _keep(self, state: TraceState) -> dict[str, Any] | None:
        """Keep the data that a replay needs; returns the attribute ``replay`` of the trace, None if nothing is kept."""
        if steps.replaying is not None:
            state.replaying = steps.replaying
            return None
        if is_masked():
            warn(
                "replay of masked values",
                "the trace %r is not kept for a replay: masks are configured, and a replay needs the values whole",
                self.id,
            )
            return None
        try:
            from memtrace.replay.keeping import begin, folder_of

            told = begin(self.id, self._program or "", self._input or {})
            state.kept = folder_of(self.id)
        except Exception as error:
            report("what a replay needs", error)
            return None
        return told

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._token is None:
            return
        closed(self._thread)
        try:
            scope.reset(self._token)
            unsampled.reset(self._unsampled)
            question.reset(self._asked)
        except ValueError as wrong:
            report("end of a trace in another context than its beginning", wrong)
        self._token = None

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)


class session:  # noqa: N801 (reads as a statement)
    """Record what happens inside as one session, a stage of the trace: a conversation, a search, an evaluation.

    Args:
        name: a name for people.
        id: up to 200 characters; without an id, a new session begins.
        category: your own word for the sort of session.
        comment: anything for people to read.
        attributes: any values that JSON can represent.
    """

    __slots__ = ("_said", "_token", "id")

    def __init__(
        self,
        name: str | None = None,
        *,
        id: str | None = None,  # noqa: A002 (the field's own word)
        category: str | None = None,
        comment: str | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        self.id = str(id)[:MAX_ID_CHARACTERS] if id else new_id()
        self._said = {
            "name": name and name[:MAX_NAME_CHARACTERS],
            "category": category,
            "comment": comment,
            "attributes": attributes,
        }
        self._token: Token[Scope | None] | None = None

    def __enter__(self) -> Self:
        here = scope.get()
        if here is None:
            return self
        try:
            said = {name: value for name, value in self._said.items() if value}
            self._token = scope.set(Scope(here.trace, self.id, here.step, here.ancestor))
            emit([(SESSION, said, here.trace.id, time.time_ns(), self.id)])
        except Exception as error:
            report("session", error)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._token is None:
            return
        try:
            scope.reset(self._token)
        except ValueError as wrong:
            report("end of a session in another context than its beginning", wrong)
        self._token = None

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)
