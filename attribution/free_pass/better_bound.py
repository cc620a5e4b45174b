"""Whether what was told says the given answer of what is asked about as much as the gold answer.

Asked for the baps of the Bramley Cafe, ``the Bramley Cafe takes 45`` has its name, and ``Harrogate: 60 baps`` has not:
the gold answer may be another's. ``The slot is now on Monday`` came after ``he can do it on Thursday``: the gold
answer may be out of date. Messages and the memory units that were read are compared by the question's words in them.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

from attribution.free_pass.needs import TriedFailure
from attribution.free_pass.other_subject import asked_speaker
from attribution.free_pass.premises import CHANGE, names_relative
from attribution.needed.answer_value import AnswerValue, value_of
from attribution.needed.messages import is_known
from attribution.needed.question import QuestionForm, form, is_question
from attribution.needed.swapped_numbers import counted
from attribution.text.capitals import capitals
from attribution.text.languages import is_function_word
from attribution.text.refusals import refuses
from attribution.text.said import said
from attribution.text.segments import Placed, passage
from schema.kinds import STORED
from schema.models import Failure

_NEWER = 0.33
"""A newer text counts with at least this part of the share of the question's words that the gold answer's text has."""
_HALF = 0.5
"""A text is about the question if it has at least this share of the question's words."""
_LONGEST = 1_000
"""A longer text, in characters, tells of many things."""
_MOST = 100
"""The most memory units that are compared."""
_SHOWN = 100
"""Characters of a quoted sentence."""
_WHOLE = (QuestionForm.CONVERSATIONAL, QuestionForm.UNANSWERABLE)
_CLAUSE = re.compile(r"[,;:.]\s|[—–、，；：。]")
_PART = re.compile(
    rf"""{_CLAUSE.pattern}
      | (?<!\s)\s+(?:and|but|while|whereas|und|aber|y|pero|et|mais|e|ma|mas|en|maar|och|men|og|i|ale|а|но)\s+
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CHOICE = re.compile(r"\b(?:or|oder|ou|eller|lub|albo|nebo|или|або|veya)\b|或|还是|または|아니면", re.IGNORECASE)
"""Words between two things, such as "or": a speaker will choose one of the things."""


@dataclass(frozen=True, slots=True)
class _Text:
    """A message or a memory unit.

    Attributes:
        text: the value.
        sentences: of the text.
        places: of the messages that it is or derives from.
        is_message: whether it is a message.
    """

    text: str
    sentences: Sequence[Placed]
    places: set[int]
    is_message: bool


@dataclass(frozen=True, slots=True)
class _Telling:
    """A text that tells one of both answers.

    Attributes:
        share: the share of the question's words, by rarity, that the text has.
        place: of the last message that the text is or derives from.
        quote: the sentence with the answer.
        text: the text.
    """

    share: float
    place: int
    quote: str
    text: str


async def told_as_well(tried: TriedFailure, reference: int | None) -> str | None:
    """The sentence, shortened, by which the given answer may be right, and the gold answer wrong; None without one.

    A text tells the given answer with as much of the question as any text that tells the gold answer, unless the gold
    answer was told later. Or it tells the given answer later, with a third of that, or as a change. Or it has a name of
    the question where the texts with the gold answer have another. Or one text tells both: the given answer nearer to
    the question's words, or the two as a choice.
    """
    messages, failure = tried.messages, tried.failure
    answer, golds = failure.prediction or "", " ".join(failure.gold_answers)
    given = value_of(messages.claim(failure, reference), answer, golds)
    right = None if tried.gold is None else value_of(tried.gold, golds, answer, is_sure=False)
    if refuses(answer) or form(failure) in _WHOLE or given is None or right is None:
        return None
    texts = [one async for one in _texts(tried, (given, right), reference)]
    asked = _asked(tried, texts)
    rivals: list[_Telling] = []
    rights: list[_Telling] = []
    givers: set[int] = set()
    for source in texts:
        told = [one for one in source.sentences if not is_question(one.sentence.text)]
        with_given = next((one for one in told if given.is_told(one) and not _is_others(one, failure)), None)
        with_gold = next((one for one in told if right.is_told(one)), None)
        if with_given is not None and source.is_message:
            givers |= source.places
        supported = source.places & givers
        if with_given is not None and not supported and len(source.places) > 1:
            continue  # an update that made the unit of several messages may be the mistake itself
        place = max(source.places if with_given is None or not supported else supported)
        if with_given is not None and with_gold is not None:
            is_choice = with_given is with_gold and _CHOICE.search(source.text)
            if is_choice or _is_nearer(source.text, given, right, asked):
                return said(with_given.sentence.text, _SHOWN)
        elif (one := with_given or with_gold) is not None:
            share = _share(asked, {stem for placed in told for stem in placed.sentence.stems})
            (rights if with_given is None else rivals).append(_Telling(share, place, one.sentence.text, source.text))
    found = _rival(rivals, rights, _names(failure.question, first=1), _names(golds) | messages.names)
    return None if found is None else said(found.quote, _SHOWN)


def _is_others(placed: Placed, failure: Failure) -> bool:
    """Whether a sentence tells of a relative or colleague whom the question does not mention."""
    return names_relative(placed.sentence.text, failure.question)


async def told_at_all(tried: TriedFailure) -> str | None:
    """The sentence, shortened, that tells the given answer of half of what is asked, or more; None without one.

    What another speaker than the asked one tells of themselves does not count.
    """
    messages, failure = tried.messages, tried.failure
    value = value_of(messages.claim(failure, messages.last_day()), failure.prediction or "", "")
    day = messages.last_day()
    if value is None:
        return None
    texts = [one async for one in _texts(tried, (value,), day)]
    asked = _asked(tried, texts)
    owner = asked_speaker(messages, failure.question)
    for source in texts:
        speaker = messages.speakers.get(messages.ids[max(source.places)])
        if owner is not None and speaker not in {owner, None}:
            continue
        with_it = next((one for one in source.sentences if value.is_told(one)), None)
        share = _share(asked, {stem for placed in source.sentences for stem in placed.sentence.stems})
        if with_it is not None and share >= _HALF:
            return said(with_it.sentence.text, _SHOWN)
    return None


def _asked(tried: TriedFailure, told: Sequence[_Text]) -> dict[str, float]:
    """The words of the question that any message or unit has, by rarity; all of its words if none has one.

    Without the names of speakers, because a speaker's own messages seldom have the name.
    """
    words = tried.messages.asked(tried.failure).words.items()
    asked = {one: weight for one, weight in words if one not in tried.messages.names and not is_function_word(one)}
    stems = {stem for source in told for placed in source.sentences for stem in placed.sentence.stems}
    is_told = tried.messages.rarity.is_told
    return {one: weight for one, weight in asked.items() if one in stems or is_told(one)} or asked


def _rival(
    rivals: Sequence[_Telling], rights: Sequence[_Telling], names: set[str], known: set[str] | frozenset[str]
) -> _Telling | None:
    """The text by which the given answer may be right.

    Args:
        rivals: texts that tell the given answer.
        rights: texts that tell the gold answer.
        names: of the question.
        known: names that make no text one of something else.
    """
    others = {name for one in rights for name in _names(one.text)}
    is_foreign, lacking = bool(others - names - known), names - others
    best = max((one.share for one in rights), default=0.0)
    newest = max((one.place for one in rights), default=-1)
    for one in sorted(rivals, key=lambda rival: -rival.share):
        is_bound = one.share >= best and (one.place >= newest or (one.share > 0 and not best))
        is_of_name = is_foreign and one.share >= best and not lacking.isdisjoint(_names(one.text))
        is_changed = one.share >= _NEWER * best or CHANGE.search(one.text)
        if is_bound or is_of_name or (one.place > newest and one.share and is_changed):
            return one
    return None


async def _texts(tried: TriedFailure, values: Sequence[AnswerValue], reference: int | None) -> AsyncIterator[_Text]:
    """The messages that may tell one of some values, and then the memory units that were read.

    Args:
        tried: the failure.
        values: that answers give.
        reference: the day (an ordinal) that relative dates of units count from.
    """
    graph, messages, known = tried.graph, tried.messages, is_known(tried.graph, tried.failure)
    for one in messages.ids:
        text, sentences = messages.texts[one], messages.sentences[one]
        day = sentences[0].reference if sentences else None
        if len(text) > _LONGEST or not any(value.may_be_told(messages.gist(one), text, day) for value in values):
            continue
        if known(one):
            yield _Text(text, sentences, {messages.place[one]}, True)
    past = graph.past([tried.failure.answer_id or ""])
    units = [one for one in past if graph.variables[one].kind in STORED]
    if len(units) > _MOST:
        return
    for one, text in (await graph.texts(units)).items():
        places = {messages.place[source] for source in graph.past([one]) if source in messages.place}
        if places and len(text) <= _LONGEST:
            yield _Text(text, passage(text, reference), places, False)


def _names(text: str, *, first: int = 0) -> set[str]:
    return {one.stem for one in capitals(text, first=first)}


def _share(asked: Mapping[str, float], stems: set[str]) -> float:
    total = sum(asked.values())
    return sum(weight for one, weight in asked.items() if one in stems) / total if total else 0.0


def _is_nearer(text: str, given: AnswerValue, right: AnswerValue, asked: Mapping[str, float]) -> bool:
    """Whether the clause with the given answer has more of the question than the clause with the gold answer.

    Two numbers of one clause are compared by the words after them: ``7.80 m long and 2.60 m wide``.
    """
    mine = other = 0.0
    for border in (_CLAUSE, _PART):
        parts = [placed for part in border.split(text) for placed in passage(part)]
        mine, other = _best(parts, given, asked), _best(parts, right, asked)
        if mine != other:
            break
    if mine != other or given.number is None or right.number is None:
        return mine > other
    things = counted(text)
    return _share(asked, things.get(given.number, set())) > _share(asked, things.get(right.number, set()))


def _best(parts: Sequence[Placed], value: AnswerValue, asked: Mapping[str, float]) -> float:
    return max((_share(asked, set(one.sentence.stems)) for one in parts if value.is_told(one)), default=0.0)
