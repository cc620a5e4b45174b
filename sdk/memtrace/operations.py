"""``@operation(...)`` on functions, and ``with operation(...)``: the steps of a memory system."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Mapping
from contextvars import Token
from functools import wraps
from types import CodeType, TracebackType
from typing import Any, Self, TypeVar, cast, overload

from memtrace import empty_searches, streams
from memtrace.calls import Call, Chunks, Plan, Search, operation_kind, variable_kind
from memtrace.config import enabled
from memtrace.context import scope
from memtrace.faults import report
from memtrace.kinds import MAX_NAME_CHARACTERS
from memtrace.mistakes import MistakeError, shown
from memtrace.modules import module_name
from memtrace.observe import KINDS_BY_NAME, give, give_one, take
from memtrace.raw_events import RawEvent
from memtrace.removals import Removal
from memtrace.sink import emit
from memtrace.steps import Scope
from memtrace.unrecorded import ran_outside
from memtrace.values import is_number

F = TypeVar("F")
Function = TypeVar("Function", bound=Callable[..., Any])
T = TypeVar("T")

_OUTPUT = " output"


class operation(Plan):  # noqa: N801 (reads as a statement)
    """One step that makes values from values: a decorator, or ``with operation(...) as step``.

    It can decorate a function, method, coroutine, generator or asynchronous generator. The arguments are the inputs and
    the result is the output; a stream is one output, which is complete when the stream ends. Numbers among the
    arguments become attributes. Objects that are not data (clients, indexes) are left out. A list of known values
    stands for these values. A returned value that existed before counts as read. In a ``Retrieval``, stored units among
    the arguments are candidates.

    Args:
        name: its name; the default is the name of the function.
        kind: an ``OperationKind``, such as ``Extraction``, ``Update``, ``Deletion``, ``Retrieval``, ``Generation``.
        inputs: names of the arguments to record, or a mapping from these names to a ``VariableKind``.
        ignore: names of arguments that are not recorded.
        output: the ``VariableKind`` of the result; False if the result is not recorded.
        each: whether each element of the result, a list, is a variable.
        output_name: the name of the result; the default is made from the name of the operation, such as ``answer
            output``, so that outputs of different operations are never versions of one variable.
        category: your own word for the sort of operation.
        comment: anything for people to read.
        attributes: any values that JSON can represent.

    In kinds, case, spaces, hyphens and underscores do not matter.

    Raises:
        ValueError: A kind does not exist; the message names the nearest one.
    """

    _new: type[Call]
    _said_name: str | None
    _chosen: frozenset[str] | None
    _kinds: dict[str, str]
    _ignored: frozenset[str]
    _said: dict[str, Any]
    _attributes: dict[str, Any]
    _location: str | None = None
    _roles: tuple[str | None, ...] = ()
    """The names of the arguments by position; None in place of an argument that is not recorded."""
    _rest: str | None = None
    _call: Call | None = None
    _token: Token[Scope | None] | None = None

    @overload
    def __new__(cls, name: Function, /) -> Function: ...  # type: ignore[misc]
    @overload
    def __new__(
        cls,
        name: str | None = None,
        *,
        kind: str = "Other",
        inputs: Collection[str] | Mapping[str, str] | None = None,
        ignore: Collection[str] = (),
        output: str | bool | None = None,
        each: bool = False,
        output_name: str | None = None,
        category: str | None = None,
        comment: str | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> Self: ...
    def __new__(
        cls,
        name: Any = None,
        *,
        kind: str = "Other",
        inputs: Collection[str] | Mapping[str, str] | None = None,
        ignore: Collection[str] = (),
        output: str | bool | None = None,
        each: bool = False,
        output_name: str | None = None,
        category: str | None = None,
        comment: str | None = None,
        attributes: Mapping[str, Any] | None = None,
    ) -> Any:
        """A decorator or block; for ``@operation`` without parentheses, the recording function."""
        if name is not None and not isinstance(name, str):
            return cls()(name)
        self = object.__new__(cls)
        if scope.get() is None and not enabled():
            return self
        self.maker = (_short(name), operation_kind(kind))
        self._new = {"Retrieval": Search, "Deletion": Removal}.get(self.maker[1], Call)
        self.output_kind = variable_kind(output) if isinstance(output, str) else None
        self.records_output = output is not False
        self._said_name = output_name
        self.is_each = each
        self._chosen = None if inputs is None else frozenset(inputs)
        self._kinds = (
            {name: variable_kind(kind) for name, kind in inputs.items()} if isinstance(inputs, Mapping) else {}
        )
        self._ignored = frozenset(ignore)
        self._said = {
            name: value
            for name, value in (("category", category), ("comment", comment), ("attributes", attributes))
            if value
        }
        self._attributes = dict(attributes or {})
        return self

    @overload
    def __call__(self, fn: type[Any]) -> type[Any]: ...
    @overload
    def __call__(self, fn: F) -> F: ...
    def __call__(self, fn: Any) -> Any:
        """The recording function; the function itself if recording is switched off."""
        if not enabled():
            return fn
        if isinstance(fn, staticmethod | classmethod):
            return type(fn)(self(fn.__func__))
        try:
            self._study(fn)
        except Exception as error:
            report("decorator on what is no function", error)
            return fn
        return _wrapped(self, fn)

    def _study(self, fn: Any) -> None:
        code: CodeType | None = getattr(inspect.unwrap(fn), "__code__", None)
        if code is None:
            raise MistakeError(
                f"{shown(fn)} is no function written in Python (but a class, a built-in or a partial, say); decorate "
                "a function, or write `with memtrace.operation(...):` around the call"
            )
        self.output_name = self._said_name or output_name(
            self.maker[0] or _short(fn.__qualname__.rpartition("<locals>.")[2])
        )
        self._named(fn.__name__)
        self._location = f"{module_name(fn.__module__)}:{code.co_firstlineno} {fn.__qualname__}"
        names = code.co_varnames[: code.co_argcount]
        self._ignored |= {"self", "cls"} if names[:1] in {("self",), ("cls",)} else set()
        self._roles = tuple(name if self._wants(name) else None for name in names)
        is_said = any(KINDS_BY_NAME.get(name) == "Message" for name in names)
        self.is_told = self.maker[1] == "Extraction" and not is_said and not self._kinds
        if code.co_flags & inspect.CO_VARARGS:
            rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
            self._rest = rest if self._wants(rest) else None

    def _wants(self, role: str) -> bool:
        return role not in self._ignored and (self._chosen is None or role in self._chosen)

    def _named(self, otherwise: str) -> None:
        name, kind = self.maker
        name = name or _short(otherwise) or "operation"
        self.maker = (name, kind)

    def begin(
        self, here: Scope, args: tuple[Any, ...], kwargs: Mapping[str, Any], noted: Mapping[str, Any] | None = None
    ) -> Call | None:
        """Record the beginning of a call and its arguments; ``noted`` are further attributes. None after a failure."""
        try:
            call = self._new(self, here)
            # The event of the operation comes first, because the others refer to it. Its attributes are known last.
            events: list[RawEvent] = [()]
            numbers: dict[str, Any] = {}
            roles, find = self._roles, call.trace.identities.find
            named = len(roles)
            for position, value in enumerate(args):
                role = roles[position] if position < named else self._rest
                if role is None:
                    continue
                if type(value) is str:  # written out without further calls, because most arguments are texts
                    known = find(value)
                    if known is not None and len(known) == 1:
                        call.use(events, known[0], role)
                        continue
                self._take(call, events, numbers, role, value)
            for name, value in kwargs.items():
                if self._wants(name):
                    self._take(call, events, numbers, name, value)
            if self.maker[1] == "Generation":
                empty_searches.use(call, events)
            if noted:
                numbers.update(noted)
            said = {**self._said, "attributes": {**numbers, **self._attributes}} if numbers else self._said
            call.begin(self._location, said, events)
        except Exception as error:
            report("beginning of an operation", error)
            return None
        return call

    def _take(self, call: Call, events: list[RawEvent], numbers: dict[str, Any], role: str, value: object) -> None:
        try:
            if is_number(value) and role not in self._kinds:
                if value is not None:
                    numbers[role] = value
                return
            take(events, call, call, value, role, self._kinds.get(role))
        except Exception as error:
            report("recording of an argument", error)

    def __enter__(self) -> Self:
        here = scope.get()
        if here is None:
            ran_outside(self.maker[0] or "without a name")
            return self
        try:
            frame = sys._getframe(1)
            self._named(frame.f_code.co_name)
            module = module_name(frame.f_globals.get("__name__", ""))
            location = f"{module}:{frame.f_lineno} {frame.f_code.co_qualname}"
            call = self._new(self, here)
            call.begin(location, self._said, [()])
            self._token = scope.set(call)
            self._call = call
        except Exception as error:
            report("beginning of an operation", error)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        call, self._call = self._call, None
        if call is None:
            return
        try:
            scope.reset(cast("Token[Scope | None]", self._token))
        except ValueError as wrong:
            report("end of an operation in another context than its beginning", wrong)
        call.conclude(error)

    async def __aenter__(self) -> Self:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, traceback)

    def input(self, value: T, role: str = "input", *, kind: str | None = None) -> T:
        """Record that the operation uses the value: later outputs derive from the value. Returns the value."""
        if self._call is not None:
            meant = variable_kind(kind) if kind else None
            try:
                events: list[RawEvent] = []
                call = self._call
                take(events, call, call, value, role, meant)
                emit(events)
            except Exception as error:
                report("input", error)
        return value

    def output(
        self, value: T, name: str | None = None, *, kind: str | None = None, each: bool = False, **said: Any
    ) -> T:
        """Record that the operation made or returns the value. Continue with the returned value."""
        if self._call is None:
            return value
        kind = variable_kind(kind) if kind else None
        try:
            events: list[RawEvent] = []
            call, name = self._call, name or self._said_name or output_name(self.maker[0])
            call.recognise(value)
            if said:
                result = give_one(events, call, call, value, name=name, kind=kind, said=said)
            else:
                result = give(events, call, call, value, name=name, kind=kind, is_each=each)
            call.heard(events)
            emit(events)
        except Exception as error:
            report("output", error)
            return value
        return cast("T", result)


def output_name(operation: str) -> str:
    """The default name of an operation's result."""
    return f"{operation[: MAX_NAME_CHARACTERS - len(_OUTPUT)]}{_OUTPUT}"


