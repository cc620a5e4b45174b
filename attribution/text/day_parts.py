"""What stands around a time of day: a part of the day before it (``in the evening, after six``), and its bounds."""

from __future__ import annotations

import re
from typing import NamedTuple

_MORNING = r"""
    (?:in\s+the\s+|every\s+|this\s+)?(?:early\s+)?mornings? | (?:am\s+)?(?:vormittags?|morgens?) | früh(?:morgens)?
  | (?:por|de)\s+la\s+mañana | (?:pela|de)\s+manhã | (?:le|au|en)\s+matin(?:ée)? | (?:la|di|al)\s+mattin[ao]
  | (?:['’]s\s+)?(?:ochtends|morgens) | på\s+(?:morgonen|förmiddagen) | rano | утром
"""
_EVENING = r"""
    (?:in\s+the\s+|every\s+|this\s+)?(?:late\s+|early\s+)?(?:evening|afternoon)s? | at\s+night
  | (?:am\s+)?(?:(?:spät)?abends?|nachmittags?) | (?:por|de)\s+la\s+(?:tarde|noche) | (?:à|de|pela)\s+(?:tarde|noite)
  | (?:le|au|en)\s+soir(?:ée)? | (?:dans\s+)?l['’]après-midi | (?:la|di)\s+sera | (?:il|nel|di)\s+pomeriggio
  | (?:['’]s\s+)?(?:avonds|middags) | på\s+(?:kvällen|eftermiddagen) | wieczorem | po\s+południu | вечером
"""
_LATER = r"""
    after | from | since | past | over | more\s+than | at\s+least | nach | ab | seit | über | mindestens
  | después\s+de | desde | a\s+partir\s+de | más\s+de | al\s+menos | après | dès | depuis | à\s+partir\s+de
  | plus\s+de | au\s+moins
  | depois\s+d[ae]? | a\s+partir\s+d[ae]? | mais\s+de | pelo\s+menos | dopo | a\s+partire\s+dalle | dalle
  | più\s+di | almeno
  | na | vanaf | sinds | meer\s+dan | efter | från | minst | po | od | ponad | после | с | от | более
"""
_EARLIER = r"""
    before | until | till | by | under | less\s+than | at\s+most | up\s+to | within | vor | bis | unter | höchstens
  | innerhalb\s+von
  | antes\s+de | hasta | menos\s+de | como\s+mucho | avant | jusqu['’]à | moins\s+de | au\s+plus
  | antes\s+d[ae]? | até | no\s+máximo | prima\s+d(?:i|elle) | fino\s+a(?:lle)? | entro | meno\s+di | al\s+massimo
  | voor | tot | minder\s+dan | före | innan | till | högst | przed | do | до | к | менее
"""
_AT = r"""
    at | around | about | towards | um | gegen | kurz\s+nach | kurz\s+vor | a | à | vers | verso | alle | às? | om
  | rond | omstreeks
  | kl(?:ock[ae]n)?\.? | klokken | o | около | в
"""
_ARTICLE = r"(?:las?|l['’]|as?|às|le|les|the|den|alle)"
_LEAD = re.compile(
    rf"""\b(?:(?P<am>{_MORNING})|(?P<pm>{_EVENING}))(?:\s*,)?(?P<word>\s+(?:{_LATER}|{_EARLIER}|{_AT}))?
        (?:\s+{_ARTICLE})?\s+$""",
    re.VERBOSE | re.IGNORECASE,
)
_LONGEST = 60
"""The most characters from the beginning of a part of the day to its time."""
_BOUND = re.compile(
    rf"""(?<!\w)(?:(?P<later>{_LATER})|(?P<earlier>{_EARLIER}))(?:\s*{_ARTICLE})?\s*$""", re.VERBOSE | re.IGNORECASE
)
_BOUND_AFTER = re.compile(
    r"\s*(?:(?P<later>以降|以后|以後|之后|之後|から|過ぎ|이후|부터)|(?P<earlier>以前|之前|まで|前|이전|까지))"
)
_LED_IN = re.compile(rf"""(?<!\w)(?:{_LATER}|{_EARLIER}|{_AT})(?:\s*{_ARTICLE})?\s+$""", re.VERBOSE | re.IGNORECASE)
_ENDS = re.compile(r"\s*(?:[.,;:!?)]|$)")


class DayPart(NamedTuple):
    """A part of the day before a time.

    Attributes:
        start: where it begins.
        is_late: whether it is after noon.
        has_word: whether a word such as ``at`` or ``after`` leads from it to the time.
    """

    start: int
    is_late: bool
    has_word: bool


def part_before(text: str, start: int) -> DayPart | None:
    """The part of the day that stands before a time; None without one.

    Args:
        text: with the time.
        start: where the time begins.
    """
    match = _LEAD.search(text, max(0, start - _LONGEST), start)
    return None if match is None else DayPart(match.start(), match["pm"] is not None, match["word"] is not None)


def bound(text: str, start: int, end: int) -> int:
    """1 if a time or amount is the earliest or least (``after six``), -1 if it is the latest or most; else 0."""
    match = _BOUND.search(text, max(0, start - _LONGEST), start) or _BOUND_AFTER.match(text, end)
    return 0 if match is None else 1 if match["later"] else -1


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a number is a time if it is anything: a word such as ``at`` or ``after`` before it, and no word after."""
    return bool(_LED_IN.search(text, max(0, start - _LONGEST), start)) and bool(_ENDS.match(text, end))
