"""What a right answer adds in brackets, as ``penicillin (rash)``: an answer without it may be right."""

from __future__ import annotations

import re

_IN_BRACKETS = re.compile(r"(?:\([^()]{1,200}\)|（[^（）]{1,200}）|\[[^\[\]]{1,200}\])")
_ASKS_MORE = re.compile(
    r"""\b(?:and|und|y|et|e|en|och|og|i|и)\s+(?:[^\W\d_]+\s+)?(?:what|when|where|who|whom|which|why|how|was|wann|wo|wer|wen|welche[rsnm]?
          |warum|wie|qué|cuándo|dónde|quién|cuál|por\s+qué|cómo|cuánt[oa]s?|quand|où|qui|quel(?:le)?s?|pourquoi|comment|combien
          |quando|onde|quem|qual|quais|porqu[eê]|come|dove|chi|quale|quali|perché|quanto|wat|wanneer|waar|wie|welke|hoe|vad|när|var|vem
          |hur|kiedy|gdzie|kto|co|jak|когда|где|кто|что|как|почему)\b""",
    re.VERBOSE | re.IGNORECASE,
)


def without_brackets(gold: str, question: str) -> str | None:
    """A right answer without what it adds in brackets; None if it adds nothing, or the question asks for two things.

    Args:
        gold: the right answer.
        question: that it answers.
    """
    short = " ".join(_IN_BRACKETS.sub(" ", gold).split())
    if not short or short == " ".join(gold.split()) or _ASKS_MORE.search(question):
        return None
    return short
