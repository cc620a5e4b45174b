"""Finds a quote in the text from which it is said to be taken."""

from __future__ import annotations

import re

_LONGEST = 1_000


def find_quote(text: str, quote: str) -> str | None:
    """The part of a text that a quote repeats word by word, as it is written there; None if there is none.

    Models change white space when they quote, so any white space matches any other.
    """
    wanted = quote.strip()
    if not wanted or len(wanted) > _LONGEST:
        return None
    if wanted in text:
        return wanted
    words = wanted.split()
    if len(words) == 1:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), text)
    return found.group() if found else None
