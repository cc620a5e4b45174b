"""The question of a prompt that a program wrote around it."""

from __future__ import annotations

import pytest

from attribution.text.asked_part import asked_part


@pytest.mark.parametrize(
    ("prompt", "question"),
    [
        ("Notes:\n- the key is with Ines\n\nQuestion: Who has the key?", "Who has the key?"),
        ("Question: Who has the key?\nNotes:\n- it is with Ines", "Who has the key?"),
        ("Notatki:\nklucz ma Ines\nPytanie: Kto ma klucz?\nOdpowiedź:", "Kto ma klucz?"),
        ("メモ: 鍵はイネス\n質問：鍵は誰が持っていますか。", "鍵は誰が持っていますか。"),
        ("**Question:** Who has the key?\n\nAnswer briefly.", "Who has the key?"),
        ("The choir meets on Thursdays.\n\nAnswer this question in one sentence: Who has it?", "Who has it?"),
        ("- the key is with Ines\n- the shed is green\nWho has the key?", "Who has the key?"),
        ('{"key": "Ines"}\nshed: green\nWie heeft de sleutel?', "Wie heeft de sleutel?"),
        ("Question: first?\nAnswer: no\nQuestion: Who has it?", "Who has it?"),
    ],
)
def test_the_labelled_part_is_the_question(prompt: str, question: str) -> None:
    assert asked_part(prompt) == question


@pytest.mark.parametrize(
    "text",
    [
        "Who has the key?",
        "Question: Who has the key?",
        "I moved the key.\nWho has it now?",
        "I moved the key.\nThen I forgot.\nWho has it now?",
        "- Who has the key?\n- And the car?\nWho has both?",
        "That is out of the question: I keep the key.",
        "Notes:\n- the key\nQuestion:",
    ],
)
def test_a_text_without_a_labelled_part_is_the_question_as_a_whole(text: str) -> None:
    assert asked_part(text) == text
