"""Recognises what a program kept of a reply: the reply in other words, or parts of the reply.

A program keeps the text of a structured reply, or a reply without its reasoning and its markup. The history then has
other words than the model wrote, and is still the history of this conversation.

A program also keeps single lines of a reply, or single texts of a reply in JSON, and writes them into later prompts.
Such a prompt derives from the reply.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress

from memtrace.identity import Variable
from memtrace.instruments import handed_out
from memtrace.instruments.handed_out import Given, Text, leaves
from memtrace.recent import Recent
from memtrace.scripts import letters

MAX_REPLIES = 20_000
MAX_BYTES = 32_000_000
_LONGEST = 100_000
"""Longer texts, in characters, are not compared."""
_SHORTEST = 12
"""Fewest letters of a text that is recognised inside another: a shorter one may be in any text."""
_MARKS = re.compile(r"[\W_]+")
_BULLET = re.compile(r"^(?:[-*•·–—]|\d{1,3}[.)])[ \t]+")
"""The sign before an item of a list, which a program leaves out or writes anew."""
_MOST_PARTS = 100
_FEWEST_PARTS = 2
"""A user may say one sentence that a model wrote before; with so many parts, the program wrote the message."""

_replies: Recent[str, tuple[str, Variable]] = Recent(MAX_REPLIES, MAX_BYTES, lambda reply: 64 + len(reply[0]))
"""The newest reply by the id of the message that it replied to."""


def is_kept(kept: object, reply: object) -> bool:
    """Whether a text may be what a program kept of a reply, if only letters and digits count: equal, or a long part.

    Args:
        kept: the text in the history.
        reply: what the model replied, as text or as JSON.
    """
    if not isinstance(kept, str) or not isinstance(reply, str) or max(len(kept), len(reply)) > _LONGEST:
        return False
    ours = _letters(kept)
    return bool(ours) and any(_is_part(*sorted((ours, theirs), key=len)) for theirs in _forms(reply))


def note(message: Variable, text: object, reply: Variable) -> None:
    """Remember the reply to a message."""
    if isinstance(text, str):
        _replies.set(message.id, (text, reply))


def kept_of(message: Variable, kept: object) -> Variable | None:
    """The reply to a message of which a program kept a text; None if the text is of no known reply."""
    known = _replies.get(message.id)
    return known[1] if known is not None and is_kept(kept, known[0]) else None


def note_parts(trace: str, text: object, arguments: Sequence[str], reply: Variable) -> None:
    """Recognise the parts of a reply inside later texts: its lines, its texts in JSON, and the arguments of tools."""
    written = [one for one in arguments if letters(one) >= _SHORTEST]
    for part in [*_parts(text), *written] if isinstance(text, str) else written:
        handed_out.remember(Given(part, trace, reply, "object", is_part=True))


def arguments_of(calls: object) -> list[str]:
    """The texts among the arguments of the tools that a reply calls; the program reads them out of JSON."""
    found: list[str] = []
    for call in calls if isinstance(calls, list) else ():
        written = call.get("arguments") if isinstance(call, Mapping) else None
        if isinstance(written, str) and len(written) <= _LONGEST:
            with suppress(ValueError, RecursionError):  # a model may write what is no JSON
                found += [one for one in leaves(json.loads(written)) if isinstance(one, str)]
    return found


def inside(role: str, text: str, trace: str) -> list[Text]:
    """The known texts inside a message; parts of replies in a user's message only where the program wrote them there.

    Args:
        role: of the message.
        text: of the message.
        trace: the id of the message's trace.
    """
    found = handed_out.inside(text)
    if role != "user" or not any(is_part(one, trace) for one in found):
        return found
    parts = [one for one in found if is_part(one, trace)]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    items = {_BULLET.sub("", line) for line in lines if len(lines) > 1}.union(values_of(text) or ())
    if len(parts) >= _FEWEST_PARTS or any(one.text in items for one in parts):
        return found
    return [one for one in found if one not in parts]


def is_part(text: Text, trace: str) -> bool:
    """Whether a text is known in a trace only as a part of replies."""
    given = text.given.get(trace)
    return given is not None and all(one.is_part for one in given)


def forget() -> None:
    """Forget all replies."""
    global _replies  # noqa: PLW0603 (one recorder a process)
    _replies = Recent(MAX_REPLIES, MAX_BYTES, lambda reply: 64 + len(reply[0]))


def _forms(reply: str) -> list[str]:
    """The letters of a reply, and of the texts of a reply in JSON one after the other: JSON writes signs in codes."""
    return [_letters(reply), *map(_letters, values_of(reply) or ())]


def _parts(reply: str) -> list[str]:
    """The lines of a reply without the signs of a list, or the texts of a reply in JSON; the whole is no part."""
    if len(reply) > _LONGEST:
        return []
    values = values_of(reply)
    found = (_BULLET.sub("", line.strip()) for line in reply.splitlines()) if values is None else values
    long = (one.strip() for one in found if letters(one) >= _SHORTEST)
    return list(dict.fromkeys(one for one in long if one != reply))[:_MOST_PARTS]


def values_of(reply: str) -> list[str] | None:
    """The texts of a reply in JSON, also between the marks of a block of code; None if it is no JSON."""
    text = reply.strip()
    if text.startswith("```") and text.endswith("```"):
        text = text.removesuffix("```").partition("\n")[2].strip()
    if text[:1] in {"{", "["}:
        with suppress(ValueError, RecursionError):  # it only begins like JSON
            return [one for one in leaves(json.loads(text)) if isinstance(one, str)]
    return None


def _is_part(short: str, long: str) -> bool:
    return short == long or (len(short) >= _SHORTEST and short in long)


def _letters(text: str) -> str:
    return _MARKS.sub("", text).casefold()
