"""Whether two texts are in one language, by their letters and their function words."""

from __future__ import annotations

import pytest

from attribution.text.languages import are_comparable

ENGLISH = "the cat was in the garden with her"
GERMAN = "die Katze war mit ihr im Garten und nicht auf dem Dach"
FRENCH = "le chat est dans le jardin avec elle et une souris"


@pytest.mark.parametrize(
    ("words", "sentence", "text", "comparable"),
    [
        (["cat"], ENGLISH, ENGLISH, True),
        (["cat"], ENGLISH, GERMAN, False),
        (["katze"], GERMAN, ENGLISH, False),
        (["chat"], FRENCH, GERMAN, False),
        # Without function words, a language is unknown.
        (["cat"], "cat garden", GERMAN, True),
        (["cat"], ENGLISH, "Katze Garten", True),
        (["cat"], "the cat", GERMAN, True),
        # Of two function words the language is known; of equally many of two languages it is not.
        (["cat"], "the cat of Mara", GERMAN, False),
        (["cat"], "the cat of Mara, der Kater und", GERMAN, True),
        # Scripts.
        (["кошка"], "кошка в саду", ENGLISH, False),
        (["cat"], ENGLISH, "кошка в саду", False),
        (["кошка"], "кошка в саду", "кошка в саду", True),
        (["猫"], "猫が庭にいる", "ねこがにわにいる", True),
        (["ねこ"], "ねこがいる", "ネコガイル", True),
        (["ねこ"], "ねこがいる", "cats are in the garden", False),
        # A fifth of the letters is enough.
        (["aaaa"], "", "aбббб", True),
        (["aaaa"], "", "aббббб", False),
        (["aaaa"], "", "a猫", True),
        (["aaaa"], "", "a猫猫", False),
        # Without letters on one side, nothing speaks against it.
        (["1999"], "in 1999", "кошка в саду", True),
        ([], "", "кошка", True),
        (["cat"], ENGLISH, "1999!", True),
        (["cat"], ENGLISH, "", True),
        (["cat", "кошка"], "", "кошка в саду", True),
    ],
)
def test_texts_of_one_script_and_language_can_be_compared(
    words: list[str], sentence: str, text: str, comparable: bool
) -> None:
    assert are_comparable(words, sentence, text) is comparable
    assert are_comparable(iter(words), sentence, text) is comparable
