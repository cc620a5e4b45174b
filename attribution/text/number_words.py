"""Numbers in several words (``two dozen``, ``otuz beş``), and Korean numerals of Chinese origin (``육십만``).

A sentence has such a number as one value, not as words: the same number in digits is the same content.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from attribution.text.numbers import TENS, number
from attribution.text.scripts import folded

_TURKISH = {
    word: value
    for words, values in (
        ("bir iki üç dört beş altı yedi sekiz dokuz", range(1, 10)),
        ("on yirmi otuz kırk elli altmış yetmiş seksen doksan", range(10, 100, 10)),
        ("yüz bin milyon", (100, 1_000, 1_000_000)),
    )
    for word, value in zip(map(folded, words.split()), values, strict=True)
}
_RUSSIAN = {
    word: value
    for words, values in (
        ("один два три четыре пять шесть семь восемь девять", range(1, 10)),
        ("одна две", (1, 2)),
        ("десять двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто", range(10, 100, 10)),
        ("одиннадцать двенадцать тринадцать четырнадцать пятнадцать", range(11, 16)),
        ("шестнадцать семнадцать восемнадцать девятнадцать", range(16, 20)),
        ("сто двести триста четыреста пятьсот шестьсот семьсот восемьсот девятьсот", range(100, 1_000, 100)),
        ("тысяча тысячи тысяч миллион миллиона миллионов", (1_000,) * 3 + (1_000_000,) * 3),
    )
    for word, value in zip(words.split(), values, strict=True)
}
_RUSSIAN |= {word[:-1] + ending: _RUSSIAN[word] for word in list(_RUSSIAN) if word[-1] == "ь" for ending in ("и", "ью")}
_RUSSIAN |= {
    "двух": 2,
    "двумя": 2,
    "трех": 3,
    "трёх": 3,
    "тремя": 3,
    "четырех": 4,
    "четырёх": 4,
    "восьми": 8,
    "сорока": 40,
}
"""Numbers also in other cases than the first: ``с девятнадцатью складками``."""
_ENDED = "da de ta te dan den tan ten a e ya ye i u ü yi yu yü"
"""Turkish endings that a number takes: ``yedide`` is "at seven"."""
_AMBIGUOUS = frozenset({"on", "bin", "kirk", "elli", "one", "bina", "bine", "ona", "altina"})
"""Number words that another language has as a common word or name. Such a word counts only beside another part."""
_VALUES = _RUSSIAN | {word + ending: value for word, value in _TURKISH.items() for ending in ("", *_ENDED.split())}
_SURE = _VALUES.keys() - _AMBIGUOUS
_MULTIPLIES = frozenset({100, 1_000, 1_000_000})
_TENS = frozenset(range(20, 100, 10))
_DOZEN = 12
_DOZENS = (
    "dozen dozens dutzend docena docenas douzaine douzaines dozzina dozzine dúzia dúzias dozijn dussin dusin "
    "tuzin tuziny tuzinów tusina tusinaa дюжина дюжины дюжини дюжину дюжин"
)
_TIMES = {
    **dict.fromkeys(_DOZENS.split(), _DOZEN),
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
}
"""Words that multiply the number before them."""
_JOINING = TENS | _TIMES.keys() | {"vingts", "cent", "cents", "dix"}
"""One of these is in each number of several parts."""
_AFTER = {"and": _MULTIPLIES, "y": _TENS, "e": _TENS, "et": _TENS}
"""Words that join two parts of a number, with the values of the first part: ``hundred and five``."""
_FRENCH_UNITS = {
    word: value
    for words, values in (
        ("un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize", range(1, 17)),
        ("une", (1,)),
    )
    for word, value in zip(words.split(), values, strict=True)
}
_FRENCH_TENS = {"vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60}
_FRENCH_HUNDREDS = _FRENCH_UNITS.keys() - {"un", "une", "six", *(one for one, n in _FRENCH_UNITS.items() if n > 9)}
"""Words that may stand before ``cents``; ``six cents`` is English, too."""
_AFTER_AND = {"um": 1, "uma": 1, "uno": 1, "una": 1, "dois": 2, "duas": 2, "três": 3, "quatro": 4, "oito": 8}
"""Words that are a number after a word that joins two parts: ``setenta e dois``."""
_ONE = "a one ein eine einem einen einer een um uma un una une ett et jeden"
_FEW = {"due": 2, **dict.fromkeys(_ONE.split(), 1)}
"""Words that are a number before a word that multiplies."""

_HANGUL = {one: value for value, one in enumerate("일이삼사오육칠팔구", 1)}
_HANGUL_UNITS = {"십": 10, "백": 100, "천": 1_000}
_HANGUL_LARGE = {"만": 10_000, "억": 100_000_000}
_KOREAN = re.compile(
    "(?<![가-힣])([일이삼사오육칠팔구십백천만억]{1,12})"
    "(?=\\s?(?:원|명|개월|년|월|일|층|번|분|킬로|미터|퍼센트|주|세|회|도))"
)
"""A Korean numeral before a word that counts: ``이`` alone is mostly no number."""


def spelled(words: Sequence[str]) -> list[tuple[int, int, float]]:
    """The numbers among folded words: the places of the first word and after the last, and the value."""
    if _SURE.isdisjoint(words):
        return []
    found, start = [], 0
    while start < len(words):
        end, parts = start, list[int]()
        while end < len(words) and (value := _VALUES.get(words[end])) and (not parts or _follows(parts[-1], value)):
            parts.append(value)
            end += 1
        # A lone "bir" or "один" is mostly an article.
        if parts and not _SURE.isdisjoint(words[start:end]) and parts != [1]:
            found.append((start, end, float(_sum(parts))))
        start = max(end, start + 1)
    return found


def joined(words: Sequence[str]) -> list[tuple[int, int, float]]:
    """The numbers of two or more parts among words: the places of the first part and after the last, and the value.

    ``Twenty five``, ``two hundred and five`` and ``24 thousand`` are one number each.
    """
    if _JOINING.isdisjoint(words):
        return []
    found, place = list[tuple[int, int, float]](), 0
    while place < len(words):
        end, value = max(_read(words, place), _french(words, place))
        if end > place + 1:
            found.append((place, end, float(value)))
        place = max(end, place + 1)
    return found


def _read(words: Sequence[str], start: int) -> tuple[int, float]:
    """The place after the number that begins at ``start``, and its value."""
    first = number(words[start]) if words[start] not in _TIMES else None
    if first is None and start + 1 < len(words) and words[start + 1] in _TIMES:
        first = _FEW.get(words[start])
    if first is None:
        return start, 0.0
    parts, end, last = [first], start + 1, words[start]
    while end < len(words):
        times = _TIMES.get(words[end])
        if times is not None and (times == _DOZEN or parts[-1] < times):
            parts[-1] *= times
            last, end = words[end], end + 1
            continue
        skipped = words[end] in _AFTER and end + 1 < len(words)
        word = words[end + skipped]
        value = number(word) if word.isalpha() and word not in _TIMES else None
        value = _AFTER_AND.get(word) if value is None and skipped else value
        rest = int(_TIMES.get(last, parts[-1]))
        joins = not skipped or rest in _AFTER[words[end]]
        if not value or not joins or rest not in _MULTIPLIES | _TENS or not _follows(rest, int(value)):
            break
        parts.append(value)
        last, end = word, end + 1 + skipped
    return end, sum(parts)


def _french(words: Sequence[str], start: int) -> tuple[int, float]:
    """Like ``_read`` for French, which counts from 60 to 99 by twenties: ``quatre-vingt-dix-sept`` is 97."""
    end, hundreds = start, 0
    if words[end] in _FRENCH_HUNDREDS and words[end + 1 : end + 2] in (["cent"], ["cents"]):
        end, hundreds = end + 2, 100 * _FRENCH_UNITS[words[end]]
    elif words[end] == "cent":
        end, hundreds = end + 1, 100
    after, rest = _french_tens(words, end)
    if after > end or words[start] != "cent":
        return after, hundreds + rest
    return start, 0.0  # alone, it may be a coin


def _french_tens(words: Sequence[str], start: int) -> tuple[int, int]:
    """The place after a French number below 100, and its value."""
    row = [*words[start : start + 5], "", ""]
    if row[0] == "quatre" and row[1] in {"vingt", "vingts"}:
        tens, at = 80, 2
    elif row[0] in _FRENCH_TENS:
        tens, at = _FRENCH_TENS[row[0]], 1
    else:
        tens, at = 0, 0
    more = at + (tens > 0 and row[at] == "et" and row[at + 1] in _FRENCH_UNITS)
    value = _FRENCH_UNITS.get(row[more], 0)
    end = more + 1
    if value == 10 and 7 <= _FRENCH_UNITS.get(row[end], 0) <= 9:
        value, end = 10 + _FRENCH_UNITS[row[end]], end + 1
    if not value or (value > 9 and tens not in {0, 60, 80}):
        return start + at, tens
    return start + end, tens + value


def korean(text: str) -> Iterator[tuple[int, int, int]]:
    """The Korean numerals in a text: first and last place, and value."""
    for match in _KOREAN.finditer(text):
        total = part = digit = 0
        for one in match[1]:
            if one in _HANGUL:
                digit = _HANGUL[one]
            elif one in _HANGUL_UNITS:
                part, digit = part + max(1, digit) * _HANGUL_UNITS[one], 0
            else:
                total, part, digit = total + max(1, part + digit) * _HANGUL_LARGE[one], 0, 0
        yield match.start(1), match.end(1), total + part + digit


def _follows(before: int, value: int) -> bool:
    """Whether a value continues a number: it multiplies the part before, or fills the zeros of the part before."""
    if value in _MULTIPLIES and before < value:
        return True
    return before > value and before % 10 ** len(str(value)) == 0


def _sum(parts: Sequence[int]) -> int:
    """The value of the parts of a number: 2, 100, 30 and 5 are 235."""
    total = current = 0
    for value in parts:
        if value >= 1_000:
            total, current = total + max(1, current) * value, 0
        elif value in _MULTIPLIES and 0 < current < 10:
            current *= value
        else:
            current += value
    return total + current
