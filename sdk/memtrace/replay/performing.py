"""Performs a replay in its process: changes calls, and lists all calls."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from pydantic import TypeAdapter, ValidationError

from memtrace.context import scope
from memtrace.identity import Variable
from memtrace.record import declare
from memtrace.replay.adding import added, put_into
from memtrace.replay.calls import Call, Turns, content, given, returns, shape
from memtrace.replay.do import UNSET, Do
from memtrace.replay.package_calls import PackageCall
from memtrace.sink import emit
from memtrace.values import own_copy

_PREVIEW = 200
_EMPTY: tuple[Any, ...] = (None, [], "", {}, False, 0)


class _Doing:
    """The addition of a text in one call.

    Attributes:
        found: whether the text was added to a value.
    """

    def __init__(self, text: str, before: str | None) -> None:
        self.text = text
        self.before = before
        self.found = False


_doing: ContextVar[_Doing | None] = ContextVar("memtrace.replay.doing", default=None)


class Performing:
    """One replay.

    Attributes:
        calls: all calls in the order of their beginnings, each with its identity and the beginning of its arguments.
        hits: the number of times that each change was made.
        problems: reasons why changes could not be made.
    """

    def __init__(self, do: Sequence[Do]) -> None:
        self._turns = Turns()
        self._do = list(do)
        self._lock = threading.Lock()
        self.calls: list[dict[str, str]] = []
        self.hits = [0] * len(self._do)
        self.problems: list[str] = []

    def enter(
        self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Callable[..., Any], tuple[Any, ...], Mapping[str, Any], dict[str, Any]]:
        """The changed function and arguments of a call, and attributes with the name of the call."""
        call = self._turns.call(fn, args, kwargs)
        _, names, rest = shape(fn)
        chosen = self._chosen(call, given(names, rest, args, kwargs))
        noted = {"call": str(call)}
        if (annotation := returns(fn)) is not None:
            noted["returns"] = annotation
        for do in chosen:
            try:
                fn, args, kwargs = self._changed(do, fn, args, kwargs)
            except (ValueError, TypeError, NameError, ImportError, AttributeError) as error:
                self._problem(f"{call.function}: {_said(error)}")
        return fn, args, kwargs, noted

    def package(self, function: str, arguments: Mapping[str, Any]) -> PackageCall:
        """A call inside a package, identified by a name and texts."""
        call = self._turns.of(function, arguments)
        return PackageCall(call, self._chosen(call, arguments), self._problem)

    def _chosen(self, call: Call, arguments: Mapping[str, Any]) -> list[Do]:
        """The changes of a call. Lists the call and counts the hits."""
        preview = content(arguments)[:_PREVIEW].decode("utf-8", "replace")
        with self._lock:
            self.calls.append({"call": str(call), "given": preview})
            chosen = [number for number, one in enumerate(self._do) if one.operation in {str(call), call.function}]
            for number in chosen:
                self.hits[number] += 1
        return [self._do[number] for number in chosen]

    def mutated(self, value: object) -> None:
        """Add the text of the current change to a value that an operation has changed in place."""
        doing = _doing.get()
        if doing is not None and put_into(value, doing.text):
            doing.found = True

    def _problem(self, said: str) -> None:
        with self._lock:
            if said not in self.problems:
                self.problems.append(said)

    def _changed(
        self, do: Do, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[Any, tuple[Any, ...], Mapping[str, Any]]:
        if do.inputs is not None or do.prompt is not None:
            return fn, *_given_instead(fn, args, kwargs, do.inputs or {"prompt": do.prompt})
        if do.body is not None:
            return _with_body(imported(do.body), fn), args, kwargs
        if do.add is not None:
            return self._adding(fn, do.add, do.before), args, kwargs
        return _giving(fn, _empty(fn) if do.skip else _typed(_annotation(fn, "return"), do.output)), args, kwargs

    def _adding(self, fn: Any, text: str, before: str | None) -> Any:
        """A function like ``fn`` that adds a text to the result."""

        def finished(value: Any, doing: _Doing) -> Any:
            changed = added(value, doing.text, doing.before, _annotation(fn, "return"))
            if changed is UNSET:
                if not doing.found:
                    kind = returns(fn) or type(value).__qualname__
                    self._problem(f"{shape(fn)[0]}: a sentence can't be added to what it gives back: {kind}")
                return value
            return _same_variable(value, changed)

        if inspect.isasyncgenfunction(fn):

            async def chunks(*args: Any, **kwargs: Any) -> Any:
                async for chunk in fn(*args, **kwargs):
                    yield chunk
                yield "\n" + text

            return chunks
        if inspect.isgeneratorfunction(fn):

            def parts(*args: Any, **kwargs: Any) -> Any:
                yield from fn(*args, **kwargs)
                yield "\n" + text

            return parts
        if inspect.iscoroutinefunction(fn):

            async def awaited(*args: Any, **kwargs: Any) -> Any:
                doing = _Doing(text, before)
                token = _doing.set(doing)
                try:
                    value = await fn(*args, **kwargs)
                finally:
                    _doing.reset(token)
                return finished(value, doing)

            return awaited

        def called(*args: Any, **kwargs: Any) -> Any:
            doing = _Doing(text, before)
            token = _doing.set(doing)
            try:
                value = fn(*args, **kwargs)
            finally:
                _doing.reset(token)
            return finished(value, doing)

        return called


def _same_variable(value: object, changed: object) -> object:
    """Return the changed text, recorded as the next version of the value's variable."""
    here = scope.get()
    known = None if here is None or not isinstance(value, str) else here.trace.identities.find(value)
    if here is None or known is None or not isinstance(changed, str):
        return changed
    origin: Variable = known[-1]
    events: list[Any] = []
    made = declare(events, here, changed, origin.name, origin.kind, step=here.step, revises=origin)
    here.trace.identities.bind(changed, made, is_own=True)
    emit(events)
    return changed


