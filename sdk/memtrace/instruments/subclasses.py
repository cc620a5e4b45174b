"""Replaces methods of all subclasses of a class, also of those that are defined later."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from memtrace.faults import report
from memtrace.instruments.patches import Patches

Wrapper = Callable[[Callable[..., Any]], Callable[..., Any]]


def wrap_all(patches: Patches, base: type, wrappers: Mapping[str, Wrapper], *, with_base: bool = True) -> None:
    """Wrap these methods in the class and in all that derive from it, in each class that defines them itself.

    Args:
        patches: where the originals are kept.
        base: the class.
        wrappers: what makes the recording method, by the method's name.
        with_base: whether the methods of the class itself are wrapped too.
    """

    def wrap(owner: type) -> None:
        for name, wrapper in wrappers.items():
            if name in vars(owner):
                patches.wrap(owner, name, wrapper)

    for owner in list(_family(base)):
        if with_base or owner is not base:
            wrap(owner)
    own = vars(base).get("__init_subclass__")

    def wrapped_later(cls: Any, /, **said: Any) -> None:
        if own is not None:
            own.__func__(cls, **said)
        else:
            super(cast("Any", base), cls).__init_subclass__(**said)
        try:
            wrap(cls)
        except Exception as error:
            report(f"instrument of {cls.__qualname__}", error)

    patches.put(base, "__init_subclass__", classmethod(wrapped_later))


def _family(base: type) -> Iterator[type]:
    seen: set[type] = set()
    waiting = [base]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            yield one
            waiting += type.__subclasses__(one)
