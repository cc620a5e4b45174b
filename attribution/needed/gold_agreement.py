"""Whether an answer has the content of the gold answer. Only proof counts: related words are not enough."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TypeVar

from attribution.needed.content import CREDIT, DATE_WEIGHT, NUMBER_WEIGHT, Content, Rarity, content, same_days
from attribution.needed.question import polar, polarity
from attribution.needed.told_numbers import LONGEST_COMPARED, times_of_both, told_numbers
from attribution.text.amounts import Amount, amounts, clock_durations, is_unit
from attribution.text.clock import Time, times
from attribution.text.dates import mentions
from attribution.text.day_parts import bound
from attribution.text.digit_dates import days_in_digits
from attribution.text.initials import spelled_out
from attribution.text.intervals import Interval
from attribution.text.languages import is_function_word, language_of
from attribution.text.lexicon import best_likeness, is_common_word, is_rival_of_any, is_same_as_any
from attribution.text.money import Money, money
from attribution.text.named_days import days_in_words
from attribution.text.numbers import number
from attribution.text.segments import passage
from attribution.text.tokens import tokens
from attribution.text.weekdays import names_other_weekdays, weekdays

_SOME_DAY = 738_000
"""A day (an ordinal) to compare relative dates by."""
_NOT = re.compile(
    r"""
      \b(?:not|no|never|none|neither|nor|without|cannot|nicht|nie|niemals|kein\w*|ohne|niet|niets|nooit|niemand|geen|zonder
        |nunca|jamás|nadie|ning[uú]n\w*|tampoco|pas|jamais|aucun\w*|sans|non(?!-)|senza|nessun\w*|niente|não|nem
        |nenhum\w*|inte|ikke|inge[nt]|inga|żad\w+|tidak|bukan|không|δεν|όχι|değil|yok|не|нет|никогда|без|нельзя|لا|ليس\w*|لم
        |لن|بدون)\b
      | n['’]t\b | \bn['’](?=[aeiouyéèêh])
      | 不(?![过過仅僅但久同少断斷错錯止管妨]) | [没沒] | 未(?![来來]) | 无(?![论論]) | 無(?![論])
      | ない | ません | なかった | 없 | 않 | 못 | 안\s | 아니 | ไม่ | नही | बिना
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Negation in the languages whose dates and numbers are read, and in some more."""


_IN_THE = re.compile(r"\bno\b", re.IGNORECASE)
_CODE = re.compile(r"(?<![\w-])(?=[A-Za-z]*-?\d|[A-Za-z0-9]*-[A-Za-z]*\d)[A-Za-z0-9]+(?:[-/][A-Za-z0-9]+)+(?![\w-])")
"""A code with digits that joins its parts by hyphens or slashes."""
_LONG_NUMBER = re.compile(r"(?<![\w.,+-])\+?(?!\d{1,3}(?:[ ]\d{3})+(?!\d))\d(?:[ ]?\d){5,}(?![\w]|[.,]\d)")
"""A number of six digits or more, such as one of a telephone, also in groups; thousands in groups are an amount."""
_Measured = TypeVar("_Measured", Time, Amount, Money)
_PLAIN = Rarity(())
"""Weighs all words alike."""
_LONGEST_MEASURE = 200
"""A longer gold answer, in characters, says more than an amount or a time of day."""
_FEWEST = 2
"""The number of proven words beside which related words count."""
_NO_NOUN = ("ly", "ed", "ing")
"""Endings of words that do not name a sort of thing."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """How well a text agrees with the wanted content.

    Attributes:
        recall: the share of the wanted content that the text has, 0 to 1.
        conflicts: whether the text names another day, number or member of a class, or denies the content.
        is_proven: whether the share counts only the same words, numbers and dates, and no related words.
        is_measure: whether the text names the same amount or time of day, perhaps in another unit or in words.
        missing: stems of the wanted content that the text lacks.
        beside: stems of the text that are neither wanted nor in the question.
    """

    recall: float
    conflicts: bool
    is_proven: bool = True
    is_measure: bool = False
    missing: tuple[str, ...] = field(default=(), compare=False)
    beside: tuple[str, ...] = field(default=(), compare=False)


def agreement(
    wanted: Content,
    text: str,
    golds: Sequence[str] = (),
    asked: frozenset[str] = frozenset(),
    question: str = "",
) -> Agreement:
    """How well a text agrees with the wanted content. The text may leave out the year of a date.

    Args:
        wanted: the content of the gold answers beyond the question.
        text: the answer.
        golds: the gold answers, to compare yes, no and not.
        asked: stems of the question, which answers repeat.
        question: what was asked, whose "not" an answer may repeat.
    """
    right, said = polar(golds), polarity(text)
    if right is not None and said is not None:
        return Agreement(float(said is right), said is not right)
    alike = measures_alike(golds, text, asked)
    denies_as_gold = _denies_as(golds, text) or _denies_as_asked(question, wanted, text, asked)
    is_other_day = names_other_weekdays(tuple(golds), text)
    if alike and denies_as_gold and not is_other_day:
        return Agreement(1.0, False, is_measure=True)
    reference = wanted.dates[0].first if wanted.dates else None
    sentences = [placed.sentence for placed in passage(text)]
    told: list[Interval] = []
    for one in sentences:
        # A relative date without its reference is no date.
        dated = [date for date in one.dates if not date.needs_day]
        told += [days for days in (date.on(reference) for date in dated) if days is not None]
    told += [*days_in_digits(text, wanted.dates), *_days_in_words(text, wanted)]
    counted = told_numbers(wanted.numbers, golds, text)
    words = {stem for one in sentences for stem in one.stems}
    beside = tuple(sorted(words - asked - wanted.words.keys()))
    named = {stem for gold in golds for stem in spelled_out(gold, text)} | counted.named
    missing = [w for w in wanted.words if w not in words and w not in named and not is_same_as_any(w, beside)]
    proven = [word for word in wanted.words if word not in missing]
    got = sum(wanted.words[word] for word in proven)
    # A poodle is no dog: related words, which may be narrower or broader, count only beside several proven words.
    near = sum(wanted.words[word] * CREDIT[best_likeness(word, beside)] for word in missing)
    near = min(near, got) if len(proven) >= _FEWEST else 0.0
    got += near
    same = [any(same_days(days, other) for other in told) for days in wanted.dates]
    got += DATE_WEIGHT * sum(same) + NUMBER_WEIGHT * len((counted.wanted & counted.said) | counted.same)
    conflicts = (
        bool(wanted.dates and told and not any(same))
        or _tells_another_number(counted.wanted, counted.said)
        or counted.is_other
        or any(is_rival_of_any(word, _without_units(beside, word, counted.wanted, counted.said)) for word in missing)
        or not denies_as_gold
        or _tells_another_relative_date(golds, text)
        or _tells_another_time(golds, text)
        or is_other_day
        or tells_another_code(golds, text)
        or alike is False
    )
    recall = got / wanted.weight if wanted.weight else 0.0
    return Agreement(recall, conflicts, is_proven=not near, missing=tuple(missing), beside=beside)


def _days_in_words(text: str, wanted: Content) -> list[Interval]:
    """The wanted days that a short text names with the name of the month."""
    return days_in_words(text, wanted.dates) if len(text) <= LONGEST_COMPARED else []


def _without_units(
    beside: tuple[str, ...], word: str, wanted: frozenset[float], told: frozenset[float]
) -> tuple[str, ...]:
    """The words that may be rivals of a word: no unit of measure for a unit, if only one of both texts has a number.

    ``Fortnightly`` and ``every second week`` are the same.
    """
    if not is_unit(word) or bool(wanted) is bool(told):
        return beside
    return tuple(one for one in beside if not is_unit(one))


def is_narrowed(wanted: Content, text: str, known: tuple[str, ...]) -> bool:
    """Whether a text puts a word of its own directly before the only wanted word, as ``cork`` before ``oak``.

    Only a common word of English has narrower terms of this form. Names and words of other languages have none.

    Args:
        wanted: the content of the gold answers beyond the question.
        text: the answer.
        known: stems of the question and of the evidence.
    """
    if len(wanted.words) != 1:
        return False
    said = tokens(text)
    others = tuple(one for one in known if one not in wanted.words)  # a sort of the wanted thing is like its name
    return any(
        after.stem in wanted.words
        and is_common_word(after.stem)
        and before.carries
        and before.word.isalpha()
        and not before.word.endswith(_NO_NOUN)
        and number(before.word) is None
        and not text[after.start].isupper()  # a name stays the same name: "the bird Humboldt"
        and before.stem not in wanted.words
        and not best_likeness(before.stem, others)
        and not text[before.end : after.start].strip()
        for before, after in pairwise(said)
    )


def _tells_another_number(wanted: frozenset[float], told: frozenset[float]) -> bool:
    """Whether a text has none of the wanted numbers, or another number in place of each that it lacks."""
    missing, beside = wanted - told, told - wanted
    return bool(missing and told) and (missing == wanted or len(missing) == len(beside))


def _tells_another_relative_date(golds: Sequence[str], text: str) -> bool:
    """Whether gold answers and text have relative dates (``a year ago``), and no two that are the same days."""
    wanted = [days for gold in golds for days in _relative_days(gold)]
    told = _relative_days(text) if wanted else []  # reading a long text takes milliseconds
    return bool(told) and not any(same_days(one, other) for one in wanted for other in told)


def _tells_another_time(golds: Sequence[str], text: str) -> bool:
    """Whether gold answers and text have times of day, and none in common."""
    wanted, told = times_of_both(golds, text)
    return bool(wanted and told) and not any(one.same(other) for _, one in wanted for other in told)


def tells_another_code(golds: Sequence[str], text: str) -> bool:
    """Whether gold answers and text have codes of one form, such as ``70-181`` and ``70-118``, and none in common.

    Numbers of six digits or more are codes, too.
    """
    wanted = {code for gold in golds for code in _codes(gold)}
    told = _codes(text) if wanted else set()
    forms = {_form(code) for code in wanted}
    return wanted.isdisjoint(told) and any(_form(code) in forms for code in told)


def has_code(golds: Sequence[str], text: str) -> bool:
    """Whether a text has a code of the gold answers."""
    return not {code for gold in golds for code in _codes(gold)}.isdisjoint(_codes(text))


def _codes(text: str) -> set[str]:
    found = {match.group().casefold() for match in _CODE.finditer(text)}
    return found | {"".join(filter(str.isdigit, match.group())) for match in _LONG_NUMBER.finditer(text)}


def _form(code: str) -> str:
    """A code with 0 for each digit, and a for each letter."""
    return "".join("0" if one.isdigit() else "a" if one.isalpha() else one for one in code)


def tells_another_amount(gold: str, text: str) -> bool:
    """Whether a text names other dates, days of the week, numbers or times in the place of the gold answer's."""
    alike = measures_alike([gold], text, frozenset())
    if alike is not None:
        return not alike
    if tells_another_code([gold], text) or _tells_another_weekday(gold, text):
        return True
    near = next((one.interval.first for one in mentions(f"{gold}\n{text}") if one.interval is not None), _SOME_DAY)
    wanted, told = _named_days(gold, near), _named_days(text, near)
    told += days_in_digits(text, wanted)
    if wanted and told:
        return not any(same_days(one, other) or same_days(other, one) for one in wanted for other in told)
    some, others = content(gold, _PLAIN, _SOME_DAY), content(text, _PLAIN, _SOME_DAY)
    if some.numbers and others.numbers:
        return _tells_another_number(some.numbers, others.numbers)
    return _tells_another_time([gold], text)