def _giving(fn: Any, value: Any) -> Any:
    """A function of the same sort that returns a value. A generator gives the value as one chunk, a list by items."""
    chunks = value if isinstance(value, list) else [] if value is None else [value]
    if inspect.isasyncgenfunction(fn):

        async def stream(*args: Any, **kwargs: Any) -> Any:
            for chunk in chunks:
                await asyncio.sleep(0)
                yield chunk

        return stream
    if inspect.isgeneratorfunction(fn):
        return lambda *args, **kwargs: (chunk for chunk in chunks)
    if inspect.iscoroutinefunction(fn):

        async def awaited(*args: Any, **kwargs: Any) -> Any:
            return value

        return awaited
    return lambda *args, **kwargs: value


def _with_body(body: Any, fn: Any) -> Any:
    return lambda *args, **kwargs: body(fn, *args, **kwargs)


def _given_instead(
    fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], inputs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], Mapping[str, Any]]:
    bound = inspect.signature(fn).bind(*args, **kwargs)
    for name, value in inputs.items():
        if name not in bound.signature.parameters:
            raise ValueError(f"has no argument {name!r}; it takes ({', '.join(bound.signature.parameters)})")
        before, after = bound.arguments.get(name), _typed(_annotation(fn, name), value)
        bound.arguments[name] = _in_place_of(before, after)
    return bound.args, bound.kwargs


def _in_place_of(before: object, after: object) -> object:
    """The changed argument, which stands for the variable of the original argument."""
    here = scope.get()
    known = None if here is None else here.trace.identities.find(before)
    if here is None or not known or type(after) is not str or len(after) < 2:
        return after
    own = own_copy(after)
    here.trace.identities.bind(own, known[-1], is_own=True)
    return own


def _annotation(fn: Any, name: str) -> Any:
    """An annotation of a function; None if absent, and for the result of a generator."""
    found = inspect.get_annotations(inspect.unwrap(fn), eval_str=True).get(name)
    is_stream = inspect.isasyncgenfunction(fn) or inspect.isgeneratorfunction(fn)
    if name == "return" and is_stream:
        return None
    return found


def _typed(annotation: Any, value: Any) -> Any:
    """A JSON value converted to the type of an annotation."""
    if annotation is None or value is None:
        return value
    return TypeAdapter(annotation).validate_python(value)


def typed_arguments(fn: Any, given_: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that are JSON values, converted to the types of a function's annotations.

    Raises:
        ValueError: a value does not fit, or the function has no argument of the name.
    """
    names = inspect.signature(fn).parameters
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in names.values())
    for name in given_:
        if name not in names and not takes_any:
            raise ValueError(f"{shape(fn)[0]} has no argument {name!r}; it takes ({', '.join(names)})")
    return {name: _typed(_annotation(fn, name), value) for name, value in given_.items()}


def _empty(fn: Any) -> Any:
    """The empty value of a function's return annotation."""
    annotation = _annotation(fn, "return")
    if annotation is None:
        return None
    adapter = TypeAdapter(annotation)
    for value in _EMPTY:
        try:
            return adapter.validate_python(value, strict=True)
        except ValidationError:
            continue
    raise ValueError(f"can't be left out: {annotation!r} has no empty value")


def imported(name: str) -> Any:
    """Import the object that ``module:name`` names.

    Raises:
        ImportError, AttributeError: there is no such module or object.
    """
    module, _, path = name.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if not isinstance(error, ValueError) else str(error)
