"""Dates in texts as intervals of days: absolute dates, and dates relative to a reference day.

``the week before 3 July 2023`` and ``last week``, said on 3 July 2023, are the same seven days.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from attribution.text.days_in_words import MONTHS, with_day_digits
from attribution.text.intervals import SEASONS, Interval, day_of, month_of, season_of
from attribution.text.numbers import number
from attribution.text.other_dates import in_english
from attribution.text.stamps import dates_text

_MONTHS = {
    name: place
    for place, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sep sept", "october oct", "november nov", "december dec"), 1)
    for name in names.split()
}  # fmt: skip
_WEEKDAYS = {
    name: place
    for place, names in enumerate(
        ("monday mon", "tuesday tue tues", "wednesday wed", "thursday thu thur thurs", "friday fri", "saturday sat",
         "sunday sun"))
    for name in names.split()
}  # fmt: skip
_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_WEEKDAY = "(?:" + "|".join(sorted(_WEEKDAYS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?:19|20)\d\d"
_DAY = r"(?:[0-3]?\d)(?:st|nd|rd|th)?"
_COUNT = (
    r"(?:a\s+couple\s+of|a\s+couple|a\s+few|several|couple\s+of|few|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven"
    r"|twelve|\d{1,3})"
)
_UNIT = r"(?:day|night|weekend|week|month|year)s?"
_TIME = rf"(?:{_UNIT}|{_WEEKDAY}|spring|summer|autumn|fall|winter|{_MONTH})"
_WHEN = r"(?:before|prior to|preceding|ahead of|earlier than|after|following|of|leading up to)"

_ABSOLUTE = re.compile(
    rf"""
      (?P<iso>\b(?P<y1>{_YEAR})[-/年.](?P<m1>[01]?\d)(?:[-/月.](?P<d1>[0-3]?\d))?日?)(?P<clock>[T\s]\d\d:\d\d(?::\d\d)?)?
    | (?<!\d)(?P<d2>{_DAY})\s+(?:of\s+)?(?P<m2>{_MONTH}),?(?:\s+(?:of\s+|in\s+)?(?P<y2>{_YEAR}))?
    | \b(?P<m3>{_MONTH})\s+(?:the\s+)?(?P<d3>{_DAY})(?!\d)(?:,?\s*(?:of\s+|in\s+)?(?P<y3>{_YEAR}))?
    | \b(?P<m4>{_MONTH}),?\s+(?:of\s+|in\s+)?(?P<y4>{_YEAR})
    | \b(?P<s5>spring|summer|autumn|fall|winter)\s+(?:of\s+|in\s+)?(?P<y5>{_YEAR})
    | (?<![\d-])(?P<y6>{_YEAR})(?![\d-])
    | \b(?P<m7>january|february|march|april|june|july|august|september|october|november|december)\b
    | (?<!\d)(?P<m8>[0-3]?\d)/(?P<d8>[0-3]?\d)/(?P<y8>{_YEAR})
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEFORE = re.compile(
    rf"(?:\b(?P<count>{_COUNT})\s+)?\b(?P<unit>{_UNIT}|{_WEEKDAY})\s+(?P<when>{_WHEN})\s+(?:the\s+)?(?:{_WEEKDAY},?\s+)?$",
    re.IGNORECASE,
)
_WEEKDAY_BEFORE = re.compile(rf"\b{_WEEKDAY},?\s+(?:the\s+)?$", re.IGNORECASE)
_RELATIVE = re.compile(
    rf"""
      \b(?P<day>day\s+before\s+yesterday|yesterday|last\s+night|today|tonight|this\s+(?:morning|afternoon|evening)|tomorrow)\b
    | \b(?P<which>last|past|previous|this|next|coming|upcoming)\s+(?P<few>few\s+)?(?P<what>{_TIME})
    | \b(?P<count>{_COUNT})\s+(?P<unit>{_UNIT})\s+(?P<dir>ago|back|earlier|later|before|now|already)\b
    | \bin\s+(?P<count2>{_COUNT})\s+(?P<unit2>{_UNIT})\b
    | \b(?P<on>on|since)\s+(?P<weekday>{_WEEKDAY})
    """,
    re.VERBOSE | re.IGNORECASE,
)
_EITHER = re.compile(rf"on\s+{_WEEKDAY}", re.IGNORECASE)
"""A day of the week that may be past or to come."""
# A cheap test that rules most sentences without dates out.
_WORDS = re.compile(r"[a-z]+|\d")
_TELLING_WORDS = """
day days night nights weekend weekends week weeks month months year years yesterday today tonight tomorrow morning
afternoon evening
"""
_TELLING = frozenset([*_MONTHS, *_WEEKDAYS, *SEASONS, *_TELLING_WORDS.split()])
_UNSURE = frozenset({"a few", "few", "several", "a couple of", "a couple", "couple of"})
_VAGUE = {"a couple of": 2, "a couple": 2, "couple of": 2, "a few": 3, "few": 3, "several": 4, "a": 1, "an": 1}


