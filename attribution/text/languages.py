"""Whether two texts are in the same language, as far as their letters and their function words tell.

Texts in different languages share hardly any words, so that comparing their words tells nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from unicodedata import name

from attribution.text.scripts import letters
from attribution.text.tokens import tokens

_LEAST = 0.2
"""A text can be compared with words of a script if at least this share of its letters is of the script."""
_SURE = 2
"""A language needs this many different function words in a text."""
_JAPANESE = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK"}
"""Japanese is written in several scripts at once."""

_FUNCTION_WORDS = {
    "en": "the of and to is are was were has have had in on at with for from by it his her their this that as an be",
    "de": "der die das und ist sind war hat haben ein eine einen einem einer im am mit für von bei aus den dem des zu "
    "nicht auf ich er sie was wer wo wann wie",
    "fr": "le la les et est sont était des une du dans avec pour par sur au aux ce cette il elle son sa ses je qui",
    "es": "el los las y es son fue una del en con para por su sus al que se lo mi está tiene",
    "pt": "o os as e é são foi um uma do da dos das no na em não com para por seu sua ao que meu minha está tem",
    "it": "il lo gli e è sono era una del della dei delle nel nella con per da al alla che suo sua mio ha",
    "nl": "de het een en is zijn was heeft hebben van in op met voor bij uit aan te niet ik hij zij dat dit wordt werd "
    "maar ook naar nog wel mijn geen",
}
_LANGUAGES: dict[str, set[str]] = {}
for _language, _words in _FUNCTION_WORDS.items():
    for _word in _words.split():
        _LANGUAGES.setdefault(_word, set()).add(_language)


def are_comparable(words: Iterable[str], sentence: str, text: str) -> bool:
    """Whether a text could have the words of a sentence, because both are in the same script and language.

    Args:
        words: to be found, as stems.
        sentence: with the words, which tells their language.
        text: to be searched.
    """
    wanted = {script for word in words for script in _scripts(word)}
    written = _scripts(text)
    if not wanted or not written:
        return True
    if sum(written[one] for one in wanted) < _LEAST * sum(written.values()):
        return False
    own, other = language_of(sentence), language_of(text)
    return own is None or other is None or own == other


def _scripts(text: str) -> Counter[str]:
    """The letters of a text by their script; a character of Chinese counts like three letters."""
    found: Counter[str] = Counter()
    for one in text:
        if one.isalpha():
            found[_script(one)] += letters(one)
    return found


@cache
def _script(letter: str) -> str:
    script = name(letter, "").partition(" ")[0]
    return _JAPANESE.get(script, script)


def is_function_word(word: str) -> bool:
    """Whether a word, in lower case, is one of the function words of some language, such as an article."""
    return word in _LANGUAGES


def language_of(text: str) -> str | None:
    """The language with most function words in a text in Latin letters; None if several have as many, or hardly any."""
    words = {token.word.casefold() for token in tokens(text)}
    counted = Counter(language for word in words for language in _LANGUAGES.get(word, ()))
    best = counted.most_common(2)
    if not best or best[0][1] < _SURE or (len(best) > 1 and best[1][1] == best[0][1]):
        return None
    return best[0][0]
