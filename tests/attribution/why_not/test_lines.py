"""What became of a piece, as lines for people."""

from __future__ import annotations

from types import SimpleNamespace as Part
from typing import Any

import pytest

from attribution.why_not.lines import _CONTEXT, QUOTED, SHOWN, changed, essence, pieces
from attribution.why_not.model import Fate
from schema.kinds import ErrorType


def held(**more: Any) -> Part:
    fields: dict[str, Any] = {
        "variable_id": "u",
        "label": "unit",
        "quote": "I like green tea",
        "confidence": 1.0,
        "rank": None,
        "score": None,
        "returned": False,
    }
    return Part(**fields | more)


def returned(number: int = 1, **more: Any) -> Part:
    fields: dict[str, Any] = {
        "variable_id": f"r{number}",
        "label": "other",
        "text": "It is rather cold",
        "rank": None,
        "score": None,
        "holds": False,
    }
    return Part(**fields | more)


def piece(**more: Any) -> Any:
    fields: dict[str, Any] = {
        "piece": "I like green tea",
        "error_type": None,
        "operation": None,
        "reason": None,
        "confidence": 0.5,
        "said_after": False,
        "held": [],
        "held_count": len(more.get("held", [])),
        "considered": None,
        "returned": [],
        "returned_count": len(more.get("returned", [])),
        "extractions": [],
        "changes": [],
        "context": [],
    }
    return Part(**fields | more)


def shown(*found: Any) -> list[tuple[str, list[tuple[str, str, tuple[str, ...]]]]]:
    """The titles of all parts, each with label, text and quotes of its lines."""
    return [
        (part.title, [(line.name, line.said, line.quotes) for line in part.lines])
        for one in pieces(found)
        for part in one.parts
    ]


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({}, "where it was lost can't be told"),
        ({"said_after": True}, "it was said after the question was asked"),
        ({"said_after": True, "reason": "a hole"}, "a hole"),
        ({"error_type": ErrorType.UPDATE, "reason": "r"}, "Update error: r (0.50)"),
        ({"error_type": ErrorType.UPDATE, "reason": "r", "operation": "add"}, "Update error at add: r (0.50)"),
    ],
)
def test_the_outcome_of_a_piece(fields: dict[str, Any], outcome: str) -> None:
    (one,) = pieces([piece(**fields)])
    assert (one.title, one.outcome) == ("piece", outcome)
    assert [part.title for part in one.parts] == ["no unit that was current at the search held it"]


@pytest.mark.parametrize(
    ("unit", "considered", "said"),
    [
        ({}, None, "not returned"),
        ({}, 9, "not returned, not rated"),
        ({"rank": 3}, 1_200, "not returned, number 3 of 1,200"),
        ({"rank": 3}, None, "not returned, number 3 of 0"),
        ({"returned": True, "score": 0.12345}, None, "returned, score 0.1235"),
        ({"confidence": 0.1}, None, "not returned, perhaps"),
    ],
)
def test_a_unit_that_held_it(unit: dict[str, Any], considered: int | None, said: str) -> None:
    (title, lines), *_ = shown(piece(held=[held(**unit)], considered=considered))
    assert lines == [("unit", said, ("I like green tea",))]
    ending = "; the recording has no ranking" if considered is None else ""
    assert title == "held by 1 unit" + (", which were returned" if unit.get("returned") else "") + ending


def test_what_was_returned_in_place() -> None:
    both = [returned(1, rank=1, score=0.5), returned(2, rank=2, holds=True)]
    first, second, third = (
        piece(held=[held()] * count, returned=some) for count, some in ((1, both), (2, both), (1, []))
    )
    titles = [title for title, _ in shown(first, second, third)]
    assert titles[1::2] == [
        "returned in its place: 2",
        "returned in their place: the same 2 as of piece 1",
        "nothing was returned",
    ]
    assert shown(first)[1][1] == [
        ("other", "number 1, score 0.5", ("It is rather cold",)),
        ("other", "number 2, has it", ("It is rather cold",)),
    ]
    assert shown(piece(held=[held(returned=True)], returned=both))[1][0] == "returned: 2"
    assert [one.title for one in pieces([first, second])] == ["piece 1 of 2", "piece 2 of 2"]


def test_long_lists_are_cut() -> None:
    for count in (SHOWN, SHOWN + 1, SHOWN + 2):
        _, (_, lines) = shown(piece(held=[held()], returned=[returned(number) for number in range(count)]))
        more = count - SHOWN
        assert len(lines) == (count if more <= 0 else SHOWN + 1)
        assert lines[-1][1] == (f"and {more} more" if more > 0 else "")


def unit(fate: Fate, **more: Any) -> Part:
    fields: dict[str, Any] = {
        "variable_id": "u",
        "label": "unit",
        "old": "I like green tea",
        "new": None,
        "held": False,
    }
    return Part(**fields | {"fate": fate, "holds": False} | more)


