"""Sentences of a text, and the day on which each was said."""

from __future__ import annotations

from datetime import date

import pytest

from attribution.text import segments
from attribution.text.intervals import SEASONS, Interval, month_of, season_of
from attribution.text.segments import cut, passage, sentence
from attribution.text.tokens import count, stem

DAY, OTHER = date(2026, 3, 1).toordinal(), date(2026, 3, 5).toordinal()
STAMP, LATER = "2026-03-01 09:00", "2026-03-05 10:30"


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        ("  \n ", []),
        ("One. Two!  Three? Four; five", ["One.", "Two!", "Three?", "Four;", "five"]),
        ("One\nTwo\\nThree", ["One", "Two", "Three"]),
        ("At 3.5 km", ["At 3.5 km"]),
        ("Am 3. Mai war es.", ["Am 3. Mai war es."]),
        ("Es war am 3. Dann ging er.", ["Es war am 3.", "Dann ging er."]),
        ("Die Karten liegen im 2. Stock. Dann", ["Die Karten liegen im 2. Stock.", "Dann"]),
        ("Gobelín je ve 2. patře, v úterý 4. listopadu.", ["Gobelín je ve 2. patře, v úterý 4. listopadu."]),
        ("Er ist am 21. August da.", ["Er ist am 21. August da."]),
        ("We sold 12. The rest is here.", ["We sold 12.", "The rest is here."]),
        ("It was 1990. then it closed.", ["It was 1990.", "then it closed."]),
        ("Pay 12.\nlater more", ["Pay 12.", "later more"]),
        ("一。二！", ["一", "二"]),
        ('He said "no." Then', ['He said "no.', "Then"]),
    ],
)
def test_a_text_is_cut(text: str, pieces: list[str]) -> None:
    found = cut(text)
    assert [piece for _, piece in found] == pieces
    assert all(text[place : place + len(piece)] == piece for place, piece in found)


def test_a_long_sentence_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "_LONGEST", 4)
    assert cut("abcd. efghi") == [(0, "abcd"), (4, "."), (6, "efgh"), (10, "i")]
    assert cut("ab. cd. ef", 4) == [(4, "cd."), (8, "ef")]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Hello. Bye.", [7, 7]),
        (f"{STAMP} Ann: Hello. Bye.", [DAY, DAY]),
        (f"Ann Lee ({STAMP}): Hello.\nBye.\nBen ({LATER}): Hi.\nSee you.", [DAY, DAY, OTHER, OTHER]),
        (f"Hello there Ann, my old friend.\nThe weather is fine, said at {STAMP}\nBye for now.", [DAY, DAY, DAY]),
        (
            f"The sun is out and warm today {STAMP}\nWe went to the beach and swam {LATER}\nThen we slept.",
            [DAY, OTHER, OTHER],
        ),
        (
            f"First we swam a lot.\nThe sun is out and warm today {STAMP}\nThen we ate.\n{LATER}",
            [DAY, DAY, OTHER, OTHER],
        ),
        (f"{STAMP}\nHello.\n{LATER}\nBye.", [DAY, DAY, OTHER, OTHER]),
    ],
)
def test_a_timestamp_dates_the_sentences_around_it(text: str, days: list[int | None]) -> None:
    assert [one.reference for one in passage(text, 7)] == days


def test_a_text_without_timestamps_has_the_day_of_its_message() -> None:
    assert [one.reference for one in passage("Hello. Bye.")] == [None, None]


@pytest.mark.parametrize(
    ("text", "stamp", "lead", "is_metadata"),
    [
        (f"{STAMP} Ann: warm green tea tastes good in cold winter", DAY, 0, False),
        (f"Ann Lee Brown ({STAMP}): warm tea", DAY, 3, False),
        (f"tea cake bread milk ({STAMP}): sugar", DAY, 4, True),
        (f"Ann ({STAMP})", DAY, 1, True),
        ("warm tea", None, 0, False),
    ],
)
def test_a_sentence_with_a_timestamp(text: str, stamp: int | None, lead: int, is_metadata: bool) -> None:
    found = sentence(text)
    assert (found.stamp, found.lead, found.is_metadata) == (stamp, lead, is_metadata)


