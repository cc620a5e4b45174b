"""Quotes marked in texts, and figures in words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from attribution.report import words
from attribution.report.excerpts import marked, quoted
from attribution.report.model import Asked, OverTime, Scope, Stretch, TraceRef
from attribution.report.shares import share

UNKNOWN = " It is not recorded whether anybody judged the others."


@pytest.mark.parametrize(
    ("text", "quotes", "parts"),
    [
        ("one two", [], [("one two", False)]),
        ("one two", [None, "", "three"], [("one two", False)]),
        ("one two", ["one"], [("one", True), (" two", False)]),
        ("one two", ["two"], [("one ", False), ("two", True)]),
        ("one two", ["one two"], [("one two", True)]),
        ("one Two three", ["tWO"], [("one ", False), ("Two", True), (" three", False)]),
        ("İ one", ["ONE"], [("İ one", False)]),
        ("İ one", ["one"], [("İ ", False), ("one", True)]),
        ("a two, two", ["two"], [("a ", False), ("two", True), (", two", False)]),
        ("abcdef", ["def", "ab"], [("ab", True), ("c", False), ("def", True)]),
        ("abcdef", ["abcd", "cdef"], [("abcd", True), ("ef", True)]),
        ("abcdef", ["abcd", "bc"], [("abcd", True), ("ef", False)]),
        ("abcdef", ["abc", "def"], [("abc", True), ("def", True)]),
        ("", ["a"], []),
    ],
)
def test_quotes_are_marked(text: str, quotes: list[str | None], parts: list[tuple[str, bool]]) -> None:
    assert marked(text, quotes) == parts


@pytest.mark.parametrize(
    ("preview", "quote", "parts"),
    [
        ("", None, []),
        ("abcdefgh", None, [("abcd…", False)]),
        ("abcde", "", [("abcde", False)]),
        ("abcde", "cd", [("ab", False), ("cd", True), ("e", False)]),
        ("abcdefXghijkl", "X", [("… bcdef", False), ("X", True), ("ghij…", False)]),
        ("abcdeXghijk", "x", [("abcde", False), ("X", True), ("ghijk", False)]),
        ("Xabc", "X", [("X", True), ("abc", False)]),
        ("abc", "0123456789", [("… ", False), ("0123456789", True), (" …", False)]),
        ("abc", "0123456789x", [("… ", False), ("012345678…", True), (" …", False)]),
    ],
)
def test_a_quote_is_shown_with_what_is_around_it(
    preview: str, quote: str | None, parts: list[tuple[str, bool]]
) -> None:
    assert quoted(preview, quote, 5) == parts


@pytest.mark.parametrize(("count", "total", "rate"), [(0, 0, 0.0), (0, 4, 0.0), (1, 4, 0.25), (4, 4, 1.0)])
def test_a_share_has_its_rate_within_its_interval(count: int, total: int, rate: float) -> None:
    found = share("k", "label", count, total)
    assert (found.key, found.label, found.count, found.total, found.rate) == ("k", "label", count, total, rate)
    assert 0 <= found.low <= rate <= found.high <= 1


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (1, "1 second"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (90, "90 seconds"),
        (3_600, "1 hour"),
        (5_400, "90 minutes"),
        (86_400, "1 day"),
        (6 * 86_400, "6 days"),
        (7 * 86_400, "1 week"),
        (8 * 86_400, "8 days"),
        (14 * 86_400, "2 weeks"),
    ],
)
def test_the_length_of_an_interval(seconds: int, said: str) -> None:
    start = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    several = OverTime(seconds, [Stretch(start, 1), Stretch(start, 0), Stretch(start, 2_000)], 1)
    assert words.when(several).endswith(f"in intervals of {said}; 1 failure without a time.")
    one = OverTime(seconds, [Stretch(start, 1)], 0)
    assert words.when(one) == f"All wrong answers were given within {said} from 2026-01-02 03:04 UTC."
    moment = "2026-01-02 03:04" if seconds < 86_400 else "2026-01-02"
    assert words.over_time(several) == f"{moment}: 1; {moment}: 2,000; 1 failure without a time"


@pytest.mark.parametrize(
    ("external_id", "id_", "said"),
    [("a", "0f", "a, id 0f"), (None, "0f", "id 0f"), ("a", None, "a"), ("", "", ""), (None, None, "")],
)
def test_the_ids_of_an_element(external_id: str | None, id_: str | None, said: str) -> None:
    assert words.ids(external_id, id_) == said


@pytest.mark.parametrize(
    ("traces", "source", "selection", "said"),
    [
        ([("e", "n")], None, [], "project p, trace n; newest verdict of any method"),
        ([("e", "")], "flow", [], "project p, trace e; verdicts of flow"),
        ([("e", "n"), ("f", "m")], None, ["x"], "project p, 2 traces, 1 chosen failure; newest verdict of any method"),
        ([], None, ["x", "y"], "project p, 0 traces, 2 chosen failures; newest verdict of any method"),
    ],
)
def test_the_subject_of_a_report(
    traces: list[tuple[str, str]], source: str | None, selection: list[str], said: str
) -> None:
    refs = [TraceRef(id="i", external_id=external_id, name=name) for external_id, name in traces]
    assert words.covered(Scope("p", refs, source, selection)) == said


@pytest.mark.parametrize(
    ("answers", "wrong", "right", "not_judged", "said"),
    [
        (0, (2, 2), None, None, "The traces contain 0 answers, so it is not known how many questions were asked."),
        (
            4,
            (1, 4),
            (2, 4),
            (1, 4),
            "4 answers. 1 of 4 is known to be wrong: 25.0 % (I). 2 were judged right, and 1 was not judged.",
        ),
        (4, (2, 4), (2, 4), (0, 4), "4 answers. 2 of 4 are known to be wrong: 50.0 % (I). 2 were judged right."),
        (
            4,
            (2, 5),
            (0, 4),
            (3, 4),
            "whose answer was not recorded as an answer. 2 of 5 are known to be wrong: 40.0 % (I)." + UNKNOWN,
        ),
        (4, (4, 4), None, None, "4 answers. 4 of 4 are known to be wrong: 100.0 % (I)."),
        (
            4,
            (1, 4),
            None,
            None,
            "4 answers. 1 of 4 is known to be wrong: 25.0 % (I)." + UNKNOWN,
        ),
    ],
)
def test_how_many_answers_are_wrong(
    answers: int,
    wrong: tuple[int, int],
    right: tuple[int, int] | None,
    not_judged: tuple[int, int] | None,
    said: str,
) -> None:
    parts = [None if one is None else share("k", "l", *one) for one in (wrong, right, not_judged)]
    assert parts[0] is not None
    found = Asked(answers=answers, wrong=parts[0], right=parts[1], not_judged=parts[2], by_error_type=[])
    shown = words.asked(found).replace(words.interval(parts[0]), "I")
    for part in parts[1:]:
        if part is not None:
            shown = shown.replace(words._part(part), str(part.count))
    assert shown.endswith(said)
