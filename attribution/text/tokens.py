"""Cuts texts into words with positions and stems, by Snowball. Latin letters are taken for English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import Stemmer

from attribution.text import scripts
from attribution.text.number_words import korean
from attribution.text.scripts import HAN, HANGUL, HIRAGANA, KATAKANA, MARKS, SOUTHEAST

_DENSE = f"{HAN}{HIRAGANA}{KATAKANA}{HANGUL}{SOUTHEAST}"
_LETTERS = f"(?:[^\\W\\d_{_DENSE}]|[{MARKS}])+"
_WORD = re.compile(
    f"(?P<dense>[{HAN}{HIRAGANA}{HANGUL}{SOUTHEAST}]+)|[{KATAKANA}]+|\\d+(?:[.,]\\d+)*|{_LETTERS}(?:['’]{_LETTERS})?"
)
"""Possessives and contractions are one word. A run of a script without spaces is cut further (``pieces``)."""
_ASCII_WORD = re.compile(r"\d+(?:[.,]\d+)*|[a-zA-Z]+(?:'[a-zA-Z]+)?")

_STOP_WORDS = """
    a about after again all also am an and any are as at back be because been before being both but by came can
    come could did do does doing done down during each even ever every for from get gets getting go goes going gone
    got had has have having he her here hers herself him himself his how i if in into is it its itself just kind let
    like lot lots made make makes making many may me might mine more most much must my myself no nor not now of off
    oh on once one only or other our ours ourselves out over own really same she should so some such sure than that
    the their theirs them themselves then there these they thing things this those though through to too under until
    up us very was we well went were what when where which while who whom whose why will with would yeah yes yet you
    your yours yourself didn't don't doesn't isn't wasn't weren't can't couldn't won't wouldn't i'm i've i'd i'll it's
    that's there's he's she's we're we've they're they've you're you've let's what's hasn't haven't hadn't shouldn't
    say says said mention mentions mentioned tell tells told state states stated note notes noted report reports
    according remark remarks remarked
