"""How text is split into words for search, in every store and for any language.

Words are runs of letters and digits, folded in case. Scripts without spaces between words (Han, Kana, Thai, ...) are
split into single characters; a query keeps their order, so that a word of several characters is found as a phrase.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from schema.errors import InputError

_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Kana, Han
)
LONGEST_WORD = 200
"""Longer words are cut to this many characters, because engines of full-text search limit the length."""

MOST_QUERY_WORDS = 5_000

_WORD = re.compile(f"[{_UNSPACED}]|[^\\W_{_UNSPACED}]+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")


def words(text: str) -> list[str]:
    """The words of a text, folded in case, in order."""
    found = _ASCII_WORD.findall(text.lower()) if text.isascii() else _WORD.findall(_folded(text))
    return [word[:LONGEST_WORD] for word in found]


def _folded(text: str) -> str:
    """The text without differences of case and width. Turkish has an i with and without a dot, in both cases."""
    folded = normalize("NFKC", normalize("NFKC", text).casefold())
    return folded.replace("i\u0307", "i").replace("\u0131", "i")


def phrases(query: str) -> list[list[str]]:
    """A query as phrases, one for each part between spaces. A search finds the texts that contain all phrases.

    Raises:
        InputError: the query has more than ``MOST_QUERY_WORDS`` words.
    """
    found = dict.fromkeys(tuple(words(part)) for part in query.split())
    if sum(map(len, found)) > MOST_QUERY_WORDS:
        raise InputError("search", "", f"more than {MOST_QUERY_WORDS:,} words")
    return [list(phrase) for phrase in found if phrase]


def snippet(texts: list[str], query: str, width: int = 160) -> str:
    """The part of the first text that contains a word of the query, about ``width`` characters long."""
    wanted = set(words(query))
    for text in texts:
        folded = text.casefold()
        if len(folded) != len(text):
            folded = text.lower() if len(text.lower()) == len(text) else text
        for match in _WORD.finditer(folded):
            if match.group() in wanted:
                start = max(0, match.start() - width // 3)
                end = start + width
                return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")
    return texts[0][:width] if texts else ""


def contains(data: bytes, text: str) -> bool:
    """Whether a value in UTF-8 contains the text, in upper or lower case."""
    if text.isascii():
        return text.lower().encode() in data.lower()
    return text.casefold() in data.decode("utf-8").casefold()
