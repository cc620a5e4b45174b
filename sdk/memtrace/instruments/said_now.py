"""Finds what a user said inside a message that a program wrote: earlier turns, and what the user says now.

A program that keeps notes writes them into its next message to the model, beside the words of a template and beside
what is new: what its user says or asks now. The template is in several messages, and the notes are known; what remains
was said now.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memtrace.identity import Variable
from memtrace.instruments.handed_out import Text
from memtrace.instruments.kept_replies import is_part, values_of
from memtrace.scripts import letters
from memtrace.steps import TraceState

MAX_LINES = 5_000
"""Number of different lines of a trace's messages that are remembered, to know the lines of templates."""
MAX_TURNS = 200
"""Number of the user's newest messages that are looked for in a prompt, such as a prompt for a summary."""
_SHORTEST_TURN = 16
_SHORTEST = 12
"""Fewest letters of what is new: less may be a note that is too short to be known."""
_FEWEST = 2
"""A message with one whole reply may ask for a judgement of it. Not with so many, or with lines of a template."""
_HEADINGS = (":", "：")
_ASKING = ("?", "？", "؟", "\u037e")
"""How a question ends: the last sign is the Greek one."""
_AROUND = " \t;,.|-–—•*#>)]}\"'"
_ITEM = re.compile(r"^(?:[-*•·–—#>]+|\d{1,3}[.)])[ \t]+")
_REPLIES = frozenset({"Answer", "Response"})


def said_now(trace: TraceState, text: str, known: Sequence[Text]) -> str:
    """What is new in a message that has kept replies or parts of them; empty if nothing is, or if it can't be told.

    Args:
        trace: of the message.
        text: the message.
        known: the known texts in the message, in their order.
    """
    ours = [one for one in known if trace.id in one.given]
    given = [found for one in ours for found in one.given[trace.id]]
    if not ours or any(one.variable.kind not in _REPLIES for one in given):
        return ""
    seen: dict[str, None] = trace.notes.get("lines", {})
    is_written = len(ours) >= _FEWEST or any(is_part(one, trace.id) for one in ours)
    if not is_written and seen.keys().isdisjoint(_lines(text)) and not _asks_of_notes(trace, text, ours):
        return ""
    found = _of_values(text, ours, seen)
    return _beside(text, ours, seen) if found is None else found


def turns_in(trace: TraceState, text: str, *, is_enough: bool) -> list[Variable]:
    """The user's earlier messages inside a longer text, at least two unless ``is_enough``."""
    turns: dict[str, Variable] = trace.notes.get("turns", {})
    found = [variable for turn, variable in list(turns.items()) if turn in text and len(turn) < len(text)]
    return found if is_enough or len(found) > 1 else []


def remember_turn(trace: TraceState, text: str, variable: Variable) -> None:
    """Remember a message of the user, so that it is found inside later texts."""
    if len(text) < _SHORTEST_TURN:
        return
    turns: dict[str, Variable] = trace.notes.setdefault("turns", {})
    turns[text] = variable
    if len(turns) > MAX_TURNS:
        turns.pop(next(iter(turns)), None)


def remember(trace: TraceState, text: str) -> None:
    """Remember the lines of a message to a model: those that come again are of a template, and not said now."""
    seen: dict[str, None] = trace.notes.setdefault("lines", {})
    for line in _lines(text):
        seen[line] = None
        if len(seen) > MAX_LINES:
            seen.pop(next(iter(seen)), None)


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _asks_of_notes(trace: TraceState, text: str, known: Sequence[Text]) -> bool:
    """Whether a message ends in a question about kept notes: no earlier words of the user stand in the message.

    A message that asks for a judgement of a reply also has what the user had said before the reply.
    """
    end = max(text.find(one.text) + len(one.text) for one in known)
    return text[end:].rstrip(f"{_AROUND}\r\n").endswith(_ASKING) and not turns_in(trace, text, is_enough=True)


def _of_values(text: str, known: Sequence[Text], seen: dict[str, None]) -> str | None:
    """The only new text of a message in JSON; None if the message is no JSON."""
    values = values_of(text)
    if values is None:
        return None
    new = [one for one in values if letters(one) >= _SHORTEST and not any(each.text in one for each in known)]
    new = [one for one in new if not all(line in seen for line in _lines(one))]
    return new[0] if len(new) == 1 else ""


def _beside(text: str, known: Sequence[Text], seen: dict[str, None]) -> str:
    """The new lines after the last known text, or if there are none, before the first one."""
    places = [(text.find(one.text), len(one.text)) for one in known]
    end = max(place + size for place, size in places)
    rest, _, after = text[end:].partition("\n")
    before, _, own = text[: min(place for place, _ in places)].rpartition("\n")
    one_line = "\n" not in text
    for part in (after, rest.strip(_AROUND) if not after.strip() else "", own.strip() if one_line else before):
        new = "\n".join(line for line in _lines(part) if line not in seen and not line.endswith(_HEADINGS))
        if letters(_ITEM.sub("", new)) >= _SHORTEST:
            return new
    return ""
