"""Replaces functions of a package by recording ones, and puts the originals back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from memtrace.faults import warn

_MISSING = object()


class Patches:
    """Attributes that an instrument has replaced. Each is replaced once, and comes back as it was."""

    def __init__(self, name: str) -> None:
        """Hold no patches yet; ``name`` is the instrument's, for what is told."""
        self._name = name
        self._done: list[tuple[Any, str, object, object]] = []
        self._lock = threading.Lock()

    def wrap(self, owner: Any, attribute: str, wrapper: Callable[[Callable[..., Any]], Callable[..., Any]]) -> bool:
        """Put ``wrapper(original)`` in the place of a function of a class, module or object.

        A method that a class only inherits is left to the class that has it.

        Returns:
            Whether the owner has the function. Where it has none, this version of the package is another one than those
            that were tested; that is told once, and the rest is recorded.
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
        """Say once that this version of the package lacks something that would have been recorded."""
        where = f"{getattr(owner, '__module__', '')}.{getattr(owner, '__qualname__', owner)}".strip(".")
        warn(
            f"missing {where}.{attribute}",
            "this version of %s has no %s.%s: what goes through it is not recorded",
            self._name,
            where,
            attribute,
        )

    def restore(self) -> None:
        """Put the originals back, in the opposite order. What somebody else has replaced since stays theirs."""
        with self._lock:
            done, self._done = self._done[::-1], []
            for owner, attribute, original, ours in done:
                if vars(owner).get(attribute, _MISSING) is not ours:
                    continue
                if original is _MISSING:
                    delattr(owner, attribute)
                else:
                    setattr(owner, attribute, original)