def _short(name: str | None) -> str:
    return (name or "")[:MAX_NAME_CHARACTERS]


def _begun(
    plan: operation, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[Call | None, Any, tuple[Any, ...], Mapping[str, Any]]:
    """The call (None if it is not recorded), and the function and arguments to run, which a replay may change."""
    here = scope.get()
    if here is None:
        ran_outside(plan.maker[0])
        return None, fn, args, kwargs
    noted = None
    if here.trace.replaying is not None:
        fn, args, kwargs, noted = here.trace.replaying.enter(fn, args, kwargs)
    return plan.begin(here, args, kwargs, noted), fn, args, kwargs


def _wrapped(plan: operation, fn: Any) -> Any:
    if inspect.isasyncgenfunction(fn) or inspect.isgeneratorfunction(fn):

        def begin(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Chunks | None, Any]:
            call, body, args, kwargs = _begun(plan, fn, args, kwargs)
            return None if call is None else Chunks(call), body(*args, **kwargs)

        is_asynchronous = inspect.isasyncgenfunction(fn)
        return streams.asynchronous(fn, begin) if is_asynchronous else streams.synchronous(fn, begin)
    if inspect.iscoroutinefunction(fn):

        @wraps(fn)
        async def recorded_coroutine(*args: Any, **kwargs: Any) -> Any:
            call, body, given, named = _begun(plan, fn, args, kwargs)
            if call is None:
                return await body(*given, **named)
            token = scope.set(call)
            try:
                result = await body(*given, **named)
            except BaseException as error:
                call.fail(error)
                raise
            finally:
                scope.reset(token)
            return call.done(result)

        return recorded_coroutine

    @wraps(fn)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        call, body, given, named = _begun(plan, fn, args, kwargs)
        if call is None:
            return body(*given, **named)
        token = scope.set(call)
        try:
            result = body(*given, **named)
        except BaseException as error:
            call.fail(error)
            raise
        finally:
            scope.reset(token)
        return call.done(result)

    return recorded
