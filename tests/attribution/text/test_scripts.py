"""Words and numbers in scripts without spaces."""

from __future__ import annotations

import pytest

from attribution.text.scripts import folded, is_light, letters, numeral, numerals, pieces, stem


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("三", 3),
        ("〇", 0),
        ("二〇二四", 2024),
        ("十", 10),
        ("十五", 15),
        ("二十", 20),
        ("三百二十", 320),
        ("两百零五", 205),
        ("一千二百三十四", 1_234),
        ("万", None),
        ("一万", 10_000),
        ("两万三千", 23_000),
        ("十二万三千四百五十六", 123_456),
        ("一万零一", 10_001),
        ("百", 100),
        ("兩萬", 20_000),
    ],
)
def test_a_numeral_has_a_value(written: str, value: int | None) -> None:
    assert numeral(written) == value


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("我有三只猫", [("三", 3)]),
        ("第十二层", [("十二", 12)]),
        ("一起去", []),
        ("三百二十元和五个", [("三百二十", 320), ("五", 5)]),
        ("万个", []),
    ],
)
def test_a_number_stands_before_a_word_that_counts(text: str, found: list[tuple[str, int]]) -> None:
    assert [(text[first:last], value) for first, last, value in numerals(text)] == found


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("北京", [(0, "北"), (0, "北京"), (1, "京")]),
        ("我去", [(1, "去")]),
        ("去我", [(0, "去")]),
        ("猫的狗", [(0, "猫"), (2, "狗")]),
        ("고양이", [(0, "고"), (0, "고양"), (1, "양"), (1, "양이"), (2, "이")]),
        ("さくら", [(0, "さく"), (1, "くら")]),
        ("です", []),
        ("あ", []),
        ("ไทย", [(0, "ไทย")]),
        ("ไทยๆ", [(0, "ไทย"), (1, "ทยๆ")]),
        ("ไท", [(0, "ไท")]),
        ("x北y京", [(1, "北"), (3, "京")]),
        ("猫さくら", [(0, "猫"), (1, "さく"), (2, "くら")]),
    ],
)
def test_a_run_is_cut_into_overlapping_pieces(run: str, words: list[tuple[int, str]]) -> None:
    assert list(pieces(run)) == words


@pytest.mark.parametrize(
    ("word", "is_it"),
    [("猫", True), ("고", True), ("北京", False), ("さく", True), ("さくら", False), ("a", False), ("é", False)],
)
def test_a_light_word(word: str, is_it: bool) -> None:
    assert is_light(word) is is_it


@pytest.mark.parametrize(
    ("text", "count"), [("abc", 3), ("äbc", 3), ("猫", 3), ("고", 2), ("さ", 2), ("カ", 2), ("a猫고", 6), ("ไ", 1)]
)
def test_letters_that_tell_more_count_more(text: str, count: int) -> None:
    assert letters(text) == count


@pytest.mark.parametrize(
    ("word", "plain"),
    [("STRASSE", "strasse"), ("Straße", "strasse"), ("ＡＢＣ", "abc"), ("İstanbul", "istanbul"), ("kırk", "kirk")],
)
def test_words_are_folded(word: str, plain: str) -> None:
    assert folded(word) == plain


@pytest.mark.parametrize(
    ("word", "root"),
    [("книги", "книг"), ("häuser", "haus"), ("house", None), ("kitabı", None), ("çocuğu", "çocuk")],
)
def test_the_letters_choose_the_stemmer(word: str, root: str | None) -> None:
    assert stem(word) == root