@dataclass(frozen=True, slots=True)
class Mention:
    """A date in a text: ``text[start:end]``.

    Attributes:
        interval: the days; None for a date that needs a reference day (see ``relative`` and ``yearless``).
        relative: a phrase such as ``last week``, which needs a reference day.
        yearless: (month, day of month or 0) of a date without a year.
        is_stamp: whether a time of day follows, or the date stands in brackets at the beginning: then the date says
            when the text was written.
    """

    start: int
    end: int
    interval: Interval | None
    relative: str | None = None
    yearless: tuple[int, int] | None = None
    is_stamp: bool = False

    @property
    def needs_day(self) -> bool:
        """Whether the date means nothing without its day; ``the week before July 3`` lacks only the year."""
        return self.relative is not None and _RELATIVE.fullmatch(self.relative) is not None

    def on(self, reference: int | None) -> Interval | None:
        """The days by a reference day (an ordinal); None without a needed reference, and outside the calendar."""
        if self.interval is not None:
            return self.interval
        if reference is None:
            return None
        try:
            if self.relative is not None:
                return _told(self.relative, date.fromordinal(reference))
            return None if self.yearless is None else _nearest(self.yearless, reference)
        except (ValueError, OverflowError):
            return None  # before the year 1 or after 9999

    def readings(self, reference: int | None) -> list[Interval]:
        """All days that the date can mean: ``on Friday`` is the Friday before the reference day, or the one after."""
        days = self.on(reference)
        if days is None:
            return []
        either = self.relative is not None and _EITHER.fullmatch(self.relative) is not None
        return [days, Interval(days.first + 7, days.last + 7)] if either else [days]


def mentions(text: str) -> list[Mention]:
    """The dates of a text, in order, without overlaps."""
    words = set(_WORDS.findall(text.lower()))
    if not words.isdisjoint(MONTHS):
        text = with_day_digits(text)
        words = set(_WORDS.findall(text.lower()))
    tells = not words.isdisjoint(_TELLING)
    found = [one for place in in_english(text, words) if (one := _translated(text, *place)) is not None]
    for one in _absolute(text, is_day_first=bool(found)) if tells or not words.isdisjoint("0123456789") else ():
        if all(one.end <= other.start or one.start >= other.end for other in found):
            found.append(one)
    taken = [(mention.start, mention.end) for mention in found]
    for match in _RELATIVE.finditer(text) if tells else ():
        start, end = match.span()
        if all(end <= first or start >= last for first, last in taken):
            found.append(Mention(start, end, None, relative=match.group().lower()))
    return sorted(found, key=lambda mention: mention.start)


def without_relative_dates(text: str) -> str:
    """The text without dates that need the day on which they were said, such as ``two days ago``."""
    found = text
    for mention in reversed(mentions(text)):
        if mention.needs_day:
            found = f"{found[: mention.start]} {found[mention.end :]}"
    return found


def _translated(text: str, start: int, end: int, english: str) -> Mention | None:
    """A date in another language; None if the calendar has no such day."""
    match = _ABSOLUTE.fullmatch(english)
    if match is None:
        return Mention(start, end, None, relative=english)
    try:
        interval, yearless = _named(match)
    except ValueError:
        return None
    return Mention(start, end, interval, yearless=yearless, is_stamp=dates_text(text, start, end))


def _absolute(text: str, *, is_day_first: bool) -> Iterator[Mention]:
    """The absolute dates of a text.

    Args:
        text: to read.
        is_day_first: whether ``3/4/2026`` is the third of April: in most languages but English.
    """
    after = 0
    for match in _ABSOLUTE.finditer(text):
        try:
            interval, yearless = _named(match, is_day_first=is_day_first)
        except ValueError:
            continue
        start, end = match.span()
        stamp = bool(match["clock"]) or dates_text(text, start, end)
        lead = _WEEKDAY_BEFORE.search(text, max(after, start - 12), start)
        start = lead.start() if lead else start
        before = None if stamp else _BEFORE.search(text, max(after, start - 60), start)
        if before and interval is not None:
            shifted = _shift(before, interval)
            if shifted is not None:
                interval, start = shifted, before.start()
        elif before and yearless is not None and yearless[1]:
            yield Mention(before.start(), end, None, relative=text[before.start() : end].lower())
            after = end
            continue
        yield Mention(start, end, interval, yearless=yearless, is_stamp=stamp)
        after = end


