"""Number words that mean something else in another language: numbers only where just these numbers are compared.

``Dez`` is ten in Portuguese, and short for December in German; ``due`` is two in Italian. The words are those of
Unicode's CLDR (rule-based number formats), with the forms that these formats leave out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attribution.text.languages import language_of
from attribution.text.lexicon import is_common_word
from attribution.text.numbers import number
from attribution.text.scripts import folded
from attribution.text.tokens import tokens

_BY_LANGUAGE = {
    "pt": "_ dois/duas três quatro cinco seis sete oito nove dez onze doze treze",
    "it": "_ due tre quattro cinque sei sette otto nove dieci undici dodici tredici",
    "es": "_ dos tres cuatro cinco seis siete ocho nueve diez once doce trece",
    "fr": "_ deux trois quatre cinq six sept huit neuf dix onze douze treize",
    "nl": "_ twee drie vier vijf zes zeven acht negen tien elf twaalf dertien",
    "de": "_ zwei/zwo drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn",
}
"""Of languages that ``language_of`` knows: two to thirteen, because the word for one is an article, too."""
_ANYWHERE = (
    "_ två tre fyra fem sex sju åtta nio tio elva tolv tretton",
    "_ to tre fire fem seks syv/sju otte/åtte ni ti elleve tolv tretten",
    "_ dva/dvě tři čtyři pět šest sedm osm devět deset jedenáct dvanáct třináct",
    "_ dos/dues tres quatre cinc sis set vuit nou deu onze dotze tretze",
    "_ doi/două trei patru cinci șase/şase șapte/şapte opt nouă zece unsprezece doisprezece treisprezece",
    "_ kettő/két három négy öt hat hét nyolc kilenc tíz tizenegy tizenkettő tizenhárom",
    "_ dua tiga empat lima enam tujuh delapan sembilan sepuluh sebelas _ _",
    "_ hai ba bốn năm sáu bảy tám chín mười _ _ _",
    "_ दो तीन चार पाँच/पांच छह/छः सात आठ नौ दस ग्यारह बारह तेरह",
    "_ اثنان/اثنين/اثنتان ثلاث/ثلاثة أربع/أربعة خمس/خمسة ست/ستة سبع/سبعة ثمان/ثماني/ثمانية تسع/تسعة عشر/عشرة _ _ _",
)
"""Swedish, Danish and Norwegian, Czech, Catalan, Romanian, Hungarian, Indonesian, Vietnamese, Hindi, Arabic."""


def _values(said: str) -> dict[str, float]:
    return {
        folded(form): float(value)
        for value, forms in enumerate(said.split(), 1)
        for form in forms.split("/")
        if form != "_"
    }


_OF_LANGUAGE = {language: _values(said) for language, said in _BY_LANGUAGE.items()}
_OTHERS: dict[str, set[float]] = {}
for _said in (*_BY_LANGUAGE.values(), *_ANYWHERE):
    for _word, _value in _values(_said).items():
        _OTHERS.setdefault(_word, set()).add(_value)


def readings(text: str, language: str | None = None) -> Mapping[str, frozenset[float]]:
    """The numbers that a text's words may be, by the stem of the word; words that are always numbers are left out.

    Args:
        text: to read.
        language: of the text, if a longer text with it tells the language.
    """
    known = _OF_LANGUAGE.get(language_of(text) or language or "")
    found = {}
    for one in tokens(text):
        if number(one.word) is not None or one.word not in _OTHERS:
            continue
        if known is not None:
            values = {known[one.word]} if one.word in known else set()
        else:
            # "Hat" is six in Hungarian, but mostly a thing that is worn.
            values = set() if is_common_word(one.stem) or one.word.isdigit() else _OTHERS[one.word]
        if values:
            found[one.stem] = frozenset(values)
    return found


def told(wanted: Iterable[float], text: str, language: str | None = None) -> frozenset[float]:
    """Those of some wanted numbers that a text tells in words which may be numbers.

    Args:
        wanted: the numbers.
        text: to read.
        language: of the text, if a longer text with it tells the language.
    """
    sought = frozenset(wanted)
    if not sought:
        return sought
    return sought & frozenset().union(*readings(text, language).values(), frozenset())
