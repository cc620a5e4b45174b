"""Making many frozen objects fast.

The ``__init__`` of a frozen dataclass sets each field by a call of ``object.__setattr__``: 23 calls for a variable,
which is most of the time of reading a large closure. An object of an unfrozen twin is filled by plain stores, a
quarter of the cost, and becomes an object of the model when its class is set: both classes have the same slots.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, field, fields, make_dataclass
from functools import cache
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def constructor(model: Callable[P, T]) -> Callable[P, T]:
    """A function that takes what the class takes and gives what it gives.

    Args:
        model: a frozen dataclass with slots, without ``__post_init__``.
    """
    made: Callable[P, T] = _constructor(model)
    return made


@cache
def _constructor(model: Any) -> Any:
    members: list[Any] = [
        (item.name, object) if item.default is MISSING else (item.name, object, field(default=item.default))
        for item in fields(model)
    ]
    twin: Any = make_dataclass(model.__name__, members, slots=True)

    def construct(*args: Any, **named: Any) -> Any:
        made = twin(*args, **named)
        made.__class__ = model
        return made

    return construct