def _tells_another_weekday(gold: str, text: str) -> bool:
    """Whether a text has a day of the week in the place of the gold answer's, of which it may have others."""
    wanted, told = weekdays(gold), weekdays(text)
    return bool(wanted - told) and bool(told - wanted)


def _named_days(text: str, near: int) -> list[Interval]:
    """The days that a text names; a date without a year is the nearest to the day ``near`` (an ordinal)."""
    placed = [(one, said.reference) for said in passage(text, _SOME_DAY) for one in said.sentence.dates]
    days = (one.on(reference if one.needs_day else near) for one, reference in placed)
    return [one for one in days if one is not None]


def measures_alike(golds: Sequence[str], text: str, asked: frozenset[str]) -> bool | None:
    """Whether a text names the amount or the time of day of a gold answer, as ``half past two`` names ``14:30``.

    Args:
        golds: the gold answers. Only one that says nothing else but what the text says, too, is compared.
        text: the answer.
        asked: stems of the question, which answers repeat.

    Returns:
        None if no gold answer is comparable, or the text names several different amounts of that sort.
    """
    for gold in golds:
        found = (
            _alike(partial(times, is_wanted=bool(times(text))), gold, text, asked, partial(times, is_wanted=True)),
            _alike(amounts, gold, text, asked),
            _alike(money, gold, text, asked),
            _alike_by_clock(gold, text, asked),
        )
        if (alike := next((one for one in found if one is not None), None)) is not None:
            return alike
    return None


