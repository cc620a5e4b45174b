"""Finds the messages from which sentences of other texts come, literally or nearly."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import accumulate
from typing import NamedTuple

from attribution.needed.content import CREDIT, SURELY, Rarity, credit, matches
from attribution.needed.question import is_question
from attribution.text.lexicon import best_likeness
from attribution.text.segments import Placed, Sentence

_FEW_WORDS = 2
"""Sentences with fewer words are not assigned to a message."""
_CLEARLY = 0.15
"""A sentence comes from another message only if that fits better by this much."""
_LOOKED_UP = 6
"""The number of rarest words by which the origin of a sentence is looked up."""
_COMPARED = 5
"""The number of messages that are compared closely with a sentence."""
_MOST_COMPARED = 20_000
"""The maximal number of cached results for sentences."""
_MOST_TEXTS = 3_000
"""The maximal number of cached results for texts."""
_LARGE = 2_000
"""Texts with more sentences are large."""
_LARGE_KEPT = 120_000
"""The maximal number of sentences in cached results for large texts, besides the last text."""

_NOBODY: AbstractSet[str] = frozenset()


class _Shares(NamedTuple):
    """Indexes of a text's sentences with content: those of no message, and those of messages, with the messages."""

    free: Sequence[int]
    quoted: Sequence[int]
    sayers: Sequence[AbstractSet[str]]