def _named(match: re.Match[str], *, is_day_first: bool = False) -> tuple[Interval | None, tuple[int, int] | None]:
    """The days of an absolute date; or its month and day if the year is missing.

    Raises:
        ValueError: the calendar has no such day.
    """
    if match["y1"]:
        month = int(match["m1"])
        return (
            month_of(int(match["y1"]), month) if not match["d1"] else day_of(int(match["y1"]), month, int(match["d1"]))
        ), None
    if match["m8"]:
        month, of_month = int(match["m8"]), int(match["d8"])
        if of_month <= 12 and (is_day_first or month > 12):
            month, of_month = of_month, month
        return day_of(int(match["y8"]), month, of_month), None
    for place in "23":
        if match[f"m{place}"]:
            month = _MONTHS[match[f"m{place}"].lower().rstrip(".")]
            of_month = int(re.match(r"\d+", match[f"d{place}"]).group())  # type: ignore[union-attr]
            if match[f"y{place}"]:
                return day_of(int(match[f"y{place}"]), month, of_month), None
            if not 1 <= of_month <= 31:
                raise ValueError
            return None, (month, of_month)
    if match["m4"]:
        return month_of(int(match["y4"]), _MONTHS[match["m4"].lower().rstrip(".")]), None
    if match["s5"]:
        return season_of(match["s5"].lower(), int(match["y5"])), None
    if match["y6"]:
        year = int(match["y6"])
        return Interval(date(year, 1, 1).toordinal(), date(year, 12, 31).toordinal()), None
    return None, (_MONTHS[match["m7"].lower()], 0)


def _nearest(yearless: tuple[int, int], reference: int) -> Interval | None:
    month, of_month = yearless
    near: list[Interval] = []
    for year in range(date.fromordinal(reference).year - 1, date.fromordinal(reference).year + 2):
        try:
            near.append(day_of(year, month, of_month) if of_month else month_of(year, month))
        except ValueError:
            continue
    return min(near, key=lambda interval: abs(interval.first - reference), default=None)


def _shift(match: re.Match[str], anchor: Interval) -> Interval | None:
    """The interval that a phrase such as ``two weekends before`` or ``the Friday after`` makes of another interval."""
    unit = match["unit"].lower().rstrip(".")
    count = _count(match["count"]) if match["count"] else 1
    is_vague = " ".join((match["count"] or "").lower().split()) in _UNSURE
    when = match["when"].lower()
    if when == "of":
        if unit.startswith("weekend"):
            return Interval(anchor.first - 2, anchor.last + 2)
        return Interval(anchor.first - 6, anchor.last + 6) if unit.startswith("week") and anchor.days == 1 else None
    forward = when in {"after", "following"}
    start = date.fromordinal(anchor.last if forward else anchor.first)
    found = _step(unit, count if forward else -count, start)
    return _widened(found) if found is not None and is_vague else found


def _widened(found: Interval) -> Interval:
    """The days of a vague number of units: ``a few years ago`` may be some more or fewer."""
    return Interval(found.first - 2 * found.days, found.last + found.days)


