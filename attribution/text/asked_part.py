"""The question in a prompt that a program wrote around it: ``Notes: ... Question: Who has the key?``.

A program without a recorded user turn asks its model by a prompt. The question is the labelled part of it; the notes
are what the model read, and no words of the question.
"""

from __future__ import annotations

import re

_LABELS = """
question query frage pregunta pergunta domanda vraag pytanie otázka dotaz întrebare întrebarea fråga spørgsmål spørsmål
kysymys kérdés soru вопрос запитання питання ερώτηση سؤال السؤال प्रश्न सवाल 質問 问题 問題 질문 คำถาม pitanje
"""
_LABEL = re.compile(
    rf"""^[ \t#>*_]{{0,8}}(?:{"|".join(_LABELS.split())}|câu[ ]hỏi|user(?:'s)?[ ](?:question|message)|user[ ]asks)
         [ \t*_]{{0,8}}[:：][ \t*_]*""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_NEXT = re.compile(r"\n[ \t]*\n|\n[^\n:：]{1,30}[:：]")
"""Where a question ends: at an empty line, or at the next label."""


def asked_part(text: str) -> str:
    """The question of a prompt: what follows its last label such as ``Question:``; the whole text without one.

    Args:
        text: of a question or a prompt.
    """
    labels = list(_LABEL.finditer(text))
    if not labels or not _has_more(text, labels[-1]):
        return text
    rest = text[labels[-1].end() :]
    end = _NEXT.search(rest.lstrip())
    part = rest.lstrip() if end is None else rest.lstrip()[: end.start()]
    return part.strip() or text


def _has_more(text: str, label: re.Match[str]) -> bool:
    """Whether a prompt has more than the labelled question."""
    return bool(text[: label.start()].strip()) or "\n" in text[label.end() :].strip()
