"""What changed from one version of a text to the next, word by word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.text import Text

from api.cli.render import style
from api.cli.render.text import counted, many_lines, one_line, operation_name, short, size_of
from attribution.text.said import text_of
from attribution.text.word_diff import Parts, merged_changes
from schema.models import Operation, Variable

MOST_BYTES = 1 << 18
"""Longer values are not compared here."""
_AROUND = 60
"""Characters of unchanged text that are shown on each side of a change."""


def versions(
    found: Sequence[Variable], makers: Mapping[str, Operation], texts: Mapping[str, str], in_colour: bool, asked: str
) -> Iterator[Text]:
    """Versions, oldest first, each with the changes to the version before.

    Different things may have one name, such as the answers of one operation: only revisions say what is a version of
    what. The thing that was asked for is shown, and the others are counted.

    Args:
        found: all variables of the name.
        makers: the operations that made them, by id.
        texts: the whole values that are compared, by hash.
        in_colour: whether changes are shown by colours; else by brackets.
        asked: the id of the variable that was asked for; its first version, if it is an occurrence.
    """
    things = _things(found)
    own = next((thing for thing in things if any(one.id == asked for one in thing)), things[0])
    before: Variable | None = None
    for number, one in enumerate(own, 1):
        title = Text(f"version {number} of {len(own)}  ", style="bold").append_text(style.id_(one.id))
        maker = makers.get(one.operation_id or "")
        made_by = f"  by {operation_name(maker)} {short(maker.id)}" if maker else "  from outside"
        yield title.append(made_by, style=style.DIM).append("  ").append_text(style.moment(one.created_at))
        yield Text("  ").append_text(_version(before, one, texts, in_colour))
        before = one
    others = len(things) - 1
    if others:
        yield Text(
            f"{counted(others, 'other variable is', 'other variables are')} also called {one_line(own[0].name, 60)}; "
            "nothing says that they are versions of this one.",
            style=style.DIM,
        )


def _things(found: Sequence[Variable]) -> list[list[Variable]]:
    """Group variables with the same name: linked by revisions, they are versions of one thing."""
    of: dict[str, list[Variable]] = {}
    things: list[list[Variable]] = []
    for one in found:
        thing = of.get(one.revision_of or "")
        if thing is None:
            thing = []
            things.append(thing)
        thing.append(one)
        of[one.id] = thing
    return things


def _version(before: Variable | None, one: Variable, texts: Mapping[str, str], in_colour: bool) -> Text:
    value = texts.get(one.value_hash)
    if value is None:
        return Text(f"{size_of(one.size)}: memtrace value {short(one.id)} prints it", style=style.DIM)
    old = texts.get(before.value_hash) if before else None
    if old is None:
        return Text(_indented(text_of(value)))
    if old == value:
        return Text("the same text", style=style.DIM)
    return between(old, value, in_colour)


def between(old: str, new: str, in_colour: bool) -> Text:
    """The changes between two values; if what the values say differs, only between that."""
    said, says = text_of(old), text_of(new)
    return changed(said, says, in_colour) if said != says else changed(old, new, in_colour)


def changed(old: str, new: str, in_colour: bool) -> Text:
    """The new text, with the words of the old text that are gone; long unchanged parts are shortened."""
    text = Text()
    parts = merged_changes(old, new)
    for place, (said, state) in enumerate(parts):
        if state == "same":
            text.append(_indented(_shortened(said, place > 0, place < len(parts) - 1)))
        elif in_colour:
            text.append(_indented(said), style="red strike" if state == "gone" else "green underline")
        else:
            text.append(f"[-{_indented(said)}-]" if state == "gone" else f"{{+{_indented(said)}+}}")
    return text


def document(old: str, new: str) -> dict[str, Any]:
    """The changes for programs: parts of the text, each with its state (same, gone or new)."""
    parts: Parts = merged_changes(old, new)
    return {"isEqual": old == new, "parts": [{"text": text, "state": state} for text, state in parts]}


def _shortened(text: str, has_left: bool, has_right: bool) -> str:
    """An unchanged part without its middle, or without the end that has no change beside it."""
    left, right = _AROUND if has_left else 0, _AROUND if has_right else 0
    if len(text) <= left + right + _AROUND:
        return text
    return f"{text[:left]} … {text[len(text) - right :]}"


def _indented(text: str) -> str:
    return many_lines(text).replace("\n", "\n  ")
