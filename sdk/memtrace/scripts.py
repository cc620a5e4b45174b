"""How much a text says, in any script: a Chinese character says about as much as three letters.

The shortest text that is recognised inside another text is a number of letters. Counted in characters, this number
would leave out most sentences in Chinese, Japanese and Korean.
"""

from __future__ import annotations

import re

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
SYLLABLES = "\u3040-\u30ff\uac00-\ud7a3"
"""Japanese kana and Korean syllables."""
UNSPACED = f"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff{HAN}"
"""Scripts without spaces between words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""

_HAN = re.compile(f"[{HAN}]")
_SYLLABLE = re.compile(f"[{SYLLABLES}]")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_JOINED = re.compile(f"[{UNSPACED}{SYLLABLES}]")
_HAN_LETTERS, _SYLLABLE_LETTERS = 3, 2
_SENTENCE = 12
"""A text of this many letters in a script without spaces is more than one word."""


def letters(text: str) -> int:
    """The length of a text in letters: a Chinese character counts three, a syllable of kana or Korean two."""
    if text.isascii():
        return len(text)
    return (
        len(text)
        + (_HAN_LETTERS - 1) * sum(1 for _ in _HAN.finditer(text))
        + (_SYLLABLE_LETTERS - 1) * sum(1 for _ in _SYLLABLE.finditer(text))
    )


def may_touch(character: str) -> bool:
    """Whether a word may stand directly beside this character of another word: no space or particle parts them."""
    return bool(_JOINED.match(character))


def is_word(text: str) -> bool:
    """Whether a text is a single word. In scripts without spaces, a longer text counts as a sentence."""
    if not text.isidentifier():
        return False
    return text.isascii() or not (_UNSPACED.search(text) and letters(text) >= _SENTENCE)
