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
_WORD = r"[^\W\d_]+"
_LABEL = re.compile(
    rf"""^[ \t#>*_]{{0,8}}
         (?:(?:{_WORD}[ ]){{0,6}}(?:{"|".join(_LABELS.split())})(?:[ ]{_WORD}){{0,6}} | câu[ ]hỏi | user[ ]asks)
         [ \t*_]{{0,8}}[:：][ \t*_]*""",
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
"""A label such as ``Question:`` or ``Answer this question in one sentence:``."""
_NOTE = re.compile(r"\s*(?:[-*•–]|\d+[.)]|[\[{\"]|[^\n:：]{1,40}[:：])")
"""How a line of notes begins: with a mark of a list, with a key, or as JSON."""
_FEWEST, _MOSTLY = 3, 0.6
"""A prompt with notes has at least so many lines, and most of the lines before its question are notes."""
_NEXT = re.compile(r"\n[ \t]*\n|\n[^\n:：]{1,30}[:：]")
"""Where a question ends: at an empty line, or at the next label."""


def asked_part(text: str) -> str:
    """The question of a prompt: what follows its last label, or its last line after notes; the whole text without both.

    Args:
        text: of a question or a prompt.
    """
    labels = list(_LABEL.finditer(text))
    if not labels or not _has_more(text, labels[-1]):
        return _after_notes(text) or text
    rest = text[labels[-1].end() :]
    end = _NEXT.search(rest.lstrip())
    part = rest.lstrip() if end is None else rest.lstrip()[: end.start()]
    return part.strip() or text


def _after_notes(text: str) -> str:
    """The last line of a text if it is the only question, after lines of notes; else empty."""
    lines = [one for one in text.splitlines() if one.strip()]
    if len(lines) < _FEWEST or [one for one in lines if one.rstrip().endswith(("?", "？", "؟"))] != lines[-1:]:
        return ""
    notes = sum(_NOTE.match(one) is not None for one in lines[:-1])
    return lines[-1].strip() if notes >= _MOSTLY * (len(lines) - 1) else ""


def _has_more(text: str, label: re.Match[str]) -> bool:
    """Whether a prompt has more than the labelled question."""
    return bool(text[: label.start()].strip()) or "\n" in text[label.end() :].strip()
