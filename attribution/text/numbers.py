"""Numbers, in digits or in words."""

from __future__ import annotations

_UNITS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "once": 1, "twice": 2, "thrice": 3, "dozen": 12, "hundred": 100, "thousand": 1000,
}  # fmt: skip
_OTHERS = (
    "zwei dos deux", "drei tres trois", "vier cuatro quatre", "fünf cinco cinq", "sechs seis", "sieben siete sept",
    "acht ocho huit", "neun nueve neuf", "zehn diez dix", "onze", "zwölf doce douze", "dreizehn trece treize",
    "vierzehn catorce quatorze", "fünfzehn quinze", "sechzehn dieciséis", "siebzehn diecisiete", "achtzehn dieciocho",
    "neunzehn diecinueve",
)  # fmt: skip
"""German, Spanish and French for 2 to 19, without words that mean something else in English, such as ``quince``."""
_OTHER_TENS = (
    "zwanzig veinte vingt", "dreissig treinta trente", "vierzig cuarenta quarante", "fünfzig cincuenta cinquante",
    "sechzig sesenta soixante", "siebzig setenta", "achtzig ochenta", "neunzig noventa",
)  # fmt: skip
_WORDS = (
    {word: value for value, said in enumerate(_OTHERS, 2) for word in said.split()}
    | {word: 10 * value for value, said in enumerate(_OTHER_TENS, 2) for word in said.split()}
    | {"hundert": 100, "cien": 100, "tausend": 1000, "mille": 1000}
    | {word: value for value, word in enumerate(_UNITS.split())}
    | {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
    | _ORDINALS
)


def number(word: str) -> float | None:
    """The value of a word in lower case; None if the word is no number."""
    if word in _WORDS:
        return float(_WORDS[word])
    if not word or not word[0].isdigit():
        return None
    digits = word.replace(",", "")
    for ending in ("st", "nd", "rd", "th"):
        digits = digits.removesuffix(ending)
    try:
        return float(digits)
    except ValueError:
        return None
