"""Words in any script: folding, stems, and overlapping n-grams for scripts without spaces.

A dictionary for each language would be large. Overlapping n-grams need none: one inserted character changes two pairs,
and not all pairs after it. Single characters and endings count little beside pairs (``is_light``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import normalize

import Stemmer

HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
HIRAGANA = "\u3041-\u309f"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f"
HANGUL = "\uac00-\ud7a3"
SOUTHEAST = (
    "\u0e01-\u0e4e\u0e81-\u0ecf\u0edc-\u0eff\u1000-\u103f\u104c-\u108f\u109a-\u109f\u1780-\u17d3\u17d7\u17dc-\u17dd"
)
"""Thai, Lao, Burmese and Khmer, without digits and punctuation."""
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0900-\u0963\u0971-\u09e3\u0a01-\u0a65\u0a70-\u0ae3\u0b01-\u0b65\u0b71-\u0be5"
    "\u0c00-\u0c65\u0c80-\u0ce3\u0d00-\u0d63\u200c\u200d"
)
"""Signs inside words that Python does not count as letters, such as vowels of Hindi and Arabic."""

_DROPPED = re.compile(
    "[\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u200c\u200d]"
)
"""Vowel signs of Hebrew and Arabic, the Arabic stretch, and invisible joiners: words are also written without them."""
_PIECE = re.compile(f"(?P<pairs>[{HAN}]+|[{HANGUL}]+)|(?P<kana>[{HIRAGANA}]+)|(?P<asian>[{SOUTHEAST}]+)")
_HAN = re.compile(f"[{HAN}]")
_DENSE = re.compile(f"[{HAN}{HIRAGANA}{KATAKANA}{HANGUL}]")
_LIGHT = re.compile(f"[{HAN}{HANGUL}]|[{HIRAGANA}]+")
_ASIAN = 3
"""Thai, Lao, Burmese and Khmer have letters: three of them tell about as much as two characters of Chinese."""
_NO_WORD = re.compile("[的了是在我你您他她它们們吗嗎呢吧啊呀嘛么麼与與和也都就还還很把被给給这這那哪谁誰请請]")
"""Chinese characters with little meaning. A pair of characters that contains such a character is no word."""
_GRAMMAR = """
    です ます まし した して いる いた ある あり こと もの から まで ない なか
    かっ せん でし てい すか ても には では とは って った たい たち よう そう
    どう この その あの どの これ それ あれ どれ ここ そこ どこ いつ なに だれ
    さん しま いま れる られ せる くだ ださ さい
"""
_ENDINGS = frozenset(_GRAMMAR.split())
"""Pairs of Japanese grammar: they carry no meaning."""
_STEMMERS = tuple(
    (re.compile(f"[{letters}]"), language)
    for letters, language in (
        ("\u0400-\u04ff", "russian"),
        ("\u0600-\u06ff", "arabic"),
        ("\u0900-\u097f", "hindi"),
        ("\u0370-\u03ff", "greek"),
        ("\u0530-\u058f", "armenian"),
        ("\u0b80-\u0bff", "tamil"),
        ("\u011f\u015f", "turkish"),
        ("\u00e4\u00f6\u00fc", "german"),
    )
)
_made: dict[str, Stemmer.Stemmer] = {}

_NUMERAL = re.compile(
    "第?([\u3007零一二两兩三四五六七八九十百千万萬]{1,12})(?=[个個只隻条條年月日号號天岁歳才点點次本台辆輛名位人匹枚杯杯楼樓层層块塊元円歩步周週回度倍种種张張把間间家件双雙分小時时])"
)
"""A number in Chinese characters with a word that counts: a lone 一 is mostly no number."""
_TEN = ("〇零", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九")
_DIGITS = {digit: value for value, digits in enumerate(_TEN) for digit in digits}
_UNITS = {"十": 10, "百": 100, "千": 1_000}


def folded(word: str) -> str:
    """A word without differences of case, width and vowel signs, and of the Turkish i with and without a dot."""
    plain = normalize("NFKC", word).casefold().replace("i\u0307", "i").replace("\u0131", "i")
    return _DROPPED.sub("", plain)


def letters(text: str) -> int:
    """The length of a text in letters: a character of Chinese counts three, a syllable of Japanese or Korean two."""
    if text.isascii():
        return len(text)
    return len(text) + len(_DENSE.findall(text)) + len(_HAN.findall(text))


def stem(word: str) -> str | None:
    """The stem of a folded word; None if its letters point to no language with a stemmer of Snowball."""
    language = next((language for letters, language in _STEMMERS if letters.search(word)), None)
    if language is None:
        return None
    if language not in _made:
        _made[language] = Stemmer.Stemmer(language)
    return str(_made[language].stemWord(word)) or word


def is_light(word: str) -> bool:
    """Whether a word is one character of Chinese or Korean, or a pair of kana: these are in many texts by chance."""
    return not word.isascii() and bool(_LIGHT.fullmatch(word)) and len(word) <= 2


def pieces(run: str) -> Iterator[tuple[int, str]]:
    """The words of a run of letters without spaces, each with its place in the run.

    Chinese and Korean are cut into overlapping pairs and single characters, Thai and its neighbours into overlapping
    triples.
    """
    for match in _PIECE.finditer(run):
        start, part = match.start(), match.group()
        if match["asian"]:
            yield from _grams(start, part, _ASIAN)
        elif match["kana"]:
            pairs = _grams(start, part, 2)
            yield from ((place, pair) for place, pair in pairs if len(pair) > 1 and pair not in _ENDINGS)
        else:
            yield from _pairs(start, part)


def numerals(text: str) -> Iterator[tuple[int, int, int]]:
    """The numbers in Chinese characters: first and last place, and value."""
    for match in _NUMERAL.finditer(text):
        value = numeral(match[1])
        if value is not None:
            yield match.start(1), match.end(1), value


def _pairs(start: int, part: str) -> Iterator[tuple[int, str]]:
    for place, one in enumerate(part):
        if _NO_WORD.match(one):
            continue
        yield start + place, one
        pair = part[place : place + 2]
        if len(pair) == 2 and not _NO_WORD.match(pair[1]):
            yield start + place, pair


def _grams(start: int, part: str, length: int) -> Iterator[tuple[int, str]]:
    for place in range(max(1, len(part) - length + 1)):
        yield start + place, part[place : place + length]


def numeral(written: str) -> int | None:
    """The value of a numeral such as 三百二十; None if the characters are in no order that makes a number."""
    if not any(one in _UNITS or one in "万萬" for one in written):
        return int("".join(str(_DIGITS[one]) for one in written))
    total = part = 0
    digit: int | None = None
    for one in written:
        if one in _DIGITS:
            digit = _DIGITS[one]
        elif one in _UNITS:
            part += (1 if digit is None else digit) * _UNITS[one]
            digit = None
        else:
            total = (total + part + (digit or 0)) * 10_000
            part, digit = 0, None
    return total + part + (digit or 0) or None
