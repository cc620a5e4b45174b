"""Recognises a reply that a program changed before it kept the reply in the history.

A program keeps the text of a structured reply, or a reply without its reasoning and its markup. The history then has
other words than the model wrote, and is still the history of this conversation.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress

from memtrace.identity import Variable
from memtrace.instruments.handed_out import leaves
from memtrace.recent import Recent

MAX_REPLIES = 20_000
MAX_BYTES = 32_000_000
_LONGEST = 100_000
"""Longer texts, in characters, are not compared."""
_SHORTEST = 12
"""Fewest letters of a text that is recognised inside another: a shorter one may be in any text."""
_MARKS = re.compile(r"[\W_]+")

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


def forget() -> None:
    """Forget all replies."""
    global _replies  # noqa: PLW0603 (one recorder a process)
    _replies = Recent(MAX_REPLIES, MAX_BYTES, lambda reply: 64 + len(reply[0]))


def _forms(reply: str) -> list[str]:
    """The letters of a reply, and of the texts of a reply in JSON one after the other: JSON writes signs in codes."""
    found = [_letters(reply)]
    if reply.lstrip()[:1] in {"{", "["}:
        with suppress(ValueError, RecursionError):  # it only begins like JSON
            found += [_letters(one) for one in leaves(json.loads(reply)) if isinstance(one, str)]
    return found


def _is_part(short: str, long: str) -> bool:
    return short == long or (len(short) >= _SHORTEST and short in long)


def _letters(text: str) -> str:
    return _MARKS.sub("", text).casefold()
