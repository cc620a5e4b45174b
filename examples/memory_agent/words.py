"""Words and their overlap: the agent compares meanings only by common words."""

import re

_WORD = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_STOP_WORDS = frozenset(
    _WORD.findall(
        "a about am an and are as at be been but by did do does for from had has have he her him his how i in"
        " is it its me my no now of on one or our out really s say she so still take that the their them they"
        " this to took up us want was we what when where which who will with you your"
    )
)


def words(text: str) -> list[str]:
    """Returns the lower-case words of a text in order; an apostrophe ends a word."""
    return _WORD.findall(text.lower())


def content_words(text: str) -> frozenset[str]:
    """Returns the words that carry meaning.

    Weakness, on purpose: words are compared letter by letter. "Allergic" and "makes my throat swell" have
    nothing in common, "move" and "moved" haven't either.
    """
    return frozenset(words(text)) - _STOP_WORDS


def shared(left: str, right: str) -> int:
    """Returns how many content words two texts share."""
    return len(content_words(left) & content_words(right))


def likeness(left: str, right: str) -> float:
    """Returns the overlap coefficient: shared content words over those of the shorter text, from 0 to 1."""
    smaller = min(len(content_words(left)), len(content_words(right)))
    return shared(left, right) / smaller if smaller else 0.0