def _alike(
    measured: Callable[[str], list[_Measured]],
    gold: str,
    text: str,
    asked: frozenset[str],
    measured_in_text: Callable[[str], list[_Measured]] | None = None,
) -> bool | None:
    """Whether a text names the only measure of a gold answer.

    Args:
        measured: reads the measures of one sort.
        gold: a gold answer.
        text: the answer.
        asked: stems of the question, which answers repeat.
        measured_in_text: reads the measures of the answer; None to read them as those of the gold answer.
    """
    wanted = measured(gold) if len(gold) <= _LONGEST_MEASURE else []
    if len(wanted) != 1:
        return None
    repeated = asked | {one.stem for one in tokens(text)}
    if not _is_all(gold, wanted[0].start, wanted[0].end, repeated):
        return None
    least = bound(gold, wanted[0].start, wanted[0].end)
    told = {
        one.same(wanted[0]) and least * bound(text, one.start, one.end) >= 0
        for one in (measured_in_text or measured)(text)
        if one.is_comparable(wanted[0])
    }
    return told.pop() if len(told) == 1 else None


def _alike_by_clock(gold: str, text: str, asked: frozenset[str]) -> bool | None:
    """Whether one text has as digits with colons the duration that the other names; None if they have no such pair."""
    if len(gold) > _LONGEST_MEASURE:
        return None
    repeated = asked | {one.stem for one in tokens(text)}
    for digits, words in ((gold, text), (text, gold)):
        clocks, spans = clock_durations(digits), [one for one in amounts(words) if one.sort == "duration"]
        if len(clocks) == 1 and len(spans) == 1:
            wanted = clocks[0][0] if digits is gold else spans[0]
            is_whole = _is_all(gold, wanted.start, wanted.end, repeated)
            return any(one.same(spans[0]) for one in clocks[0]) if is_whole else None
    return None