@pytest.mark.parametrize(
    ("shown_unit", "said", "texts"),
    [
        (unit(Fate.KEPT), "kept", ("I like green tea",)),
        (unit(Fate.KEPT, held=True, holds=True), "kept, still has it", ("I like green tea",)),
        (unit(Fate.DROPPED, held=True), "dropped, had it", ("I like green tea",)),
        (
            unit(Fate.REWRITTEN, holds=True, new="I like sweet cake"),
            "rewritten, has it now",
            ("I like green tea", "I like sweet cake"),
        ),
        (unit(Fate.REWRITTEN), "rewritten", ("I like green tea",)),
        (unit(Fate.KEPT, new="I like sweet cake"), "kept", ("I like green tea",)),
        (
            unit(
                Fate.REWRITTEN, old='{"text": "I like green tea", "n": 1}', new='{"text": "I like green tea", "n": 2}'
            ),
            "rewritten",
            None,
        ),
    ],
)
def test_a_unit_that_an_operation_was_shown(shown_unit: Part, said: str, texts: tuple[str, ...] | None) -> None:
    change = Part(operation="update", candidates=[shown_unit], candidates_count=1, given=[], added=[])
    ((title, (line,)),) = shown(piece(changes=[change]))
    is_kept = shown_unit.fate is Fate.KEPT
    assert title == "update was shown 1 unit" + (" and changed nothing" if is_kept else "")
    assert line[1] == said
    assert line[2] == texts or (texts is None and line[2][0] != line[2][1])


def test_of_a_rewritten_history_the_text_with_the_piece_is_shown() -> None:
    old = '[{"role":"human","content":"I like green tea"},{"role":"ai","content":"That is a fine thing to drink."}]'
    summed_up = '[{"role":"human","content":"They talked about drinks."}]'
    cut = '[{"role":"ai","content":"That is a fine thing to drink."}]'
    for new, texts in ((summed_up, ("I like green tea", "They talked about drinks.")), (cut, ("I like green tea",))):
        history = unit(Fate.REWRITTEN, held=True, old=old, new=new)
        change = Part(operation="update", candidates=[history], candidates_count=1, given=[], added=[])
        ((_, (line,)),) = shown(piece(changes=[change]))
        assert line[1:] == ("rewritten, had it", texts)


def test_an_operation_that_added_something_changed_something() -> None:
    added = [Part(variable_id="n", text="I like sweet cake")]
    given = [Part(variable_id="g", text="said:  I like\nsweet cake")]
    change = Part(operation="update", candidates=[unit(Fate.KEPT)], candidates_count=1_500, given=given, added=added)
    ((title, lines),) = shown(piece(changes=[change]))
    assert title == "update was shown 1,500 units"
    assert [(said, texts) for _, said, texts in lines] == [
        ("given", ("said: I like sweet cake",)),
        ("kept", ("I like green tea",)),
        ("added", ("I like sweet cake",)),
    ]


def test_an_extraction() -> None:
    uncovered = [
        Part(variable_id="m", is_piece=True, text="I like green tea", nearest="I like sweet cake"),
        Part(variable_id="m", is_piece=False, text="It is rather cold", nearest="x"),
        Part(variable_id="m", is_piece=True, text="I am not here", nearest=None),
    ]
    facts = [Part(variable_id="f", text="I like sweet cake"), Part(variable_id="g", text="b306a8e5")]
    found = Part(operation="extract", uncovered_count=3, sentences=1, facts=facts, uncovered=uncovered)
    ((title, lines),) = shown(piece(extractions=[found]))
    assert title == "extract left out 3 of 1 sentence"
    assert [(said, texts) for _, said, texts in lines] == [
        ("the piece", ("I like green tea", "I like sweet cake")),
        ("left out", ("It is rather cold",)),
        ("the piece", ("I am not here",)),
        ("made", ("I like sweet cake",)),
    ]
    found.facts = facts[1:]
    assert shown(piece(extractions=[found]))[0][0] == "extract left out 3 of 1 sentence and made nothing"


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({}, "it stood in what the answer was made from"),
        ({"error_type": ErrorType.RESPONSE, "operation": "answer", "reason": ""}, "it stood in what answer read"),
        ({"error_type": ErrorType.RESPONSE, "reason": ""}, "it stood in what the answer was made from"),
        (
            {"error_type": ErrorType.UPDATE, "operation": "add", "reason": ""},
            "it stood in what the answer was made from",
        ),
    ],
)
def test_where_it_stood(fields: dict[str, Any], title: str) -> None:
    before, after = "b" * 500, "a" * 500
    stood = Part(
        variable_id="c", label="context", offset=250, characters=1_000, before=before, after=after, quote="tea"
    )
    (part,) = shown(piece(context=[stood], held=[held()], **fields))
    said = "at character 250 of 1,000 (25 %)"
    assert part == (title, [("context", said, (f"…{'b' * _CONTEXT}[tea]{'a' * _CONTEXT}…",))])


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("I like green tea", "I like sweet cake", ("I like green tea", "I like sweet cake")),
        ("same", "same", ("same", "same")),
        ("x" * 500 + "a" + "y" * 500, "x" * 500 + "b" + "y" * 500, None),
        ("aa", "aaa", ("aa", "aaa")),
        ("", "new", ("", "new")),
    ],
)
def test_the_differing_parts_of_two_texts(old: str, new: str, parts: tuple[str, str] | None) -> None:
    if parts is None:
        left, right = "x" * _CONTEXT, "y" * _CONTEXT
        parts = (f"…{left}a{right}…", f"…{left}b{right}…")
    assert changed(old, new) == parts


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("I like green tea", "I like green tea"),
        ('{"id": "b306a8e5-bde9", "memory": "I like green tea", "time": "now"}', "I like green tea"),
        ("b306a8e5", "b306a8e5"),
        ("x y " * 500, None),
    ],
)
def test_the_essence_of_a_value(text: str, said: str | None) -> None:
    found = essence(text)
    assert found == said or (said is None and len(found) == QUOTED and found.endswith("…"))