"""
"""Words that carry little meaning, among them verbs of reported speech."""
_OTHER_STOP_WORDS = """
    der das dem ein eine einen einem einer eines und oder aber ich du er sie es wir ihr mein meine meinen meinem
    dein deine sein seine ist sind waren wird werden wurde habe haben hatte hatten nicht auch auf aus bei bis durch
    für fuer gegen nach seit von zu zum zur im beim vom wegen wer wen wem wo wann warum welche welcher welches wie viel
    una unos unas y o pero yo tú él ella ellos nosotros mi mis su sus es son está están fue ser
    estar que qué quién cuál cuándo dónde cómo cuánto del por para sobre entre se lo muy más también
    à às le une et ou mais je il elle nous vous ils elles mon ma mes ta tes sa ses sont était être avez ont
    ne ce cette ces qui quel quelle où quand du au aux avec dans très plus aussi c'est j'ai d'un d'une qu'est
    и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее мне было вот от меня еще о из
    ему когда даже ну ли если уже или ни быть был него до вас нибудь опять уж вам ведь там потом себя ничего ей может
    они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под будет кто этот того
    bir ve bu da için ile o siz onlar mi mu mü ne nerede nasil var yok çok daha gibi kadar olan
    في من على إلى عن مع هذا هذه ذلك التي الذي ما ماذا من هو هي أنا أنت نحن هم كان كانت يكون
    أن إن لا لم قد كل أين متى كيف
    है हैं था थी थे हो का के की को में से पर और या यह वह मैं मुझे मेरा मेरी मेरे हम आप क्या कौन कहाँ कब कैसे एक भी ने तो ही
    """
"""German, Spanish, French, Russian, Turkish, Arabic and Hindi, without words that mean something in English; ``às`` is
Portuguese."""
_STOP = frozenset([*_STOP_WORDS.split(), *map(scripts.folded, _OTHER_STOP_WORDS.split())])

_IRREGULAR = {
    form: base
    for base, forms in {
        "be": "is was were are been",
        "become": "became",
        "begin": "began begun",
        "bear": "bore borne born",
        "bite": "bit bitten",
        "blow": "blew blown",
        "break": "broke broken",
        "bring": "brought",
        "build": "built",
        "buy": "bought",
        "catch": "caught",
        "child": "children",
        "choose": "chose chosen",
        "draw": "drew drawn",
        "drink": "drank drunk",
        "drive": "drove driven",
        "eat": "ate eaten",
        "fall": "fell fallen",
        "feed": "fed",
        "feel": "felt",
        "fight": "fought",
        "find": "found",
        "fly": "flew flown",
        "foot": "feet",
        "forget": "forgot forgotten",
        "freeze": "froze frozen",
        "get": "got gotten",
        "give": "gave given",
        "go": "went gone",
        "grow": "grew grown",
        "hang": "hung",
        "hear": "heard",
        "hide": "hid hidden",
        "hold": "held",
        "keep": "kept",
        "know": "knew known",
        "lead": "led",
        "leave": "left",
        "lend": "lent",
        "life": "lives",
        "lose": "lost",
        "make": "made",
        "man": "men",
        "mean": "meant",
        "meet": "met",
        "mouse": "mice",
        "pay": "paid",
        "person": "persons",
        "ride": "rode ridden",
        "ring": "rang rung",
        "rise": "rose risen",
        "run": "ran",
        "see": "saw seen",
        "sell": "sold",
        "send": "sent",
        "shake": "shook shaken",
        "shoot": "shot",
        "show": "shown",
        "sing": "sang sung",
        "sit": "sat",
        "sleep": "slept",
        "speak": "spoke spoken",
        "spend": "spent",
        "stand": "stood",
        "steal": "stole stolen",
        "swim": "swam swum",
        "take": "took taken",
        "teach": "taught",
        "tell": "told",
        "think": "thought",
        "throw": "threw thrown",
        "tooth": "teeth",
        "wake": "woke woken",
        "wear": "wore worn",
        "wife": "wives",
        "win": "won",
        "woman": "women",
        "write": "wrote written",
    }.items()
    for form in forms.split()
}
_ELIDED = frozenset({"l", "d", "j", "c", "n", "qu"})
_TURKISH_ENDINGS = "a e i u ü da de ta te dan den tan ten in nin un nun ün nün ya ye yi yu yü la le lu lü li"
_ENDINGS = frozenset(_TURKISH_ENDINGS.split())
_stemmer = Stemmer.Stemmer("english")


class Token(NamedTuple):
    """A word at ``text[start:end]``, with its form in lower case and its stem."""

    start: int
    end: int
    word: str
    stem: str

    @property
    def carries(self) -> bool:
        """Whether the word is no stop word."""
        return carries(self.word)


def carries(word: str) -> bool:
    """Whether a word in lower case is no stop word."""
    return word not in _STOP and (len(word) > 1 or not word.isascii() or word.isdigit())


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The stem of a folded word."""
    bare = _without_affix(word)
    if not bare.isascii():
        found = scripts.stem(bare)
        if found is not None:
            return found
    base = bare.removesuffix("'s").removesuffix("’s").replace("’", "'")
    return str(_stemmer.stemWord(_IRREGULAR.get(base, base)))


def _without_affix(word: str) -> str:
    """A word without the short word that French puts before an apostrophe, or the ending that Turkish puts after."""
    before, mark, after = word.replace("’", "'").partition("'")
    if not mark:
        return word
    return after if before in _ELIDED and after else before if after in _ENDINGS else word


def is_stop(word: str) -> bool:
    """Whether a word in lower case is a stop word."""
    return word in _STOP


def words(text: str) -> list[tuple[int, str]]:
    """The words of a text, folded, in order, each with its position."""
    if text.isascii():
        return [(match.start(), match.group().lower()) for match in _ASCII_WORD.finditer(text)]
    return [(start, word) for start, _, word in _words(text)]


def tokens(text: str) -> list[Token]:
    """The words of a text, in order."""
    return [Token(start, end, word, stem(word)) for start, end, word in _words(text)]


def count(text: str) -> int:
    """About the number of words of a text; two characters of a script without spaces count as a word."""
    found = 0
    for match in _WORD.finditer(text):
        found += (match.end() - match.start() + 1) // 2 if match["dense"] else 1
    return found


def _words(text: str) -> Iterator[tuple[int, int, str]]:
    """The words of a text, folded, each with its place; numbers in Chinese characters or Korean also as digits."""
    is_other = not text.isascii()
    for match in _WORD.finditer(text):
        start, found = match.start(), match.group()
        if not match["dense"]:
            word = scripts.folded(found) if is_other else found.lower()
            if word:
                yield start, match.end(), word
            continue
        for place, word in scripts.pieces(found):
            yield start + place, start + place + len(word), word
        for first, last, value in scripts.numerals(found):
            yield start + first, start + last, str(value)
    for first, last, value in korean(text) if is_other else ():
        yield first, last, str(value)