def _is_all(text: str, start: int, end: int, known: frozenset[str]) -> bool:
    """Whether a text says nothing beside one of its parts, known words, and words such as articles."""
    others = [one for one in tokens(f"{text[:start]} {text[end:]}") if one.carries and one.stem not in known]
    return all(is_function_word(one.word) for one in others)


def _relative_days(text: str) -> list[Interval]:
    """The days of the relative dates of a text, as said on some day."""
    found = (one.on(_SOME_DAY) for one in mentions(text) if one.needs_day)
    return [days for days in found if days is not None]


def denies(text: str) -> bool:
    """Whether a text denies something."""
    return bool(_NOT.search(text))


def _denies_as(golds: Sequence[str], text: str) -> bool:
    """Whether a text denies something if the gold answers do. In Portuguese, ``no`` means ``in the``."""
    if not golds:
        return True
    has_no = any(map(_IN_THE.search, (*golds, text[:_LONGEST_MEASURE])))
    if has_no and language_of(" ".join([*golds, text[:_LONGEST_MEASURE]])) == "pt":
        golds, text = [_IN_THE.sub(" ", gold) for gold in golds], _IN_THE.sub(" ", text)
    return all(map(denies, golds)) == denies(text)


def _denies_as_asked(question: str, wanted: Content, text: str, asked: frozenset[str]) -> bool:
    """Whether a text only repeats the "not" of its question: "What can't I eat?", "You can't eat walnuts"."""
    if not question or len(text) > LONGEST_COMPARED or not denies(question) or not denies(text):
        return False
    others = {stem for placed in passage(text) for stem in placed.sentence.stems} - asked - wanted.words.keys()
    return all(map(denies, others))
