"""Remembers what memories and models gave to the application, to recognise it in what a model is asked later.

An object is known by its identity while it is kept. A text that an application has formatted into a prompt is another
object, and is known by its characters: that is a guess, which those who use it mark as one.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from memtrace.identity import Variable
from memtrace.recent import Recent
from memtrace.values import has_identity

Proof = Literal["text", "object", "nothing"]

SHORTEST = 12
"""Shortest text, in characters, that is recognised inside another; "yes" could come from anywhere."""

MAX_TEXTS = 20_000
MAX_BYTES = 32_000_000
MAX_SAME_BEGINNING = 200
MAX_SAME_TEXT = 64
MAX_SAME_TRACES = 5_000
MAX_SEARCHED = 5_000
MAX_SEARCHED_CHARACTERS = 400_000
MAX_DEPTH = 8

_BEGINNINGS = re.compile(r"\b\w|[^\x00-\x7f]")
"""Where a text may begin inside another one: at a word, and, in scripts without spaces, anywhere."""

_KEYS = re.compile(rf"(?=(.{{{SHORTEST}}}))(?:[A-Za-z0-9_]+|[^\x00-\x7f])", re.DOTALL)
"""The first characters at each of these places, and at some more, all at once: most texts contain nothing known."""

FEW = 32
"""Up to so many texts, looking for each of them takes less time than looking at each place of a text."""

MAX_LOOKED_UP = 64
MAX_NEWEST = 32


_WHOLE = (str, bytes)


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """A value that an instrumented package gave to the application, or that the application asked it for.

    Attributes:
        value: the object; it is kept alive, so that its identity is not used again.
        trace: the id of the trace in which that was recorded.
        variable: what it is there.
        proof: what shows that a call which gets it belongs to the trace: an equal ``text``, as of a memory unit; only
            this very ``object``, as of a model's reply, whose words anybody may get; or ``nothing`` by itself, as of a
            question, which anybody may ask.
    """

    value: object
    trace: str
    variable: Variable
    proof: Proof = "text"


@dataclass(frozen=True, slots=True)
class Text:
    """A text and all that had it.

    Attributes:
        text: the text.
        skipped: number of characters before its first word.
        given: what had it, by trace; in each trace the oldest first.
    """

    text: str
    skipped: int
    given: dict[str, list[Given]]

    @property
    def size(self) -> int:
        """Its size in bytes, at most."""
        return 64 + 4 * len(self.text)


class _Memory:
    """All that is recognised in this process."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.objects: Recent[int, Given] = Recent(MAX_TEXTS, MAX_BYTES, lambda given: 64 + sys.getsizeof(given.value))
        self.texts: Recent[str, list[Text]] = Recent(MAX_TEXTS, MAX_BYTES, lambda same: same[-1].size)
        """By the first characters, for a fast look-up at each place of a long text."""
        self.changes = 0
        """Number of texts that came new."""
        self.newest: deque[str] = deque(maxlen=MAX_NEWEST)
        self.looked_up: Recent[str, tuple[int, list[Text]]] = Recent(MAX_LOOKED_UP)
        """What was found in texts lately, and after how many changes: to place a call, and then to record it; and to
        know a system's prompt or a conversation that is sent again and again."""


_memory = _Memory()


def remember(given: Given, *, is_own: bool = False) -> None:
    """From now on the value is recognised. ``is_own``: no other value can be this same object."""
    value = given.value
    if is_own or has_identity(value):
        _memory.objects.set(id(value), given)
    if not isinstance(value, str):
        return
    begin = _BEGINNINGS.search(value)
    if begin is None or len(value) - begin.start() < SHORTEST:
        return
    key = value[begin.start() : begin.start() + SHORTEST]
    with _memory.lock:
        same = _memory.texts.get(key) or []
        for known in same:
            if known.text == value:
                _add(known.given, given)
                return
        same = [*same[1 - MAX_SAME_BEGINNING :], Text(value, begin.start(), {given.trace: [given]})]
        _memory.texts.set(key, same)
        _memory.newest.append(value)
        _memory.changes += 1


