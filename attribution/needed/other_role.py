"""Answers that have the name of the right answer in another role: as an owner, elsewhere, or as what was replaced.

``Oskar, Maja's partner`` is not Maja; ``with you, Tom brought it back`` is not ``with Tom``; ``blue instead of green``
is not green.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import pairwise

from attribution.text.instead_of import INSTEAD_OF
from attribution.text.languages import is_function_word
from attribution.text.tokens import Token, tokens

_IN_PLACE_OF = re.compile(
    rf"""(?:\b(?:{INSTEAD_OF}|no\s+longer|replac(?:es|ed|ing)|nicht\s+mehr|ya\s+no|já\s+não|non\s+più|niet\s+meer
          |inte\s+längre|już\s+nie|уже\s+не|yerine)|\bau\s+lieu\s+d['’])\s*$""",
    re.VERBOSE | re.IGNORECASE,
)
"""What stands before a thing that another took the place of."""
_ARTICLES = (
    "the|an?|my|your|our|his|her|their|der|die|das|dem|den|des|ein|eine[mnrs]?|el|la|los|las|le|les|lo|il|i|gli|o|os|as|um"
    "|uma|un|una|une|de[tn]?|het|een"
)
_ARTICLE = re.compile(rf"(?:{_ARTICLES})", re.IGNORECASE)
_ARTICLE_LAST = re.compile(rf"\b(?:{_ARTICLES})$", re.IGNORECASE)
_OF = re.compile(r"(?:\b(?:of|von|vom|de|del|do|da|dos|das|di|della|dello|du|van|av|af|od)|\bd['’])\s*$", re.IGNORECASE)
_OWNED = re.compile(r"(?<=[sxzSXZ])['’](?=\s+\w)|['’]s(?=\s+\w)|['’]n[ıiuü]n\b")
"""The ending of a name that owns what follows."""
_ENDING = re.compile(r"['’](?:s|n[ıiuü]n)?$")
_CONTRACTED = re.compile(
    r"\s+(?:\w+ing|\w+ed|the|an?|my|your|our|his|her|their|not|been|going|got|in|at|on|with|from|to|it|who|now|also|just|still)\b",
    re.IGNORECASE,
)
"""What follows ``Maja's`` if it means ``Maja is`` or ``Maja has``."""
_POSTPOSED = re.compile(
    r"(?:さん|くん|君|ちゃん|様|氏|先生|씨|님)?(?:の(?!は|が|を|です|で)|的(?!是)|의\s)|\s+(?:का|के|की)\s"
)
"""What stands after an owner in Japanese, Chinese, Korean and Hindi."""
_WHO = re.compile(r"誰|だれ|谁|누구|누가|कौन|किस")
_PERSONS = """
you me us him her them yourself vous moi nous toi lui eux elle elles dir mir euch ihr ihnen uns ihm sie dich mich ti mí
usted ustedes nosotros vosotros él ella mim você vocês nós ele ela eles te noi voi lei loro jou mij ons hem haar u dig
mig dem oss er тебя меня вас нас него неё них тебе мне ciebie mnie was nas niego niej
"""
_PERSON = frozenset(_PERSONS.split())
_WITH = "with chez bei mit avec con com hos bij met med u z ze у с со"
_PERSONAL = frozenset(_WITH.split())
"""Words before a person; those of places may stand before a smaller and a larger place (``in Kreuzberg, Berlin``)."""
_WHERE = """
at by from to of in on near under behind beside beim unter neben hinter vor nach zu zum zur im an am auf aus von vom
dans sur sous en au aux à sans por para nel nella dal dalla da do na no em sob sobre w od naar van op te till från på
в на от к
"""
LEADING = _PERSONAL | frozenset(_WHERE.split())
"""Prepositions of places and persons, such as ``with`` in ``with Tom``."""
_JOINS = re.compile(r"(?:and|or|und|oder|et|ou|y|o|e|en|of|och|og|i|и)\Z", re.IGNORECASE)
_BORDER = re.compile(r"[,;.:!?–—]")
_LONGEST = 400
"""A longer answer, in characters, says more than who or where."""
_WINDOW = 30
"""The most characters of the words before a name that are looked at."""
_FEWEST = 2


class Role(IntEnum):
    """How an answer has the name of the right answer."""

    OWN = 0
    """As the right answer has it, or not at all."""
    UNSURE = 1
    """Only as an owner: the answer may mean what belongs to the name."""
    OTHER = 2
    """Only in another role, and something else stands in the place of the right answer."""


def role(golds: Sequence[str], text: str, question: str) -> Role:
    """How a text has the names of the right answers: the best of all right answers.

    Args:
        golds: the right answers.
        text: the answer.
        question: whose names are no answers.
    """
    if not golds or len(text) > _LONGEST:
        return Role.OWN
    return min(_role(gold, text, question) for gold in golds)


def _role(gold: str, text: str, question: str) -> Role:
    if _is_replaced(gold, text):
        return Role.OTHER
    if _WHO.search(question) and _is_only_postposed(gold.strip(" 。.です"), text):
        return Role.OTHER
    names, said = list(_names(gold)), tokens(text)
    if not names:
        return Role.OWN
    if _is_elsewhere(gold, names, text, said):
        return Role.OTHER
    # "Tom Hall" is the owner in "Tom Hall's bike": the last word of a name has the ending.
    places = _places(names[-1], said)
    if not places or not all(_owns(names[-1], gold, text, said, place) for place in places):
        return Role.OWN
    owned = {said[place + 1].word for place in places if _is_next(text, said, place)}
    known = owned | {one.word for one in (*tokens(gold), *tokens(question))}
    others = [one for one in _names(text) if one.word not in known and not _is_form(one.word, names)]
    return Role.OTHER if others else Role.UNSURE


def _names(text: str) -> Iterator[Token]:
    """The words of a text with a capital letter, without words such as ``with`` and articles."""
    for one in tokens(text):
        is_plain = not one.carries or is_function_word(one.word) or one.word in LEADING
        if text[one.start].isupper() and len(one.word) >= _FEWEST and not is_plain:
            yield one


def _is_form(word: str, names: Sequence[Token]) -> bool:
    """Whether a word is one of some names, perhaps with an ending of an owner."""
    return any(_bare(word) in {one.word, f"{one.word}s"} for one in names)


def _bare(word: str) -> str:
    return _ENDING.sub("", word)


def _places(name: Token, said: Sequence[Token]) -> list[int]:
    """The places of the words that are a name, perhaps with an ending of an owner."""
    return [place for place, one in enumerate(said) if _is_form(one.word, [name])]


def _owns(name: Token, gold: str, text: str, said: Sequence[Token], place: int) -> bool:
    """Whether a name owns something at a place of a text, and not in the right answer."""
    one = said[place]
    if _OWNED.search(gold) or _OF.search(gold, 0, name.start):
        return False
    if one.word == name.word:
        if _OWNED.match(text, one.end) and one.word.endswith(("s", "x", "z")):
            return True
        of = _OF.search(text, max(0, one.start - _WINDOW), one.start)
        before = [other for other in said[:place] if of is not None and other.end <= of.start()]
        return bool(before) and before[-1].word.isalpha() and _is_in_apposition(text, before[-1], one)
    if _bare(one.word) != one.word:
        return _OWNED.search(text, one.start, min(len(text), one.end + 2)) is not None and not _CONTRACTED.match(
            text, one.end
        )
    # Without an apostrophe: "Majas sambo".
    return _is_next(text, said, place) and said[place + 1].word.isalpha()


def _is_next(text: str, said: Sequence[Token], place: int) -> bool:
    """Whether another word follows the word at a place, with nothing but spaces between."""
    return place + 1 < len(said) and text[said[place].end : said[place + 1].start].isspace()


def _is_in_apposition(text: str, owned: Token, name: Token) -> bool:
    """Whether ``the partner of Maja`` stands beside another name: after or before a comma."""
    before, after = text[: owned.start].rstrip(), text[name.end :].lstrip()
    before = _ARTICLE_LAST.sub("", before).rstrip()
    return before.endswith((",", "(", "–", "-")) or after.startswith((",", "("))


def _is_elsewhere(gold: str, names: Sequence[Token], text: str, said: Sequence[Token]) -> bool:
    """Whether the word directly before the right answer's name stands before another name or person in a text.

    The right answer says ``with Tom``, the text ``with you``, and nowhere ``with Tom``.
    """
    right = tokens(gold)
    at = right.index(names[0])
    leading = right[at - 1] if at else None
    if leading is None or leading.word not in LEADING:
        return False
    here = _places(names[0], said)
    if not here or any(_follows(said, place, leading) for place in here):
        return False
    known = {one.word for one in right}
    return any(
        one.word == leading.word and after.word not in known and _is_instead(leading, after, text, said, here)
        for one, after in pairwise(said)
    )


def _is_instead(leading: Token, after: Token, text: str, said: Sequence[Token], here: Sequence[int]) -> bool:
    """Whether what a word such as ``with`` leads to stands in the place of a name that begins another clause.

    Args:
        leading: the word.
        after: what it leads to.
        text: with these words.
        said: the words of the text.
        here: the places of the name.
    """
    if after.word not in _PERSON and not (text[after.start].isupper() and leading.word in _PERSONAL):
        return False
    for place in here:
        one, following = said[place], said[place + 1] if place + 1 < len(said) else None
        if not _BORDER.search(text, after.end, one.start) or following is None:
            return False
        if not text[following.start].islower() or _JOINS.match(following.word) or _JOINS.match(said[place - 1].word):
            return False
    return True


def _follows(said: Sequence[Token], place: int, leading: Token) -> bool:
    """Whether a word stands before a place, perhaps with an article between."""
    before = said[max(0, place - _FEWEST) : place]
    return bool(before) and (
        before[-1].word == leading.word
        or (before[0].word == leading.word and _ARTICLE.fullmatch(before[-1].word) is not None)
    )


def _is_replaced(gold: str, text: str) -> bool:
    """Whether a text has the words of the right answer only where it says that something else took their place."""
    right = {
        one.stem for one in tokens(gold) if one.carries and one.word not in LEADING and not is_function_word(one.word)
    }
    said = tokens(text)
    places = [place for place, one in enumerate(said) if one.stem in right]
    return bool(places) and all(_is_after_in_place_of(text, said, place, right) for place in places)


def _is_after_in_place_of(text: str, said: Sequence[Token], place: int, right: set[str]) -> bool:
    first = place
    while first and (
        said[first - 1].stem in right or _ARTICLE.fullmatch(said[first - 1].word) or said[first - 1].word in LEADING
    ):
        first -= 1
    start = said[first].start
    return any(
        _IN_PLACE_OF.search(text, max(0, said[one].start - _WINDOW), said[one].start) is not None
        for one in range(first, place + 1)
    ) and bool(text[:start].strip())


def _is_only_postposed(name: str, text: str) -> bool:
    """Whether each place of a name in a text without capital letters is that of an owner."""
    rest = text.split(name)[1:] if name and not name.isascii() else []
    return bool(rest) and all(map(_POSTPOSED.match, rest))
