"""Records functions of packages in their two forms, synchronous and asynchronous, with one piece of code."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import wraps
from typing import Any

from memtrace.instruments.patches import Wrapper

Told = Callable[[Any], None]
"""Takes the result of a call that ended well."""


@dataclass(slots=True)
class Called:
    """One call of a method.

    Attributes:
        owner: the object or class whose method it is.
        name: the method's name.
        args: the positional arguments after ``owner``; the method gets what is here when the block is entered.
        kwargs: the arguments by name.
        is_asynchronous: whether the method is a coroutine.
    """

    owner: Any
    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    is_asynchronous: bool

    def argument(self, name: str, position: int = 0) -> Any:
        """An argument by its name, else by its place among ``args``; None if the call does not have it."""
        return self.kwargs.get(name, self.args[position] if len(self.args) > position else None)


def both(around: Callable[[Called], AbstractContextManager[Told]]) -> Wrapper:
    """A wrapper of methods that runs each call inside ``around(call)``, and passes the result to what that yields."""

    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        name = original.__name__
        if inspect.iscoroutinefunction(original):

            @wraps(original)
            async def recorded_later(owner: Any, *args: Any, **kwargs: Any) -> Any:
                call = Called(owner, name, args, kwargs, True)
                with around(call) as told:
                    result = await original(owner, *call.args, **call.kwargs)
                    told(result)
                return result

            return recorded_later

        @wraps(original)
        def recorded(owner: Any, *args: Any, **kwargs: Any) -> Any:
            call = Called(owner, name, args, kwargs, False)
            with around(call) as told:
                result = original(owner, *call.args, **call.kwargs)
                told(result)
            return result

        return recorded

    return wrapper


def unheard(result: Any) -> None:
    """Takes the result of a call that is not recorded here."""