def _step(unit: str, count: int, start: date) -> Interval | None:
    """The interval ``count`` units after a day; before the day if the count is negative."""
    ordinal = start.toordinal()
    singular = unit.rstrip("s") if unit not in _WEEKDAYS else unit
    if unit in _WEEKDAYS:
        back = (start.weekday() - _WEEKDAYS[unit]) % 7
        day = ordinal - (back or 7) - 7 * (-count - 1) if count < 0 else ordinal + ((-back) % 7 or 7) + 7 * (count - 1)
        return Interval(day, day)
    if singular in {"day", "night"}:
        slack = abs(count) // 8
        return Interval(ordinal + count - slack, ordinal + count + slack)
    if singular == "weekend":
        saturday = ordinal - (start.weekday() - 5) % 7
        if start.weekday() >= 5:
            saturday = ordinal - (start.weekday() - 5)
        if count < 0:
            first = saturday - 7 * (-count - 1) if start.weekday() < 5 else saturday - 7 * -count
        else:
            first = saturday + 7 * count
        return Interval(first - 1, first + 2)
    if singular == "week":
        if abs(count) == 1:
            return (
                Interval(ordinal - 7 - start.weekday(), ordinal - 1)
                if count < 0
                else Interval(ordinal + 1, ordinal + 13 - start.weekday())
            )
        return Interval(ordinal + 7 * count - 4, ordinal + 7 * count + 4)
    if singular == "month":
        months = start.year * 12 + start.month - 1 + count
        if not 12 <= months < 12 * 9998:
            return None
        whole = month_of(months // 12, months % 12 + 1)
        near = ordinal + round(30.4 * count)
        return whole if abs(count) == 1 else Interval(min(whole.first, near - 15), max(whole.last, near + 15))
    if singular == "year":
        year = start.year + count
        return Interval(date(year, 1, 1).toordinal(), date(year, 12, 31).toordinal()) if 1 < year < 9999 else None
    return None


def _count(word: str) -> int:
    lowered = " ".join(word.lower().split())
    if lowered in _VAGUE:
        return _VAGUE[lowered]
    value = number(lowered)
    return 1 if value is None else int(value)


def _told(phrase: str, reference: date) -> Interval | None:
    """The days of a relative phrase that was said on a reference day."""
    ordinal = reference.toordinal()
    match = _RELATIVE.fullmatch(phrase)
    if match is None:
        return _told_by_date(phrase, ordinal)
    if match["day"]:
        words = match["day"]
        away = {"yesterday": -1, "last night": -1, "tomorrow": 1}.get(
            " ".join(words.split()), -2 if "before" in words else 0
        )
        return Interval(ordinal + away, ordinal + away)
    if match["which"]:
        return _which(match["which"], bool(match["few"]), match["what"].rstrip("."), reference)
    if match["count"] or match["count2"]:
        count = _count(match["count"] or match["count2"])
        back = match["count"] and match["dir"] in {"ago", "back", "earlier", "before", "now", "already"}
        found = _step(match["unit"] or match["unit2"], -count if back else count, reference)
        vague = " ".join((match["count"] or match["count2"]).lower().split()) in _UNSURE
        return _widened(found) if found is not None and vague else found
    back = (reference.weekday() - _WEEKDAYS[match["weekday"].rstrip(".")]) % 7
    return Interval(ordinal - back, ordinal - back)


def _told_by_date(phrase: str, reference: int) -> Interval | None:
    """``the week before July 3``: takes the year in which July 3 is nearest to the reference day."""
    for match in _ABSOLUTE.finditer(phrase):
        try:
            interval, yearless = _named(match)
        except ValueError:
            continue
        anchor = interval or (_nearest(yearless, reference) if yearless else None)
        before = _BEFORE.search(phrase, 0, match.start())
        if anchor is not None and before is not None:
            return _shift(before, anchor)
    return None


def _which(which: str, few: bool, what: str, reference: date) -> Interval | None:
    ordinal = reference.toordinal()
    back = which in {"last", "past", "previous"}
    if what in _MONTHS:
        year = reference.year
        if back and _MONTHS[what] >= reference.month:
            year -= 1
        if which not in {"last", "past", "previous", "this"} and _MONTHS[what] <= reference.month:
            year += 1
        return month_of(year, _MONTHS[what])
    if what in SEASONS:
        found = season_of(what, reference.year)
        if back and found.last >= ordinal:
            found = season_of(what, reference.year - 1)
        elif which in {"next", "coming", "upcoming"} and found.first <= ordinal:
            found = season_of(what, reference.year + 1)
        return found
    if few:
        step = _step(what, -3 if back else 3, reference)
        return None if step is None else Interval(min(step.first, ordinal), max(step.last, ordinal))
    if which == "this":
        return _this(what, reference)
    return _step(what if what in _WEEKDAYS else what.rstrip("s"), -1 if back else 1, reference)


def _this(what: str, reference: date) -> Interval | None:
    ordinal = reference.toordinal()
    if what in _WEEKDAYS:
        return Interval(ordinal - 6, ordinal + 6)
    singular = what.rstrip("s")
    if singular == "week":
        return Interval(ordinal - reference.weekday(), ordinal - reference.weekday() + 6)
    if singular == "weekend":
        return Interval(ordinal - 2, ordinal + 7)
    if singular == "month":
        return month_of(reference.year, reference.month)
    if singular == "year":
        return Interval(date(reference.year, 1, 1).toordinal(), date(reference.year, 12, 31).toordinal())
    return Interval(ordinal, ordinal)
