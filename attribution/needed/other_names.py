"""Answers that put another name in the place of the right one, as ``Mrs Hall`` for ``Mrs Hale``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attribution.text.tokens import Token, tokens


def names_another(golds: Sequence[str], text: str) -> bool:
    """Whether a text has another name after the word that stands before a name in each gold answer.

    A name is a word with a capital letter that does not begin the text. A shorter or longer form is the same name.
    """
    return bool(golds) and all(_names_another(gold, text) for gold in golds)


def _names_another(gold: str, text: str) -> bool:
    right, said = list(_names(gold)), list(_names(text))
    known = {one.word for one in tokens(gold)}
    found = {one.word for one in tokens(text)}
    return any(
        before.stem == other_before.stem
        and name.stem != other.stem
        and name.word not in found
        and other.word not in known
        and not name.word.startswith(other.word)
        and not other.word.startswith(name.word)
        for before, name in right
        for other_before, other in said
    )


def _names(text: str) -> Iterator[tuple[Token, Token]]:
    """The names of a text, each with the word of meaning before it."""
    before: Token | None = None
    for one in tokens(text):
        if not one.carries:
            continue
        if before is not None and text[one.start].isupper() and len(one.word) > 1:
            yield before, one
        before = one
