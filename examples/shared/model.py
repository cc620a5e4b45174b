"""Rules in place of a language model: no network, the same answer each time, and weaknesses that can be read here."""

from __future__ import annotations

import math
import re
from collections import Counter

PROMPT = """Answer the question from these notes only.
{notes}
Question: {question}"""
UNKNOWN = "I don't know."

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_SPEAKER = re.compile(r"^\w+: ")
_WORD = re.compile(r"[^\W_]+")
_COMMON = frozenset(
    _WORD.findall(
        "a about am an and are at be been but by can did do does for from had has have he her his how i in is it its"
        " me my no not now of on or our she so that the their them there they this to us was we were what when where"
        " which who whose will with you your"
    )
)


def keywords(text: str) -> list[str]:
    """The words that carry meaning, in lower case."""
    return [word for word in _WORD.findall(text.lower()) if word not in _COMMON]


def words(text: str) -> list[str]:
    """The words that carry meaning, in lower case and without common endings."""
    return [_stem(word) for word in keywords(text)]


def answer(prompt: str, *, is_confused: bool = False) -> str:
    """The sentence of a prompt's notes that shares most with its question.

    A word weighs by its rarity among the sentences; of equal ones the last wins, for it is the newest.

    Args:
        prompt: notes and a question, as ``PROMPT`` has them.
        is_confused: take the sentence that shares least instead, as a model does that doesn't heed its context.
    """
    notes, _, question = prompt.partition("\n")[2].rpartition("\nQuestion: ")
    sentences = [
        sentence
        for line in notes.splitlines()
        for sentence in _SENTENCE_END.split(_SPEAKER.sub("", line))
        if sentence and not sentence.endswith("?")
    ]
    counts = Counter(word for sentence in sentences for word in set(words(sentence)))
    asked = set(words(question))

    def fit(sentence: str) -> float:
        return sum(math.log(1 + len(sentences) / counts[word]) for word in asked & set(words(sentence)))

    if is_confused:
        return min(sentences, key=fit, default=UNKNOWN)
    best = max(reversed(sentences), key=fit, default="")
    return best if best and fit(best) else UNKNOWN


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word
