"""Numbers, in digits or in one word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from attribution.text.scripts import folded

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
    "acht ocho huit", "neun nueve neuf", "zehn diez dix", "onze", "zwölf doce douze",
)  # fmt: skip
"""German, Spanish and French for 2 to 12, without words that mean something else in English."""
_GERMAN = "ein zwei drei vier fünf sechs sieben acht neun"
_DUTCH = "een twee drie vier vijf zes zeven acht negen"
_GREEK = (
    "δύο δυο", "τρία τρεις", "τέσσερα τέσσερις", "πέντε", "έξι", "επτά εφτά", "οκτώ οχτώ", "εννέα εννιά", "δέκα",
    "έντεκα ένδεκα", "δώδεκα", "δεκατρία", "δεκατέσσερα", "δεκαπέντε", "δεκαέξι", "δεκαεπτά", "δεκαοκτώ", "δεκαεννέα",
)  # fmt: skip
_PERSIAN = "دو سه چهار پنج شش هفت هشت _ _ یازده دوازده سیزده چهارده پانزده شانزده هفده هجده نوزده"
"""From 2 to 19. The words for 9 and 10 mean ``no`` and ``village``, too."""
_GREEK_TENS = "είκοσι τριάντα σαράντα πενήντα εξήντα εβδομήντα ογδόντα ενενήντα"
_PERSIAN_TENS = "بیست سی چهل پنجاه شصت هفتاد هشتاد نود"
_ITALIAN_TENS = "venti trenta quaranta cinquanta sessanta settanta ottanta novanta"
_ITALIAN = "uno due tre quattro cinque sei sette otto nove"
_SPANISH = "veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve"
_FROM_13 = (
    "dreizehn trece treize tredici treze dertien", "vierzehn catorce quatorze quattordici catorze veertien",
    "fünfzehn quindici quinze vijftien", "sechzehn dieciséis sedici dezesseis dezasseis zestien",
    "siebzehn diecisiete diciassette dezessete dezassete zeventien", "achtzehn dieciocho diciotto dezoito achttien",
    "neunzehn diecinueve diciannove dezenove dezanove negentien",
)  # fmt: skip
_MORE_TENS = (
    "zwanzig veinte vingt vinte twintig", "dreissig treinta trente trenta trinta dertig",
    "vierzig cuarenta quarante quaranta quarenta veertig", "fünfzig cincuenta cinquante cinquanta cinquenta vijftig",
    "sechzig sesenta soixante sessanta sessenta zestig", "siebzig setenta settanta zeventig",
    "achtzig ochenta ottanta oitenta tachtig", "neunzig noventa novanta negentig",
)  # fmt: skip
_LATER_ORDINALS = (
    "dritte dritten dritter drittes troisième terzo terza tercero tercera tercer terceiro terceira",
    "vierte vierten vierter viertes quatrième", "fünfte fünften fünfter cinquième", "sechste sechsten sixième sesto",
    "siebte siebten septième settimo séptimo sétimo", "achte achten huitième ottavo oitavo",
    "neunte neunten neuvième noveno", "zehnte zehnten dixième decimo décimo",
)  # fmt: skip
_SLAVIC = (
    "dwa dwie dwóch два дві", "trzy trzech три", "cztery czterech чотири", "pięć pięciu п'ять п’ять",
    "sześć sześciu шість", "siedem siedmiu сім", "osiem ośmiu вісім", "dziewięć dziewięciu дев'ять дев’ять",
    "dziesięć dziesięciu десять", "jedenaście jedenastu одинадцять", "dwanaście dwunastu дванадцять",
    "trzynaście trzynastu тринадцять", "czternaście czternastu чотирнадцять",
    "piętnaście piętnastu п'ятнадцять п’ятнадцять", "szesnaście szesnastu шістнадцять",
    "siedemnaście siedemnastu сімнадцять", "osiemnaście osiemnastu вісімнадцять",
    "dziewiętnaście dziewiętnastu дев'ятнадцять дев’ятнадцять",
)  # fmt: skip
"""Polish and Ukrainian for 2 to 19."""
_SLAVIC_TENS = (
    "dwadzieścia dwudziestu двадцять", "trzydzieści trzydziestu тридцять", "czterdzieści czterdziestu сорок",
    "pięćdziesiąt pięćdziesięciu п'ятдесят п’ятдесят", "sześćdziesiąt sześćdziesięciu шістдесят",
    "siedemdziesiąt siedemdziesięciu сімдесят", "osiemdziesiąt osiemdziesięciu вісімдесят",
    "dziewięćdziesiąt dziewięćdziesięciu дев'яносто дев’яносто",
)  # fmt: skip
_CATALAN = {"cinc": 5, "vuit": 8, "dotze": 12, "tretze": 13, "setze": 16, "disset": 17, "divuit": 18, "dinou": 19,
            "vint": 20, "seixanta": 60, "vuitanta": 80, "noranta": 90}  # fmt: skip
_SWEDISH = {"två": 2, "fyra": 4, "sju": 7, "åtta": 8, "tolv": 12, "tretton": 13, "fjorton": 14, "femton": 15,
            "sexton": 16, "sjutton": 17, "nitton": 19}  # fmt: skip
_SWEDISH_TENS = "tjugo trettio fyrtio femtio sextio sjuttio åttio nittio"
_FINNISH = "kaksi kolme neljä viisi _ seitsemän kahdeksan yhdeksän"

_HINDI = """
_ _ तीन चार पाँच/पांच छह/छः सात आठ नौ दस ग्यारह बारह तेरह चौदह पन्द्रह/पंद्रह सोलह सत्रह अठारह उन्नीस बीस इक्कीस बाईस/बाइस
तेईस/तेइस चौबीस पच्चीस छब्बीस सत्ताईस/सत्ताइस अट्ठाईस/अट्ठाइस उनतीस तीस इकतीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस
चालीस इकतालीस बयालीस तैंतालीस चौवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास पचास इक्यावन बावन तिरेपन/तिरपन चौवन पचपन छप्पन
सत्तावन अट्ठावन उनसठ साठ इकसठ बासठ तिरेसठ/तिरसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर
छिहत्तर सतहत्तर अठहत्तर उनासी अस्सी इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी नवासी नब्बे इक्यानबे/इक्यानवे बानबे/बानवे
तिरानबे/तिरानवे चौरानबे/चौरानवे पंचानबे/पंचानवे छियानबे/छियानवे सत्तानबे/सत्तानवे अट्ठानबे/अट्ठानवे निन्यानबे/निन्यानवे सौ
"""
"""One to a hundred, of Unicode's CLDR, with other spellings. The words for 1 and 2 mean ``a`` and ``give``, too."""
_ARABIC = "_ _ ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة"
_ARABIC_TENS = (
    "عشرون عشرين", "ثلاثون ثلاثين", "أربعون أربعين", "خمسون خمسين", "ستون ستين", "سبعون سبعين", "ثمانون ثمانين",
    "تسعون تسعين",
)  # fmt: skip


