"""Days of the month in words: ``the third of February``, ``dritter Februar``, ``tres de febrero``."""

from __future__ import annotations

import re

from attribution.text.numbers import number

_ENGLISH = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth
sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth twenty-fifth
twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first
"""
_GERMAN = """
erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft dreizehnt vierzehnt fünfzehnt sechzehnt siebzehnt
achtzehnt neunzehnt zwanzigst einundzwanzigst zweiundzwanzigst dreiundzwanzigst vierundzwanzigst fünfundzwanzigst
sechsundzwanzigst siebenundzwanzigst achtundzwanzigst neunundzwanzigst dreißigst einunddreißigst
"""
_DUTCH = "eerste tweede derde vierde vijfde zesde zevende achtste negende tiende elfde twaalfde"
_ORDINALS = (
    {name: day for day, name in enumerate(_ENGLISH.split(), 1)}
    | {name + end: day for day, name in enumerate(_GERMAN.split(), 1) for end in ("e", "en", "er", "em")}
    | {name: day for day, name in enumerate(_DUTCH.split(), 1)}
    | dict.fromkeys(("premier", "primero", "primo", "primeiro"), 1)
)
_LAST = 31
_NAMES = """
january february march april may june july august september october november december
januar februar märz mai juni juli oktober dezember januari februari maart mei augustus
janvier février mars avril juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
"""
MONTHS = frozenset(_NAMES.split())
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_BEFORE = re.compile(
    rf"\b(?P<day>[^\W\d_]{{2,16}}(?:-[^\W\d_]{{2,8}})?)\s+(?P<of>of\s+|de\s+)?(?=(?:{_MONTH})\b)", re.IGNORECASE
)
_AFTER = re.compile(
    rf"\b(?:(?:{_MONTH})\s+the|(?!march|may)(?:{_MONTH}))\s+(?P<day>[^\W\d_]{{5,7}}(?:-[^\W\d_]{{5,7}})?)\b",
    re.IGNORECASE,
)
_SMALL = "one two three four five six seven eight nine ten eleven twelve twenty thirty"
_CARDINALS = frozenset(_SMALL.split())
"""English names no day so: ``one September day``."""
_ENGLISH_ONLY = frozenset(["january", "february", "march", "may", "june", "july", "august", "october", "december"])


def with_day_digits(text: str) -> str:
    """The text with days of the month in digits, each as long as the word: ``3     of February``."""
    for match in (*_BEFORE.finditer(text), *_AFTER.finditer(text)):
        day = _day(match)
        if day is not None:
            start, end = match.span("day")
            text = f"{text[:start]}{day:<{end - start}}{text[end:]}"
    return text


def _day(match: re.Match[str]) -> int | None:
    """The day that a match names; a cardinal number only before a month of another language than English."""
    word = match["day"].lower()
    if word in _ORDINALS:
        return _ORDINALS[word]
    if match.re is _AFTER:
        return None
    value = number(word)
    month = match.string[match.end() :].split(maxsplit=1)[0].strip(".,;:!?()").lower()
    is_english = word in _CARDINALS or month in _ENGLISH_ONLY or (match["of"] or "").lower().startswith("of")
    if value is None or not 1 <= value <= _LAST or value != int(value) or is_english:
        return None
    return int(value)