class Origins:
    """An index of the sentences of all messages of a trace."""

    def __init__(self, sentences: Mapping[str, Sequence[Placed]], rarity: Rarity) -> None:
        """Index every sentence.

        Args:
            sentences: of each message, in the order of the messages.
            rarity: weights of words.
        """
        self._sentences = sentences
        self._rarity = rarity
        self._place = {message: number for number, message in enumerate(sentences)}
        self._said: dict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
        self._sayers: dict[frozenset[str], dict[str, set[float]]] = defaultdict(lambda: defaultdict(set))
        for message, placed in sentences.items():
            for one in placed:
                words = frozenset(one.sentence.stems)
                self._sayers[words][message] |= one.sentence.numbers
                asks = is_question(one.sentence.text) and not one.sentence.numbers  # then nothing comes from it
                if len(words) >= _FEW_WORDS and not asks:
                    for word in words:
                        self._said[word].append((message, words))
        self._origins: dict[frozenset[str], dict[str, float]] = {}
        self._foreign: dict[tuple[frozenset[str], str], bool] = {}
        self._shares: dict[int, _Shares] = {}
        self._large: list[tuple[Sequence[Placed], _Shares]] = []

    def sayers(self, one: Sentence) -> AbstractSet[str]:
        """The messages with a sentence of exactly these words."""
        found = self._sayers.get(frozenset(one.stems))
        return _NOBODY if found is None else found.keys()

    def _exact(self, one: Sentence, words: frozenset[str]) -> AbstractSet[str]:
        """The messages with a sentence of exactly these words that also say the numbers: a question is no source."""
        found = self._sayers.get(words)
        if found is None or not one.numbers:
            return _NOBODY if found is None else found.keys()
        return {message for message, numbers in found.items() if one.numbers <= numbers}

    def not_quoted(self, text: str, places: Sequence[Placed], message_id: str) -> list[int]:
        """The indexes of a text's sentences that have content and are not only in other messages.

        Args:
            text: recognised by its hash.
            places: the text's sentences; for a large text, the same list object at each call.
            message_id: of the message.
        """
        shares = self._shares_of(text, places)
        own = [n for n, sayers in zip(shares.quoted, shares.sayers, strict=True) if message_id in sayers]
        return sorted([*shares.free, *own]) if own else list(shares.free)

    def _shares_of(self, text: str, places: Sequence[Placed]) -> _Shares:
        if len(places) > _LARGE:
            return self._shares_of_large(places)
        key = hash(text)
        shares = self._shares.get(key)
        if shares is None:
            if len(self._shares) >= _MOST_TEXTS:
                self._shares.clear()
            shares = self._shares[key] = self._shared(places, 0)
        return shares

    def _shares_of_large(self, places: Sequence[Placed]) -> _Shares:
        """Like ``_shares_of``; for a growing buffer only new sentences are analysed."""
        base, same = _Shares([], [], []), 0
        for known in self._large:
            read, shares = known
            if read is places:
                self._large = [known, *(other for other in self._large if other is not known)]
                return shares
            differs = (
                n
                for n, (one, other) in enumerate(zip(places, read, strict=False))
                if one is not other and one[:2] != other[:2]
            )
            length = next(differs, min(len(places), len(read)))
            base, same = (shares, length) if length > same else (base, same)
        free, quoted = bisect_left(base.free, same), bisect_left(base.quoted, same)
        new = self._shared(places, same)
        found = _Shares(
            [*base.free[:free], *new.free], [*base.quoted[:quoted], *new.quoted], [*base.sayers[:quoted], *new.sayers]
        )
        sizes = accumulate(len(read) for read, _ in self._large)
        kept = [known for known, size in zip(self._large, sizes, strict=True) if size <= _LARGE_KEPT]
        self._large = [(places, found), *kept]
        return found

    def _shared(self, places: Sequence[Placed], start: int) -> _Shares:
        free, quoted, by = [], [], []
        for number, placed in enumerate(places[start:], start):
            one = placed.sentence
            words = frozenset(one.stems)
            sayers = self._exact(one, words) if len(words) >= _FEW_WORDS else _NOBODY
            if sayers:
                quoted.append(number)
                by.append(sayers)
            elif words or one.numbers or one.dates:
                free.append(number)
        return _Shares(free, quoted, by)

    def is_foreign(self, one: Sentence, message_id: str) -> bool:
        """Whether a sentence is another message's."""
        words = frozenset(one.stems)
        if len(words) < _FEW_WORDS:
            return False
        sayers = self._exact(one, words)
        if sayers:
            return message_id not in sayers
        key = words, message_id
        if key not in self._foreign:
            if len(self._foreign) >= _MOST_COMPARED:
                self._foreign.clear()
            self._foreign[key] = self._is_of_another(words, message_id)
        return self._foreign[key]

    def _is_of_another(self, words: frozenset[str], message_id: str) -> bool:
        """Whether a sentence without an exact source fits another message clearly better."""
        origins = self._origins.get(words)
        if origins is None:
            origins = self._origins[words] = self._likenesses(words)
        other = max((score for message, score in origins.items() if message != message_id), default=0.0)
        if other <= _CLEARLY:
            return False
        said = [placed.sentence.stems for placed in self._sentences[message_id]]
        total = sum(map(self._rarity, words))
        own = max((sum(map(self._rarity, words.intersection(one))) for one in said), default=0.0) / total
        if other <= own + _CLEARLY:  # equal words are a part of the likeness, and mostly decide
            return False

        def is_more(stems: tuple[str, ...]) -> bool:
            # Each word matches only one word of a sentence: this bound lets it match any number.
            most = sum(self._rarity(word) * CREDIT[best_likeness(word, stems)] for word in words) / total
            return other > SURELY * most + _CLEARLY

        if is_more(tuple(dict.fromkeys(stem for one in said for stem in one))):  # then it is more than each sentence
            return True
        return all(is_more(one) or other > self._likeness(words, frozenset(one)) + _CLEARLY for one in said)

    def _likeness(self, words: frozenset[str], said: frozenset[str]) -> float:
        """The share of some words, by weight, that a sentence has; similar words count less."""
        total = sum(map(self._rarity, words))
        return sum(self._rarity(w) * credit(w, o) for w, o in matches(sorted(words), sorted(said)).items()) / total

    def _likenesses(self, words: frozenset[str]) -> dict[str, float]:
        """The likeness of each of the messages that share the rarest words."""
        rarest = sorted(words, key=lambda word: (-self._rarity(word), word))[:_LOOKED_UP]
        shared: dict[tuple[str, frozenset[str]], float] = defaultdict(float)
        for word in rarest:
            for sentence in self._said.get(word, ()):
                shared[sentence] += self._rarity(word)
        scores: dict[str, float] = {}
        for message, said in sorted(shared, key=lambda key: (-shared[key], self._place[key[0]]))[:_COMPARED]:
            scores[message] = max(scores.get(message, 0.0), self._likeness(words, said))
        return scores
