"""The words of generated texts."""

from __future__ import annotations

import random

_SYLLABLES = ("ka", "lo", "mi", "ne", "ru", "sta", "vor", "tel", "din", "pa", "gre", "shu", "wen", "ox", "bi", "fra")
_WORDS = 800


def made_up_words(draw: random.Random) -> list[str]:
    """Words of two to four syllables."""
    return ["".join(draw.choices(_SYLLABLES, k=2 + number % 3)) for number in range(_WORDS)]