def _add(known: dict[str, list[Given]], given: Given) -> None:
    here = known.pop(given.trace, [])  # put back at the end: the first traces are those that were not used for long
    if not here or here[-1].variable is not given.variable:
        here.append(given)
        del here[:-MAX_SAME_TEXT]
    known[given.trace] = here
    if len(known) > MAX_SAME_TRACES:
        del known[next(iter(known))]


def same_object(value: object) -> Given | None:
    """What this very object was; None if it was not given out, or is forgotten."""
    given = _memory.objects.get(id(value))
    return given if given is not None and given.value is value else None


def inside(text: str) -> list[Text]:
    """All texts that this text contains, in their order of first occurrence.

    A text within a longer one that was found at the same place is not given again.
    """
    memory = _memory
    if len(text) < SHORTEST or not len(memory.texts):
        return []
    changes = memory.changes
    known = memory.looked_up.get(text)
    if known is not None:
        if known[0] == changes:
            return known[1]
        found = known[1] if _has_no_newer(text, changes - known[0]) else _search(text)
    else:
        found = _search(text) if _may_have(text) else []
    memory.looked_up.set(text, (changes, found))
    return found


def _has_no_newer(text: str, count: int) -> bool:
    """Whether none of the newest texts, so many of them, is in this one."""
    if count > MAX_NEWEST:
        return False
    newest = list(_memory.newest)  # at once: other threads add to it
    return not any(one in text for one in newest[-count:])


def _may_have(text: str) -> bool:
    """Whether the first characters of a known text are in this one: of most they are not."""
    texts = _memory.texts
    if len(texts) <= FEW:
        return any(key in text for key in [*texts.young, *texts.old])
    keys = set(_KEYS.findall(text, 0, MAX_SEARCHED_CHARACTERS))
    # Asked the other way round, it would go through all known texts: they are many more than the words of a prompt.
    return not texts.young.keys().isdisjoint(keys) or not texts.old.keys().isdisjoint(keys)


def _search(text: str) -> list[Text]:
    found: dict[str, Text] = {}
    covered = 0
    for begin in _BEGINNINGS.finditer(text, 0, MAX_SEARCHED_CHARACTERS):
        place = begin.start()
        same = _memory.texts.get(text[place : place + SHORTEST])
        if same is None:
            continue
        here = [one for one in same if one.skipped <= place and text.startswith(one.text, place - one.skipped)]
        if not here:
            continue
        longest = max(here, key=lambda one: len(one.text))
        end = place - longest.skipped + len(longest.text)
        if end > covered:
            found.setdefault(longest.text, longest)
            covered = end
    return list(found.values())


def leaves(value: object) -> Iterator[object]:
    """The value and all objects inside it: elements of lists and dictionaries, and fields of objects that have any."""
    stack: list[tuple[object, int]] = [(value, 0)]
    left = MAX_SEARCHED
    while stack and left:
        item, depth = stack.pop()
        left -= 1
        yield item
        if isinstance(item, _WHOLE) or depth >= MAX_DEPTH:
            continue
        parts = item.values() if type(item) is dict else _parts(item)
        stack += [(one, depth + 1) for one in reversed(list(parts))]


def forget() -> None:
    """Begin again from nothing."""
    global _memory  # noqa: PLW0603 (one recorder a process)
    _memory = _Memory()


if hasattr(os, "register_at_fork"):
    # Another thread may hold the lock at that moment, and does not exist in the child.
    os.register_at_fork(after_in_child=lambda: setattr(_memory, "lock", threading.Lock()))


def _parts(item: object) -> Iterable[object]:
    if isinstance(item, Mapping):
        return item.values()
    if isinstance(item, list | tuple | set | frozenset):
        return item
    # Only plain fields: a property of an application's object could do anything.
    fields = getattr(item, "__dict__", None) if hasattr(type(item), "model_fields") else None
    return fields.values() if isinstance(fields, dict) else ()
