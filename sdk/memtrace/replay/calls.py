"""Identifies calls in recording and replay: by function, by content of the arguments, and by a count of equal calls.

The order of different calls does not matter.
"""

from __future__ import annotations

import inspect
import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from types import CodeType
from typing import Any

from pydantic_core import to_json

from memtrace.identity import Variable
from memtrace.values import is_data, plain_tree

_DIGEST_BYTES = 12


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an operation.

    Attributes:
        function: ``module:qualified name``.
        digest: digest of the arguments' content.
        turn: number of earlier calls with the same function and arguments.
    """

    function: str
    digest: str
    turn: int

    def __str__(self) -> str:
        return f"{self.function}#{self.digest}.{self.turn}"

    @classmethod
    def parse(cls, text: str) -> Call:
        """The call that a text like ``pkg.mod:Agent.search#0f3c....0`` names.

        Raises:
            ValueError: the text names no call.
        """
        function, _, rest = text.rpartition("#")
        digest, _, turn = rest.rpartition(".")
        if not function or not digest or not turn.isdecimal():
            raise ValueError(f"{text!r} names no call: it looks like module:function#digest.turn")
        return cls(function, digest, int(turn))


class Turns:
    """Counts equal calls of one trace."""

    def __init__(self) -> None:
        self._counts: defaultdict[str, Iterator[int]] = defaultdict(itertools.count)

    def call(self, fn: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
        """The identity of this call of a function."""
        function, names, rest = shape(fn)
        return self.of(function, given(names, rest, args, kwargs))

    def of(self, function: str, arguments: Mapping[str, Any]) -> Call:
        """The identity of this call of a function or package, by name and arguments."""
        found = blake2b(function.encode(), digest_size=_DIGEST_BYTES)
        found.update(content(arguments))
        digest = found.hexdigest()
        return Call(function, digest, next(self._counts[digest]))


@lru_cache(maxsize=4096)
def shape(fn: Any) -> tuple[str, tuple[str, ...], str | None]:
    """A function's name with its module, the names of its positional arguments, and the name of ``*args``."""
    code: CodeType | None = getattr(inspect.unwrap(fn), "__code__", None)
    if code is None:
        return f"{fn.__module__}:{fn.__qualname__}", (), None
    names = code.co_varnames[: code.co_argcount]
    rest = None
    if code.co_flags & inspect.CO_VARARGS:
        rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
    return f"{fn.__module__}:{fn.__qualname__}", names, rest


def given(names: tuple[str, ...], rest: str | None, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that are data, by name, without ``self``, ``cls``, clients and other objects."""
    found = dict(zip(names, args, strict=False))
    if names[:1] in {("self",), ("cls",)}:
        found.pop(names[0], None)
    if len(args) > len(names) and rest is not None:
        found[rest] = args[len(names) :]
    found.update(kwargs)
    return {name: value for name, value in found.items() if is_data(value) or isinstance(value, Variable)}


def content(arguments: Mapping[str, Any]) -> bytes:
    """The arguments as JSON, the same for equal content."""
    plain = {name: value.name if isinstance(value, Variable) else value for name, value in sorted(arguments.items())}
    try:
        return to_json(plain, inf_nan_mode="strings")
    except (TypeError, ValueError, RecursionError):
        return to_json(plain_tree(plain))


def returns(fn: Any) -> str | None:
    """A function's return annotation as text; None without one."""
    annotation = getattr(inspect.unwrap(fn), "__annotations__", {}).get("return")
    if annotation is None:
        return None
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
