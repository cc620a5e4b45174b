"""Words with a capital letter: names, mostly."""

from __future__ import annotations

from attribution.text.languages import is_function_word
from attribution.text.tokens import Token, tokens


def capitals(text: str, *, first: int = 0) -> list[Token]:
    """The words of meaning with a capital letter, from the word with the number ``first`` on."""
    found = tokens(text)[first:]
    return [one for one in found if one.carries and text[one.start].isupper() and not is_function_word(one.word)]
