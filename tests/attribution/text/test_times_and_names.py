"""Readers of times of day in other scripts, days of the week, initials, dates of texts, and numbers: row by row."""

from __future__ import annotations

import pytest

from attribution.text.initials import spelled_out
from attribution.text.numbers import number
from attribution.text.other_clock import other_times
from attribution.text.stamps import dates_text
from attribution.text.weekdays import names_other_weekdays, weekdays


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("18時30分", (0, 6, 1110, True)),
        ("午後六時半", (0, 5, 1110, True)),
        ("下午三点一刻", (0, 6, 915, True)),
        ("十二点三刻", (0, 5, 765, False)),
        ("오후 여섯 시 반", (0, 9, 1110, True)),
        ("열두시 5분", (0, 6, 725, False)),
        ("한 시", (0, 3, 60, False)),
        ("三点钟", (0, 3, 180, False)),
        ("上午10点", (0, 5, 600, True)),
        ("朝の7時", (0, 4, 420, True)),
        ("晩に8時15分", (0, 7, 1215, True)),
        ("午前12時", (0, 5, 0, True)),
        ("午後12時", (0, 5, 720, True)),
        ("8時5", (0, 2, 480, False)),  # without a sign the digits are no minutes
        ("夜11時5", (0, 4, 1380, True)),
        ("12時", (0, 3, 720, False)),
        ("13時", (0, 3, 780, True)),
        ("24時", (0, 3, 0, True)),
        ("25時", None),
        ("两点", None),  # two points
        ("3点20", None),
        ("5時間", None),
    ],
)
def test_times_of_day_in_other_scripts(text: str, wanted: tuple[int, int, int, bool] | None) -> None:
    assert list(other_times(text)) == ([] if wanted is None else [wanted])
    if wanted is not None:
        start, end, minutes, is_whole = wanted
        assert list(other_times(f"今{text}")) == [(start + 1, end + 1, minutes, is_whole)]


DAYS = (
    ("Mondays", "on MONDAY", "segunda-feira", "월요일", "pazartesi"),
    ("terça-feira", "火曜日", "mardi", "вторник"),
    ("miercoles", "miércoles", "в среду", "周三"),
    ("Donnerstag", "giovedì", "woche donderdag"),
    ("по пятницам", "cuma", "vrijdag"),
    ("Sonnabend", "samstags", "礼拜六"),
    ("星期天", "周日", "pazar"),
)


@pytest.mark.parametrize(("day", "text"), [(day, text) for day, texts in enumerate(DAYS) for text in texts])
def test_days_of_the_week(day: int, text: str) -> None:
    assert weekdays(text) == {day}


@pytest.mark.parametrize(
    ("golds", "text", "wanted"),
    [
        (["on Monday"], "on Tuesday", True),
        (["on Monday"], "lundi", False),
        (["on Monday"], "Monday or Tuesday", False),
        (["on Monday", "or Tuesday"], "Tuesday", False),
        (["on Monday"], "tomorrow", False),
        (["tomorrow"], "on Tuesday", False),
        (["mon day"], "monda", False),
        ([], "on Tuesday", False),
    ],
)
def test_whether_another_day_of_the_week_is_named(golds: list[str], text: str, wanted: bool) -> None:
    assert names_other_weekdays(golds, text) is wanted


@pytest.mark.parametrize(
    ("text", "other", "wanted"),
    [
        ("the United Kingdom", "UK", {"unit", "kingdom"}),
        ("UK", "the United Kingdom", {"uk"}),
        ("U.K.", "the United Kingdom", {"uk"}),
        ("MIT", "Massachusetts Institute of Technology", {"mit"}),
        ("Universität-Klinik Bonn", "UKB", {"universitat", "klinik", "bonn"}),
        ("Los Angeles", "LA", {"los", "angel"}),
        ("mit", "Massachusetts Institute of Technology", set()),
        ("Bank of England", "BE", set()),  # two letters meet a name by chance
        ("Peter Maier", "5 PM", set()),
        ("the united kingdom", "UK", set()),
        ("United States", "UK", set()),
    ],
)
def test_names_and_their_initials(text: str, other: str, wanted: set[str]) -> None:
    assert spelled_out(text, other) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[3 May 2026] Hi", True),
        ("[ 3 May 2026 ] Hi", True),
        ("【3 May 2026】 Hi", True),
        ("(3 May 2026) - Hi", True),
        ("[3 May 2026]: 5", False),
        ("      [3 May 2026] Hi", True),
        ("       [3 May 2026] Hi", False),
        ("said [3 May 2026] Hi", False),
        ("3 May 2026 Ann Lee: hi", True),
        ("3 May 2026, Ann: hi", True),
        ("3 May 2026 12 people: x", False),
        ("He: 3 May 2026 Ann: hi", False),
        ("Ann Lee (3 May 2026): hi", True),
        ("Ann Lee [3 May 2026] : hi", True),
        ("Ann Lee Bo Cy (3 May 2026): hi", False),
        ("Ann (3 May 2026) went", False),
        ("We met 3 May 2026, 14:30", True),
        ("We met 3 May 2026 at 9:05", True),
        ("We met 3 May 2026 (Sun), 9:05", True),
        ("We met on 3 May 2026.", False),
    ],
)
def test_whether_a_date_says_when_its_text_was_written(text: str, wanted: bool) -> None:
    start = text.index("3 May")
    assert dates_text(text, start, start + len("3 May 2026")) is wanted


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("3", 3.0),
        ("2.5", 2.5),
        ("1,000", 1000.0),
        *[(f"{n}{ending}", float(n)) for n, ending in ((1, "st"), (2, "nd"), (3, "rd"), (4, "th"))],
        ("3rdth", None),
        ("1.2.3", None),
        ("5x", None),
        ("x5", None),
        ("", None),
        ("twenty", 20.0),
        ("zero", 0.0),
        ("nineteen", 19.0),
        ("ninety", 90.0),
        ("dozen", 12.0),
        ("zwei", 2.0),
        ("douze", 12.0),
        ("treize", 13.0),
        ("veintinueve", 29.0),
        ("vierundzwanzig", 24.0),
        ("neunundneunzig", 99.0),
        ("drieëntwintig", None),
        ("vierentwintig", 24.0),
        ("ventuno", 21.0),
        ("trentotto", 38.0),
        ("novantadue", 92.0),
        ("دو", 2.0),
        ("یازده", 11.0),
        ("نوزده", 19.0),
        ("نود", 90.0),
    ],
)
def test_numbers_in_one_word(word: str, wanted: float | None) -> None:
    assert number(word) == wanted