def _joined(units: str, tens: Sequence[str], between: str) -> dict[str, int]:
    """Numbers from 21 to 99 in one word with the unit first, such as ``vierundzwanzig``."""
    return {
        f"{unit}{between}{word}": ten + one
        for ten, word in zip(range(20, 100, 10), tens, strict=True)
        for one, unit in enumerate(units.split(), 1)
    }


def _elided(units: str, tens: str) -> dict[str, int]:
    """Italian numbers from 21 to 99: ``ventiquattro``, ``ventuno``, ``trentotto``."""
    return {
        f"{word[:-1] if unit[0] in 'uo' else word}{unit}": ten + one
        for ten, word in zip(range(20, 100, 10), tens.split(), strict=True)
        for one, unit in enumerate(units.split(), 1)
    }


_WORDS = (
    {word: value for value, said in enumerate(_OTHERS, 2) for word in said.split()}
    | {word: value for value, said in enumerate(_FROM_13, 13) for word in said.split()}
    | {word: 10 * value for value, said in enumerate(_MORE_TENS, 2) for word in said.split()}
    | {word: value for value, said in enumerate(_LATER_ORDINALS, 3) for word in said.split()}
    | {word: value for value, word in enumerate(_SPANISH.split(), 21)}
    | _joined(_GERMAN, [said.split()[0] for said in _MORE_TENS], "und")
    | _joined(_DUTCH, [said.split()[-1] for said in _MORE_TENS], "en")
    | _elided(_ITALIAN, _ITALIAN_TENS)
    | {word: value for value, word in enumerate(_DUTCH.split()[1:], 2)}
    | {folded(word): value for value, said in enumerate(_GREEK, 2) for word in said.split()}
    | {word: value for value, word in enumerate(_PERSIAN.split(), 2) if word != "_"}
    | {folded(word): 10 * value for said in (_GREEK_TENS, _PERSIAN_TENS) for value, word in enumerate(said.split(), 2)}
    | {"hundert": 100, "cien": 100, "tausend": 1000, "mille": 1000, "tien": 10, "twaalf": 12, "εκατό": 100, "صد": 100}
    | {folded(word): value for value, said in enumerate(_SLAVIC, 2) for word in said.split()}
    | {folded(word): 10 * value for value, said in enumerate(_SLAVIC_TENS, 2) for word in said.split()}
    | _CATALAN
    | {folded(word): value for word, value in _SWEDISH.items()}
    | {folded(word): 10 * value for value, word in enumerate(_SWEDISH_TENS.split(), 2)}
    | {"kymmenen": 10}
    | {folded(word): value for value, word in enumerate(_FINNISH.split(), 2) if word != "_"}
    | {folded(f"{word}toista"): 10 + value for value, word in enumerate(_FINNISH.split(), 2) if word != "_"}
    | {folded(word): value for value, said in enumerate(_HINDI.split(), 1) for word in said.split("/") if word != "_"}
    | {folded(word): value for value, word in enumerate(_ARABIC.split(), 1) if word != "_"}
    | {folded(word): 10 * value for value, said in enumerate(_ARABIC_TENS, 2) for word in said.split()}
    | {word: value for value, word in enumerate(_UNITS.split())}
    | {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
    | _ORDINALS
)

_GROUPED = re.compile(r"\d{1,3}(?:,\d{3})+(?!\d)")

TENS = frozenset(word for word, value in _WORDS.items() if value in range(20, 100, 10))
"""Words for 20, 30 and so on to 90."""


def number(word: str) -> float | None:
    """The value of a word in lower case; None if the word is no number."""
    if word in _WORDS:
        return float(_WORDS[word])
    if not word or not word[0].isdigit():
        return None
    # Before groups of three digits, a comma separates thousands; else it stands before the parts of one.
    digits = word.replace(",", "") if _GROUPED.match(word) else word.replace(",", ".")
    for ending in ("st", "nd", "rd", "th"):
        digits = digits.removesuffix(ending)
    try:
        return float(digits)
    except ValueError:
        return None
