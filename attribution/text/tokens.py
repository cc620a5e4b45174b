"""Cuts texts into words with positions and stems (Snowball's for English; any other word is its own stem)."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import Stemmer

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(f"[{_UNSPACED}]{{1,2}}|\\d+(?:[.,]\\d+)*|[^\\W\\d_{_UNSPACED}]+(?:['’][^\\W\\d_{_UNSPACED}]+)?")
"""Text in scripts without spaces is cut into pairs of characters. Possessives and contractions are one word."""

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
_STOP = frozenset(_STOP_WORDS.split())

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
    """The stem of a word in lower case."""
    base = word.removesuffix("'s").removesuffix("’s").replace("’", "'")
    return str(_stemmer.stemWord(_IRREGULAR.get(base, base)))


def is_stop(word: str) -> bool:
    """Whether a word in lower case is a stop word."""
    return word in _STOP


def words(text: str) -> list[tuple[int, str]]:
    """The words of a text in lower case, in order, each with its position."""
    return [(match.start(), match.group().lower()) for match in _WORD.finditer(text)]


def tokens(text: str) -> list[Token]:
    """The words of a text, in order."""
    found = []
    for match in _WORD.finditer(text):
        word = match.group().lower()
        found.append(Token(match.start(), match.end(), word, stem(word)))
    return found
