"""The words that an operation lost, marked in the texts before and after it."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache

from attribution.report.story_model import Part
from attribution.report.told import Told
from attribution.report.words import cut
from attribution.text.said import text_of, texts_of
from attribution.text.tokens import tokens
from attribution.text.word_diff import word_changes
from attribution.verdicts.reasons import lost_day
from schema.kinds import STORED, ErrorType

WIDTH = 160
"""The most characters of a quote, or of a text on a card."""
AROUND = 60
"""The most characters of what stands beside a quote or a change."""
_ALIKE = 0.3
"""The least share of equal text of two versions that are compared word by word."""
_REMEMBERED = 256
"""How many texts' stems are remembered: a story compares the same few texts again and again."""
QUOTES = " \"“”'"
"""What a quote loses at its ends, because it stands in quotation marks."""


def plain(text: str) -> str:
    """A quote without the marks of a literal of Python, as a prompt may have it."""
    return text.replace("\\'", "'").replace("\\n", " ").replace('\\"', '"')


@lru_cache(maxsize=_REMEMBERED)
def stems(text: str) -> frozenset[str]:
    """The stems of the words of a text, without stop words."""
    return frozenset(one.stem for one in tokens(text) if one.carries)


def marked(told: Told, text: str, other: str, width: int = WIDTH) -> list[Part]:
    """Needed words in parts: those that matter most are ``key``, the rest has the given state."""
    return with_keys(cut(text, width), _wanted(told, text), other)


def _wanted(told: Told, needed: str) -> AbstractSet[str]:
    """The stems of the words that matter most: those of the right answer, else those that the operation left out."""
    if lost_day(told.reason):
        return frozenset()  # the words are there; their day is not
    right = told.answer if told.error_type == ErrorType.ANNOTATION else told.gold
    own = stems(needed)
    shared = own & stems(right)
    if shared or told.error_type != ErrorType.EXTRACTION:
        return shared
    made = nearest(told, needed)
    left = own - stems(made[0]) if made else set()
    return left if 2 * len(left) < len(own) else frozenset()


def nearest(told: Told, needed: str) -> list[str]:
    """The texts that the operation made, those with most words of a text first; only such with any."""
    at = told.lost_at
    own = stems(needed)
    texts = texts_of(told.path[at].value) if at is not None else []
    return sorted((text for text in texts if own & stems(text)), key=lambda text: -len(own & stems(text)))


def with_keys(text: str, wanted: AbstractSet[str], other: str) -> list[Part]:
    """A text in parts: the words with the wanted stems are ``key``, the rest has the given state."""
    parts: list[Part] = []
    end = 0
    for one in tokens(text):
        if one.stem not in wanted or one.start < end:
            continue
        between = text[end : one.start]
        if parts and parts[-1][1] == "key" and not between.strip(" -"):
            parts[-1] = (parts[-1][0] + between + text[one.start : one.end], "key")
        else:
            parts += [(between, other), (text[one.start : one.end], "key")]
        end = one.end
    return [part for part in [*parts, (text[end:], other)] if part[0]]


def change(told: Told) -> tuple[list[Part], list[Part]] | None:
    """A unit before and after the operation that lost the words; None if a preview cuts off the words.

    What both have is cut to the words around the change.
    """
    at = told.lost_at
    if at is None:
        return None
    before, after = told.path[at - 1], told.path[at]
    old, new = text_of(before.value), text_of(after.value)
    if before.kind not in STORED or after.kind not in STORED or before.quote not in old or not new:
        return None
    gone, added = word_changes(old, new)
    if sum(len(text) for text, state in gone if state == "same") < _ALIKE * len(old):
        return [(cut(old, WIDTH), "gone")], [(cut(new, WIDTH), "new")]
    return _near(_joined(gone)), _near(_joined(added))


def _joined(parts: Sequence[Part]) -> list[Part]:
    """The parts with changed words in a row as one part."""
    found: list[Part] = []
    for text, state in parts:
        if len(found) > 1 and state != "same" and found[-1][1] == "same" and found[-1][0].isspace():
            space, _ = found.pop()
            found[-1] = (found[-1][0] + space + text, state)
        else:
            found.append((text, state))
    return found


def _near(parts: Sequence[Part]) -> list[Part]:
    """The parts without what stands far from a change."""
    found = []
    for place, (text, state) in enumerate(parts):
        is_first, is_last = place == 0, place == len(parts) - 1
        if state != "same" or len(text) <= AROUND or (is_first and is_last):
            shown = cut(text, WIDTH)
        elif is_first:
            shown = f"… {text[-AROUND:].partition(' ')[2]}"
        elif is_last:
            shown = f"{text[:AROUND].rpartition(' ')[0]} …"
        else:
            shown = f"{text[: AROUND // 2].rpartition(' ')[0]} … {text[-AROUND // 2 :].partition(' ')[2]}"
        found.append((shown, state))
    return found


def longest(value: str) -> str:
    """The longest text in a value that has more than a word, as ids have not."""
    return max((text for text in texts_of(value) if " " in text), key=len, default=text_of(value))
