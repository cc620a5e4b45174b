"""Numbers in words are values: the same number in digits is the same content."""

from __future__ import annotations

import pytest

from attribution.needed.content import Rarity, content
from attribution.needed.gold_agreement import agreement, is_narrowed
from attribution.text.segments import sentence
from attribution.text.tokens import tokens


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Kitaba kırk iki lira verdim.", {42}),
        ("Tren iki yüz on beş kilometre gitti.", {215}),
        ("Köyde üç bin yüz kişi var.", {3_100}),
        ("Ders sekizde başlıyor.", {8}),
        ("Bir köpek gördüm.", set()),
        ("Билет стоит сто двадцать семь рублей.", {127}),
        ("В городе пять тысяч домов.", {5_000}),
        ("표는 이만삼천 원이에요.", {23_000}),
        ("십이 층에 살아요.", {12}),
        ("이 가방은 예뻐요.", set()),
        ("Leocadio debe trece euros.", {13}),
        ("Le moulin a quatre-vingt-seize marches et soixante-douze vitres.", {96, 72}),
        ("Elle pèse vingt et un kilos, lui quatre-vingts.", {21, 80}),
        ("Deux cent dix-huit moutons, cent trois agneaux.", {218, 103}),
        ("Vinte e duas cabras e setenta e um porcos.", {22, 71}),
        ("It cost six cents and a dix note.", {6, 10}),
        ("Er hat neunzig Schafe und siebzehn Ziegen.", {90, 17}),
        ("Il y a quatorze chaises et cinquante tables.", {14, 50}),
        ("We hebben negen eenden en twaalf kippen.", {9, 12}),
        ("Στο λιμάνι είναι είκοσι πέντε βάρκες και ΤΡΕΙΣ ψαράδες.", {25, 3}),
        ("در باغ دوازده درخت و ۴ گربه هست.", {12, 4}),
        ("They seize the quince.", set()),  # French and Spanish numbers that are English words
        ("The lid of the bin on the left is red.", set()),
        ("Mr Kirk sat on the bench.", set()),
        ("The hall seats two hundred and five.", {205}),
        ("I bought twenty-five pears and three plums.", {25, 3}),
        ("They carved three dozen spoons.", {36}),
        ("Ein Dutzend Löffel.", {12}),
        ("Mam piętnaście uli i dwadzieścia pięć ramek.", {15, 25}),
        ("У нас п'ятнадцять котів і дві дюжини мишей.", {15, 24}),
        ("El vi fermenta a divuit graus.", {18}),
        ("Vi har tjugo båtar och fyra segel.", {20, 4}),
        ("Meillä on kaksitoista venettä.", {12}),
        ("Mi tío Elva vive en París.", set()),
        ("Een dozijn eieren.", {12}),
        ("Ett dussin skedar.", {12}),
        ("It cost 24 thousand.", {24_000}),
        ("Between five and twenty came.", {5, 20}),
        ("Sono due dozzine di uova.", {24}),
        ("Wir haben vierundzwanzig Stühle.", {24}),
        ("Hay treinta y cinco sillas.", {35}),
        ("Servono ventotto piatti.", {28}),
        ("Sie wohnt im dritten Stock.", {3}),
        ("Pesa 4,5 quilos, no 1,250,000.", {4.5, 1_250_000}),
        ("La barca costa 1.500 euro.", {1.5, 1_500}),
    ],
)
def test_a_number_in_words_is_its_value(text: str, numbers: set[float]) -> None:
    assert sentence(text).numbers == numbers


def test_the_words_of_a_number_are_no_other_words() -> None:
    assert "kirk" not in sentence("Kitaba kırk iki lira verdim.").stems


@pytest.mark.parametrize(("gold", "answer"), [("kırk iki lira", "42 TL ödedin."), ("이만삼천 원", "23000원이에요.")])
def test_digits_say_what_the_words_say(gold: str, answer: str) -> None:
    wanted = content(gold, Rarity(()))
    assert wanted.numbers <= content(answer, Rarity(())).numbers
    assert not agreement(wanted, answer, (gold,)).conflicts


def test_another_number_conflicts() -> None:
    assert agreement(content("이만삼천 원", Rarity(())), "이만오천 원이에요.", ("이만삼천 원",)).conflicts


@pytest.mark.parametrize("written", ["Eğirdir'de", "EĞİRDİR'de", "Eğirdir’de"])
def test_a_turkish_ending_after_an_apostrophe_is_no_part_of_a_name(written: str) -> None:
    assert [one.stem for one in tokens(written)] == [one.stem for one in tokens("Eğirdir")]


def test_only_a_common_word_of_english_is_narrowed_by_the_word_before_it() -> None:
    assert is_narrowed(content("an oak", Rarity(())), "It is a cork oak.", ())
    assert is_narrowed(content("a spaniel", Rarity(())), "She has a cocker spaniel.", ("dog", "spaniel"))
    assert not is_narrowed(content("Eğirdir", Rarity(())), "Halan eğirdir'de oturuyor.", ())


@pytest.mark.parametrize(
    ("text", "value"), [("с девятнадцатью складками", 19), ("около двадцати", 20), ("у четырёх", 4)]
)
def test_russian_numbers_in_other_cases(text: str, value: int) -> None:
    assert sentence(text).numbers == {value}


def test_another_russian_word_with_such_an_end_is_no_number() -> None:
    assert sentence("о семье и пути").numbers == frozenset()
