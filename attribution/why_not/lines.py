"""Wording for the results, shared by the command line and reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from attribution.text.said import text_of, texts_of
from attribution.text.scripts import letters
from attribution.text.segments import cut
from attribution.why_not.model import Change, Extraction, Fate, Held, Returned, ShownUnit, Stood, WhyNot, same_beginning
from schema.error_type_names import error_type_name
from schema.kinds import ErrorType

SHOWN = 10
"""The number of lines shown in each part; the JSON has more."""
QUOTED = 140
_FEW = 5
_SURE = 0.8
_CONTEXT = 30
"""The number of characters shown before and after a change."""
_LEAST = 12
"""Parts of a value with fewer letters are ids or names."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line: an element of the trace and a statement about it.

    Attributes:
        id: of the element; None for a line without an element.
        name: of the element, for people.
        said: the statement.
        quotes: from the element's value; two quotes are before and after a change.
    """

    id: str | None
    name: str
    said: str
    quotes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """Lines with a heading."""

    title: str
    lines: list[Line]


@dataclass(frozen=True, slots=True)
class Piece:
    """Everything that is shown about a piece.

    Attributes:
        title: ``piece 1 of 2``.
        outcome: where the piece was lost, in a sentence.
    """

    title: str
    of: WhyNot
    outcome: str
    parts: list[Part]


def pieces(found: Sequence[WhyNot]) -> list[Piece]:
    """All pieces of a failure; equal lists of returned units are shown once."""
    told: list[Piece] = []
    first: dict[tuple[str, ...], int] = {}
    for number, one in enumerate(found, 1):
        title = f"piece {number:,} of {len(found):,}" if len(found) > 1 else "piece"
        parts = [*map(_extraction, one.extractions), *(_change(made, one.piece) for made in one.changes)]
        if one.context:
            parts.append(Part(_where(one), _cut(map(_stood, one.context))))
        elif one.held:
            parts.append(_held(one))
            ids = tuple(unit.variable_id for unit in one.returned)
            before = first.setdefault(ids, number)
            parts.append(_returned(one) if before == number else _same(one, before))
        elif not parts:
            parts.append(Part("no unit that was current at the search held it", []))
        told.append(Piece(title, one, _outcome(one), parts))
    return told


def _outcome(one: WhyNot) -> str:
    if one.error_type is not None:
        at = f" at {one.operation}" if one.operation else ""
        return f"{error_type_name(one.error_type)}{at}: {one.reason} ({one.confidence:.2f})"
    if one.reason is not None:
        return one.reason
    if one.said_after:
        return "it was said after the question was asked"
    return "where it was lost can't be told"


def _where(one: WhyNot) -> str:
    is_response = one.error_type is ErrorType.RESPONSE and one.operation
    return f"it stood in what {one.operation} read" if is_response else "it stood in what the answer was made from"


def _held(one: WhyNot) -> Part:
    missed = sum(not unit.returned for unit in one.held)
    title = f"held by {_counted(one.held_count, 'unit')}" + ("" if missed else ", which were returned")
    if one.considered is None:
        title += "; the recording has no ranking"
    return Part(title, _cut(_line_of_held(unit, one.considered) for unit in one.held))


def _line_of_held(unit: Held, considered: int | None) -> Line:
    said = ["returned" if unit.returned else "not returned"]
    if unit.rank is not None:
        said.append(f"number {unit.rank:,} of {considered or 0:,}")
    elif considered is not None:
        said.append("not rated")
    if unit.score is not None:
        said.append(f"score {unit.score:.4g}")
    if unit.confidence < _SURE:
        said.append("perhaps")
    return Line(unit.variable_id, unit.label, ", ".join(said), (_short(unit.quote),))


def _returned(one: WhyNot) -> Part:
    if not one.returned:
        return Part("nothing was returned", [])
    return Part(f"{_in_place(one)}: {one.returned_count:,}", _cut(map(_line_of_returned, one.returned)))


def _same(one: WhyNot, before: int) -> Part:
    return Part(f"{_in_place(one)}: the same {one.returned_count:,} as of piece {before:,}", [])


def _in_place(one: WhyNot) -> str:
    if all(unit.returned for unit in one.held):
        return "returned"
    return f"returned in {'its' if one.held_count == 1 else 'their'} place"


def _line_of_returned(unit: Returned) -> Line:
    said = [f"number {unit.rank:,}"] if unit.rank is not None else []
    said += [f"score {unit.score:.4g}"] if unit.score is not None else []
    said += ["has it"] if unit.holds else []
    return Line(unit.variable_id, unit.label, ", ".join(said), (essence(unit.text),))


def _extraction(found: Extraction) -> Part:
    made = {essence(one.text): one.variable_id for one in found.facts if _telling(one.text)}
    title = f"{found.operation} left out {found.uncovered_count:,} of {_counted(found.sentences, 'sentence')}"
    if not found.uncovered_count:
        title = f"{found.operation} kept words of each sentence, and not the needed fact"
    title += "" if made else " and made nothing"
    lines = [
        Line(
            one.variable_id,
            "",
            "the piece" if one.is_piece else "left out",
            (_short(one.text), *([_short(one.nearest)] if one.is_piece and one.nearest else [])),
        )
        for one in found.uncovered
    ]
    facts = [Line(variable_id, "", "made", (text,)) for text, variable_id in made.items()]
    return Part(title, [*_cut(lines, _FEW), *_cut(facts, _FEW)])


def _change(found: Change, piece: str) -> Part:
    title = f"{found.operation} was shown {_counted(found.candidates_count, 'unit')}"
    if not found.added and all(one.fate is Fate.KEPT for one in found.candidates):
        title += " and changed nothing"
    given = [Line(one.variable_id, "", "given", (_short(one.text),)) for one in found.given]
    added = [Line(one.variable_id, "", "added", (essence(one.text),)) for one in found.added]
    units = [_candidate(one, piece) for one in found.candidates]
    return Part(title, [*_cut(given, _FEW), *_cut(units), *_cut(added, _FEW)])


def _candidate(unit: ShownUnit, piece: str) -> Line:
    said = unit.fate.value
    if unit.held:
        said += ", still has it" if unit.holds else ", had it"
    elif unit.holds:
        said += ", has it now"
    if unit.fate is Fate.REWRITTEN and unit.new is not None:
        return Line(unit.variable_id, unit.label, said, _rewritten(unit.old, unit.new, piece))
    return Line(unit.variable_id, unit.label, said, (essence(unit.old),))


def _rewritten(old: str, new: str, piece: str) -> tuple[str, ...]:
    """What a rewritten unit said and says.

    Of a list, such as a history: the text that went, with the piece if one of several has it, and a text that came.
    """
    before, after = dict.fromkeys(texts_of(old)), dict.fromkeys(texts_of(new))
    went = [one for one in before if one not in after]
    if len(before) > 1 and went:
        shown = next((one for one in went if piece in one), max(went, key=len))
        came = max((one for one in after if one not in before), key=len, default="")
        return changed(shown, came) if came else (_short(shown),)
    both = text_of(old), text_of(new)
    return changed(*(both if both[0] != both[1] else (old, new)))


def _stood(place: Stood) -> Line:
    share = 100 * place.offset / max(1, place.characters)
    said = f"at character {place.offset:,} of {place.characters:,} ({share:.0f} %)"
    around = f"…{place.before[-_CONTEXT:]}[{_short(place.quote)}]{place.after[:_CONTEXT]}…"
    return Line(place.variable_id, place.label, said, (" ".join(around.split()),))


def changed(old: str, new: str) -> tuple[str, str]:
    """The differing parts of two texts, with some context."""
    same = same_beginning(old, new)
    rest = min(len(old), len(new)) - same
    end = min(rest, same_beginning(old[::-1], new[::-1]))
    start = max(0, same - _CONTEXT)
    return _between(old, start, len(old) - end + _CONTEXT), _between(new, start, len(new) - end + _CONTEXT)


def _between(text: str, start: int, end: int) -> str:
    part = _short(text[start:end])
    return ("…" if start else "") + part + ("…" if end < len(text) and not part.endswith("…") else "")


def essence(text: str) -> str:
    """The text of a value on one line, without ids, names and times."""
    return _short(" ".join(_telling(text)) or text)


def _telling(text: str) -> list[str]:
    pieces = (piece.strip("\"' ") for _, piece in cut(text))
    return [piece for piece in pieces if letters(piece) >= _LEAST and (" " in piece or not piece.isascii())]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= QUOTED else line[: QUOTED - 1] + "…"


def _cut(lines: Iterable[Line], most: int = SHOWN) -> list[Line]:
    found = list(lines)
    more = len(found) - most
    return found if more <= 0 else [*found[:most], Line(None, "", f"and {more:,} more")]


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