@pytest.mark.parametrize(
    "form",
    [
        "[{} 10:00] Ann: It rained. We moved.",
        "Ann ({} 10:00): It rained. We moved.",
        '{{"id": 4, "time": "{}T10:00:00Z", "text": "It rained. We moved."}}',
        '{{"text": "It rained. We moved.", "time": "{}T10:00:00Z"}}',
        "Time: {} 10:00\nText: It rained. We moved.\n",
        "Text: It rained. We moved.\nTime: {} 10:00\n",
        "It rained. We moved. ({} 10:00)",
    ],
)
def test_a_list_of_dated_texts_behind_an_introduction(form: str) -> None:
    days = ["2026-03-09", "2026-05-20", "2026-08-11"]
    listed = "\n".join(form.format(day) for day in days)
    for text in (listed, listed.replace("\n", "\\n")):
        placed = passage(f"Friends told you this last spring:\n\n{text}\n\nWhen did Ann move to town?")
        told = [one.reference for one in placed if "moved" in one.sentence.text]
        assert [date.fromordinal(day or 1).isoformat() for day in told] == days


def test_words_numbers_and_dates_of_a_sentence() -> None:
    found = sentence("On 3 May 2024 the dogs bought twelve bones and 7 balls yesterday.")
    assert found.numbers == {12, 7}
    assert [one.relative is None for one in found.dates] == [True, False]
    assert set(found.stems) >= {"dog", "bone", "ball"}
    assert not {"may", "2024", "3", "7", "twelv", "the"} & set(found.stems)


def test_a_large_text_is_read_as_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each version of a growing text has the sentences that it has alone."""
    lines = [f"Ann ({STAMP}): line {number}. It is warm." for number in range(9)]
    lines += [f"Ben ({LATER}): line {number}!" for number in range(5)]
    versions = ["\n".join(lines[:end]) for end in range(1, len(lines))]
    versions += ["\n".join(lines[start:]) for start in (1, 3)] + [versions[5], f"{versions[4]} more", "other. text"]
    expected = [[*passage(text, day)] for text in versions for day in (None, 7)]
    monkeypatch.setattr(segments, "_KEPT", 10)
    monkeypatch.setattr(segments, "_read", ())
    assert [[*passage(text, day)] for text in versions for day in (None, 7)] == expected
    assert passage(versions[3], 7) is passage(versions[3], 7)
    monkeypatch.setattr(segments, "_read", ())
    monkeypatch.setattr(segments, "_LARGE_KEPT", 0)
    assert [[*passage(text, 7)] for text in versions] == expected[1::2]
    assert len(segments._read) <= 2


@pytest.mark.parametrize(
    ("word", "root"),
    [
        ("dogs", "dog"),
        ("ann's", "ann"),
        ("l'homme", "homm"),
        ("häuser", "haus"),
        ("книги", "книг"),
        ("café", "café"),
    ],
)
def test_the_stem_of_a_word(word: str, root: str) -> None:
    assert stem(word) == root


@pytest.mark.parametrize(
    ("text", "number"), [("", 0), ("one two, three", 3), ("北京大学", 2), ("北京大", 2), ("a 北", 2)]
)
def test_the_number_of_words(text: str, number: int) -> None:
    assert count(text) == number


@pytest.mark.parametrize(("month", "last"), [(1, 31), (2, 29), (4, 30), (12, 31)])
def test_a_month(month: int, last: int) -> None:
    assert month_of(2024, month) == Interval(date(2024, month, 1).toordinal(), date(2024, month, last).toordinal())


@pytest.mark.parametrize("month", [0, 13])
def test_no_month(month: int) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 (the error has no message)
        month_of(2024, month)


@pytest.mark.parametrize("name", SEASONS)
def test_a_season(name: str) -> None:
    found = season_of(name, 2023)
    first, last = date.fromordinal(found.first), date.fromordinal(found.last)
    assert first.day == 1
    assert (first.year, first.month) == (2023, SEASONS[name][0])
    assert (last.year, last.month) == (2024 if name == "winter" else 2023, SEASONS[name][1])
    assert date.fromordinal(found.last + 1).day == 1


@pytest.mark.parametrize(
    ("one", "other", "days"),
    [((1, 5), (5, 9), 1), ((1, 5), (6, 9), 0), ((1, 9), (3, 4), 2), ((6, 9), (1, 5), 0), ((2, 2), (2, 2), 1)],
)
def test_days_that_two_intervals_have(one: tuple[int, int], other: tuple[int, int], days: int) -> None:
    assert Interval(*one).overlap(Interval(*other)) == days
    assert Interval(*other).overlap(Interval(*one)) == days
