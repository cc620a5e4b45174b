"""Replaces functions of a package by recording functions, and puts the originals back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from functools import update_wrapper
from typing import Any, cast

from memtrace.faults import report, warn

Wrapper = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Makes the recording function from the original one."""

_MISSING = object()


class Patches:
    """Attributes that an instrument has replaced. Each is replaced once, and comes back as it was."""

    def __init__(self, name: str) -> None:
        """Hold no patches yet; ``name`` is the instrument's name, for warnings."""
        self._name = name
        self._done: list[tuple[Any, str, object, object]] = []
        self._lock = threading.Lock()

    def wrap(self, owner: Any, attribute: str, wrapper: Wrapper) -> bool:
        """Put ``wrapper(original)`` in the place of a function of a class, module or object.

        An inherited method is left to the class that defines it.

        Returns:
            Whether the owner defines the function. A function that does not exist at all is missing in this version of
            the package: this is logged once, and the rest is recorded.
        """
        original = vars(owner).get(attribute, _MISSING)
        if original is _MISSING:
            if not hasattr(owner, attribute):
                self.missing(owner, attribute)
            return False
        function: Any = original.__func__ if isinstance(original, staticmethod | classmethod) else original
        replacement = update_wrapper(wrapper(function), function)
        kept = type(original)(replacement) if isinstance(original, staticmethod | classmethod) else replacement
        return self.put(owner, attribute, kept)

    def put(self, owner: Any, attribute: str, value: object) -> bool:
        """Set an attribute until ``restore``."""
        with self._lock:
            if any(of is owner and name == attribute for of, name, _, _ in self._done):
                return True
            self._done.append((owner, attribute, vars(owner).get(attribute, _MISSING), value))
            setattr(owner, attribute, value)
        return True

    def missing(self, owner: Any, attribute: str) -> None:
        """Log once that this version of the package lacks a function."""
        where = f"{getattr(owner, '__module__', '')}.{getattr(owner, '__qualname__', owner)}".strip(".")
        warn(
            f"missing {where}.{attribute}",
            "this version of %s has no %s.%s: what goes through it is not recorded",
            self._name,
            where,
            attribute,
        )

    def restore(self) -> None:
        """Put the originals back, in the opposite order, except where somebody else has replaced ours since."""
        with self._lock:
            done, self._done = self._done[::-1], []
            for owner, attribute, original, ours in done:
                if vars(owner).get(attribute, _MISSING) is not ours:
                    continue
                if original is _MISSING:
                    delattr(owner, attribute)
                else:
                    setattr(owner, attribute, original)


def wrap_all(patches: Patches, base: type, wrappers: Mapping[str, Wrapper], *, with_base: bool = True) -> None:
    """Wrap methods of a class and of all subclasses, also later ones, in each class that defines the method itself.

    Args:
        patches: keeps the originals.
        base: the class.
        wrappers: wrappers by the method's name.
        with_base: whether the methods of ``base`` itself are wrapped too.
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
