"""The messages of a trace, analysed once: sentences, an index of words, speakers, neighbours."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cache
from operator import mul
from typing import Protocol

from attribution.needed.content import Content, PreparedContent, Rarity, content
from attribution.needed.sentence_origins import Origins
from attribution.text.asked_part import asked_part
from attribution.text.bm25 import Bm25, fused
from attribution.text.dates import mentions, without_relative_dates
from attribution.text.lexicon import Alike
from attribution.text.segments import Placed, Sentence, passage
from attribution.text.tokens import tokens
from attribution.trace.graph import TraceGraph
from schema.kinds import EARLIER, STORED, VariableKind
from schema.models import Failure
from store.runtime.garbage_collector import collector_paused

_SPEAKER = re.compile(r"""["'](?:name|speaker|author|sender)["']\s*:\s*["']([^"']+)["']""")
_FORM = 5
"""A sentence of more messages than this, and of more than a tenth of all, is boilerplate."""
_PHRASE_ANSWERS = 4
"""A word in at least this many different answers of a trace is a phrase of the answering model."""
_SAMPLE = 40
"""The number of units that are looked at for dates."""
_MOST_SOUGHT = 500
"""The maximal number of cached prepared contents."""


class Mode(StrEnum):
    """The query for evidence: the question, alone or with the gold or the given answer."""

    QUESTION = "question"
    GOLD = "question+gold"
    PREDICTION = "question+prediction"


class Embedder(Protocol):
    """Turns texts into vectors."""

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text."""
        ...


class Messages:
    """The recorded messages of a trace in order, cut into sentences, with an index of their words."""

    def __init__(self, graph: TraceGraph, texts: Mapping[str, str], answers: Iterable[str] = ()) -> None:
        """Analyse all messages.

        Args:
            graph: the trace.
            texts: the values of the messages, in order.
            answers: all answers of the trace, to tell phrases from facts.
        """
        self.ids = list(texts)
        self.texts = texts
        told = {one: graph.told(one) for one in texts}
        self.speakers = {one: name for one, text in texts.items() if (name := told[one].speaker or speaker(text))}
        self.names = frozenset(token.stem for name in set(self.speakers.values()) for token in tokens(name))
        self.prompts = frozenset(one for one, text in texts.items() if asked_part(text) != text)
        """The messages that a program wrote around a question: their notes were told by nobody."""
        self.place = {variable_id: number for number, variable_id in enumerate(self.ids)}
        self.sentences = {variable_id: passage(text, told[variable_id].day) for variable_id, text in texts.items()}
        self.dated = {
            one: day
            for one, placed in self.sentences.items()
            if (day := told[one].day if told[one].is_dated else _stamped(placed)) is not None
        }
        """The days (ordinals) of messages that tell their own time."""
        self.keeps_dates = _keeps_dates(graph)
        """Whether the memory keeps the dates of messages in its units."""
        stems = {
            variable_id: [stem for one in placed for stem in one.sentence.stems]
            for variable_id, placed in self.sentences.items()
        }
        self.rarity = Rarity(stems.values())
        self.origins = Origins(self.sentences, self.rarity)
        self.alike = Alike()
        self.alike.add(stem for some in stems.values() for stem in some)
        self._statements: dict[str, list[Placed]] = {}
        self._gists: dict[str, Sentence] = {}
        self._asked = "", Content({}, frozenset(), ())
        self._sought: dict[Hashable, PreparedContent] = {}
        self._behind: dict[str, set[str]] = {}
        self._index = Bm25(stems)
        said = Counter(
            stem for text in set(answers) for stem in {s for one in passage(text) for s in one.sentence.stems}
        )
        self._phrases = frozenset(stem for stem, count in said.items() if count >= _PHRASE_ANSWERS)
        self._embedder: Embedder | None = None
        self._vectors: list[list[float]] = []

    @classmethod
    async def read(cls, graph: TraceGraph, embedder: Embedder | None = None) -> Messages:
        """Read the messages of a trace. With an embedder, messages are also found by meaning."""
        found = [
            variable
            for variable in graph.variables.values()
            if graph.is_message(variable.id) and graph.is_recorded(variable.id)
        ]
        # A message that was shown again as earlier context counts only if the original is not recorded.
        said = {variable.value_hash for variable in found if variable.category != EARLIER}
        ids = [one.id for one in found if one.category != EARLIER or one.value_hash not in said]
        texts, answers = await graph.texts(ids), await _answers(graph)
        # All of these objects stay: a collector run would cost a quarter of the time here, and a tenth later.
        with collector_paused(stays=True):
            messages = cls(graph, texts, answers)
        if embedder is not None and ids:
            messages._embedder = embedder
            vectors = await embedder.embed([messages.texts[variable_id] for variable_id in ids])
            messages._vectors = [_unit(vector) for vector in vectors]
        return messages

    async def retrieve(self, failure: Failure, mode: Mode, limit: int, is_known: Callable[[str], bool]) -> list[str]:
        """The known messages that are most similar to the query, best first."""
        query = failure.question
        if mode is Mode.GOLD:
            query = "\n".join([query, *failure.gold_answers])
        elif mode is Mode.PREDICTION:
            query = f"{query}\n{failure.prediction or ''}"
        stems = [stem for placed in passage(query) for stem in placed.sentence.stems]
        by_words = self._index.search(stems, 2 * limit, is_known)
        if self._embedder is None:
            return by_words[:limit]
        (vector,) = await self._embedder.embed([query])
        likeness = [sum(map(mul, vector, other)) for other in self._vectors]  # the query's length does not matter
        known = [number for number, one in enumerate(self.ids) if is_known(one)]
        by_meaning = sorted(known, key=lambda number: -likeness[number])[: 2 * limit]
        return fused([by_words, [self.ids[number] for number in by_meaning]], limit)

    def about_apart(self, text: str, limit: int, is_known: Callable[[str], bool]) -> list[str]:
        """The known messages that share most words with a text: of all speakers, and of each speaker.

        Otherwise long messages of one speaker would crowd out short messages of another speaker with the same content.
        """
        stems = [stem for placed in passage(text) for stem in placed.sentence.stems]
        return self._index.search_apart(stems, limit, is_known, self.speakers.get)

    def statements(self, message_id: str) -> Sequence[Placed]:
        """The sentences of a message with content: no metadata, no boilerplate."""
        found = self._statements.get(message_id)
        if found is None:
            found = [
                placed
                for placed in self.sentences.get(message_id, ())
                if placed.sentence.has_content and not placed.sentence.is_metadata and not self.is_form(placed.sentence)
            ]
            self._statements[message_id] = found
        return found

    def gist(self, message_id: str) -> Sentence:
        """All words, numbers and dates of a message as one sentence, an upper bound for each single sentence."""
        found = self._gists.get(message_id)
        if found is None:
            said = [placed.sentence for placed in self.statements(message_id)]
            stems = tuple(dict.fromkeys(stem for one in said for stem in one.stems))
            numbers = frozenset[float]().union(*(one.numbers for one in said))
            found = Sentence("", stems, numbers, tuple(date for one in said for date in one.dates), None)
            self._gists[message_id] = found
        return found

    def is_form(self, one: Sentence) -> bool:
        """Whether a sentence is boilerplate, such as a label: many messages have it."""
        return bool(one.stems) and len(self.origins.sayers(one)) > max(_FORM, len(self.ids) // 10)

    def asked(self, failure: Failure) -> Content:
        """The content of a question."""
        if self._asked[0] != failure.question:
            self._asked = failure.question, content(failure.question, self.rarity)
        return self._asked[1]

    def claim(self, failure: Failure, reference: int | None) -> Content:
        """The content of the given answer beyond the question and beyond phrases of many answers.

        A relative date without its reference tells nothing.
        """
        asked = self.asked(failure)
        text = without_relative_dates(failure.prediction or "")
        said = content(text, self.rarity, self.last_day() if reference is None and self.ids else reference)
        dropped = self._phrases | asked.words.keys() | self.names
        words = {stem: weight for stem, weight in said.words.items() if stem not in dropped}
        return Content(words, said.numbers - asked.numbers, said.dates)

    def sought(self, wanted: Content) -> PreparedContent:
        """A content prepared for comparison with many messages; cached."""
        key = tuple(wanted.words.items()), wanted.numbers, wanted.dates
        found = self._sought.get(key)
        if found is None:
            if len(self._sought) >= _MOST_SOUGHT:
                self._sought.clear()
            found = self._sought[key] = PreparedContent(wanted, self.alike)
        found.look_up()
        return found

    def behind(self, graph: TraceGraph, variable_id: str) -> set[str]:
        """The nearest messages in the backward closure of a variable, at most two."""
        known = self._behind.get(variable_id)
        if known is None:
            known = self._behind[variable_id] = set()
            seen, waiting = {variable_id}, [variable_id]
            while waiting and len(known) < 2:
                current = waiting.pop()
                if current in self.place:
                    known.add(current)
                for derivation in graph.parents(current):
                    if derivation.source not in seen:
                        seen.add(derivation.source)
                        waiting.append(derivation.source)
        return known

    def is_unique(self, one: Sentence) -> bool:
        """Whether exactly one message has a sentence of these words."""
        return len(self.origins.sayers(one)) == 1

    def last_day(self) -> int | None:
        """The day of the last message (an ordinal), by its own time or else by the recording; None if unknown."""
        days = (placed.reference for one in reversed(self.ids) for placed in self.sentences[one])
        return next((day for day in days if day is not None), None)

    def preceding(self, variable_id: str, count: int) -> list[str]:
        """The messages just before a message, in order."""
        place = self.place[variable_id]
        return self.ids[max(0, place - count) : place]

    def following(self, variable_id: str, count: int) -> list[str]:
        """The messages just after a message, in order."""
        place = self.place[variable_id]
        return self.ids[place + 1 : place + 1 + count]

    def neighbours(self, variable_ids: Iterable[str], distance: int) -> list[str]:
        """The messages up to a distance from the given ones, without these, nearest first."""
        given = [self.place[variable_id] for variable_id in variable_ids if variable_id in self.place]
        near = {
            number
            for place in given
            for number in range(max(0, place - distance), min(len(self.ids), place + distance + 1))
        } - set(given)
        return [self.ids[number] for number in sorted(near, key=lambda n: (min(abs(n - g) for g in given), n))]


def is_known(graph: TraceGraph, failure: Failure) -> Callable[[str], bool]:
    """Returns a function that tells messages from before the answer; later messages and the question are no evidence.

    A used message counts if its first user began no later than the answering operation. An unused message counts if it
    was recorded before the question.
    """
    answer, asked = graph.variables.get(failure.answer_id or ""), graph.variables.get(failure.question_id)
    answering = None if answer is None else graph.operations.get(answer.operation_id or "")

    @cache
    def known(message_id: str) -> bool:
        if message_id == failure.question_id:
            return False
        users = graph.users(message_id)
        if users:
            return answering is None or graph.operations[users[0]].sequence <= answering.sequence
        return asked is None or graph.variables[message_id].sequence <= asked.sequence

    return known


async def _answers(graph: TraceGraph) -> list[str]:
    kinds = {v.id: v.kind for v in graph.variables.values()}
    return list((await graph.texts(v for v, kind in kinds.items() if kind is VariableKind.ANSWER)).values())


def speaker(text: str) -> str | None:
    """The speaker of a message in lower case, if the value has a key such as ``speaker``; None otherwise."""
    match = _SPEAKER.search(text)
    return match[1].casefold() if match else None


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.hypot(*vector) or 1.0
    return [value / length for value in vector]


def _stamped(placed: Sequence[Placed]) -> int | None:
    """The day of the last timestamp in a message; None without one."""
    return next((one.sentence.stamp for one in reversed(placed) if one.sentence.stamp is not None), None)


def _keeps_dates(graph: TraceGraph) -> bool:
    """Whether most units of a memory, by a sample, begin with or contain a timestamp."""
    units = [one for one in graph.variables.values() if one.kind in STORED and graph.is_recorded(one.id)]
    sample = units[:: max(1, len(units) // _SAMPLE)]
    dated = sum(any(date.is_stamp for date in mentions(one.preview)) for one in sample)
    return bool(sample) and 2 * dated >= len(sample)
