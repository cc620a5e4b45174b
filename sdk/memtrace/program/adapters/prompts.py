"""The prompt of an answer that the adapters share."""

from __future__ import annotations

from collections.abc import Sequence

ANSWER = (
    "These notes are what you remember:\n{notes}\n\nAnswer the question in as few words as possible. If the notes do "
    "not tell, say that you do not know.\n\nQuestion: {question}"
)


def filled(prompt: str, notes: Sequence[str], question: str) -> str:
    """The prompt with the notes and the question in their places; other braces stay."""
    lines = "\n".join(f"- {note}" for note in notes)
    return prompt.replace("{notes}", lines).replace("{question}", question)
