"""Finds the sentence of the evidence that states what the answer needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from operator import or_

from attribution.needed.content import Content, content, credit_in, names_days, same_days, share_found
from attribution.needed.messages import Messages
from attribution.needed.presence import Detail
from attribution.needed.question import asks_for_number, asks_for_time, is_question
from attribution.text.intervals import Interval
from attribution.text.segments import Placed, passage
from schema.models import Failure

SUPPORTED = 0.45
"""A sentence with at least this share of the wanted content states it. If no sentence has, the answer must be inferred,
or the gold answer is about something else."""
_NEAR_SUPPORTED = 0.8
"""A message beside the evidence replaces the evidence if it has at least this share."""
_BETTER = 0.3
"""A message beside the evidence also replaces it if it has this much more."""
_NEIGHBOURS = 3
_ANY_DAY = 738_000
"""A day (an ordinal) for dates without a year in a trace without messages."""
_WHOLLY = 0.95
_ABOUT = 0.4
"""A sentence with at least this share of the question is on the same topic."""
_TELLING = 1.2
"""An answer is stated if the evidence has words of it with at least this weight, whatever else the answer adds."""


def content_of_gold(messages: Messages, failure: Failure) -> Content:
    """The content of the gold answers beyond the question; a date without a year is the nearest to the last message."""
    asked = messages.asked(failure)
    told = content("\n".join(failure.gold_answers), messages.rarity)
    last = messages.last_day() if messages.ids else _ANY_DAY  # texts without a day are compared with each other only
    if not told.dates and last is not None:
        named = [one for gold in failure.gold_answers for placed in passage(gold) for one in placed.sentence.dates]
        days = (one.on(last) for one in named if one.yearless is not None)
        told = replace(told, dates=tuple(dict.fromkeys(one for one in days if one is not None)))
    return told.without(asked.words, asked.numbers)


def detail_nearby(messages: Messages, failure: Failure, evidence: Sequence[str], want: Content) -> Detail | None:
    """The detail from a message beside the evidence that clearly states the wanted content; None if there is none.

    Many sentences may have a wanted number. Evidence on the question's topic is replaced for a number alone only by a
    sentence that is as much on the topic.
    """
    near = best_detail(messages, failure, messages.neighbours(evidence, _NEIGHBOURS), want, may_ask=False)
    if near is None:
        return None
    own = best_detail(messages, failure, evidence, want)
    if own is not None and not want.words and not want.dates:
        asked_in = messages.sought(messages.asked(failure))
        on_topic, beside = (asked_in.share(Placed(0, one.sentence, one.reference)) for one in (own, near))
        if on_topic >= _ABOUT and beside < on_topic:
            return None
    clearly = own is None or near.support >= max(SUPPORTED, own.support + _BETTER)
    return near if near.support >= _NEAR_SUPPORTED or clearly else None


def best_detail(
    messages: Messages,
    failure: Failure,
    evidence: Sequence[str],
    want: Content,
    *,
    may_ask: bool = True,
    least: float | None = None,
) -> Detail | None:
    """The detail from the sentence with the most wanted content; ties go to the sentence nearest to the question.

    Args:
        messages: of the trace.
        failure: question and answers.
        evidence: the messages to search.
        want: content of the gold answers.
        may_ask: whether the sentence may be a question.
        least: the share of the wanted content (0 to 1) that the sentence must exceed; None accepts any sentence.

    Returns:
        None if there is no such sentence.
    """
    asked = messages.asked(failure)
    want_in, asked_in = messages.sought(want), messages.sought(asked)
    may_have = None if least is None else want_in.may_have(least)
    most = -1.0 if least is None else least
    best: list[tuple[str, Placed]] = []
    for message_id in evidence:
        for placed in messages.statements(message_id):
            if may_have is not None and not may_have(placed.sentence):
                continue
            if not may_ask and is_question(placed.sentence.text):
                continue  # a question is no source of a detail unless it is in the evidence
            told = round(want_in.share(placed), 6)
            if told > most:
                most, best = told, []
            if told == most:
                best.append((message_id, placed))
    if not best:
        return None
    if len(best) > 1:
        best = _beyond(best, failure.prediction or "") or best
    chosen = max(best, key=lambda one: asked_in.share(one[1])) if len(best) > 1 else best[0]
    literal = most >= SUPPORTED
    _, placed = chosen
    core = _held(want, placed) if literal else content(placed.sentence.text, messages.rarity, placed.reference)
    return _detail(messages, chosen, asked, core, most, literal)


def _beyond(sentences: Sequence[tuple[str, Placed]], answer: str) -> list[tuple[str, Placed]]:
    """The sentences that the given answer does not repeat: what a wrong answer says can't be what it lacks."""
    said = [frozenset(placed.sentence.stems) for placed in passage(answer)]
    return [one for one in sentences if not any(said_here >= set(one[1].sentence.stems) for said_here in said)]


def implied_date(messages: Messages, detail: Detail, want: Content) -> Detail | None:
    """The detail if the wanted date is the day on which the message was said, which the message does not name.

    None if something else is wanted, too, or if the message has no time of its own.
    """
    day = messages.dated.get(detail.message_id)
    if day is None or want.words or want.numbers or not want.dates or detail.support >= SUPPORTED:
        return None
    if not all(same_days(days, Interval(day, day)) for days in want.dates):
        return None
    core = Content({}, frozenset(), want.dates)
    return replace(detail, core=core, support=1.0, literal=True, is_implied=True, reference=day)


def details_by_message(messages: Messages, failure: Failure, ids: Iterable[str], want: Content) -> list[Detail]:
    """One detail, as by ``best_detail``, for each message with a sentence that states the wanted content."""
    want_in = messages.sought(want)
    may_have = want_in.may_have(SUPPORTED)
    gists = {one: messages.gist(one) for one in ids}
    able = [one for one, gist in gists.items() if may_have(gist) and want_in.most(gist) >= SUPPORTED]
    details = [best_detail(messages, failure, [one], want, least=SUPPORTED) for one in able]
    return [one for one in details if one is not None]


def share_in_one_message(messages: Messages, evidence: Sequence[str], want: Content) -> float:
    """The largest share of the wanted content that one message has, 0 to 1; 0 if a date is wanted."""
    if want.dates or not want.weight:
        return 0.0
    want_in = messages.sought(want)
    bits_of = [[want_in.bits(placed.sentence) for placed in messages.sentences.get(one, [])] for one in evidence]
    return max((want_in.worth(reduce(or_, bits, 0)) for bits in bits_of), default=0.0) / want.weight


def share_in_one_sentence(messages: Messages, evidence: Sequence[str], want: Content) -> float:
    """The largest share of the wanted content that one sentence has, 0 to 1."""
    want_in = messages.sought(want)
    return max((want_in.share(one) for message in evidence for one in messages.sentences.get(message, [])), default=0.0)


def is_about(messages: Messages, failure: Failure, detail: Detail) -> bool:
    """Whether a detail's sentence has all of the wanted content and is on the question's topic."""
    asked = messages.asked(failure)
    return detail.support >= _WHOLLY and share_found(asked, Placed(0, detail.sentence, detail.reference)) >= _ABOUT


def without_gold(messages: Messages, failure: Failure, evidence: Sequence[str]) -> Detail | None:
    """The detail without gold answers: what the sentence nearest to the question says beyond the question.

    A question for a time needs the sentence's dates, and a question for an amount its numbers, if there are any.
    """
    asked = messages.asked(failure)
    best = -1.0
    chosen: tuple[str, Placed] | None = None
    for message_id in evidence:
        for placed in messages.statements(message_id):
            score = round(share_found(asked, placed), 6)
            if score > best:
                best, chosen = score, (message_id, placed)
    if chosen is None:
        return None
    said = content(chosen[1].sentence.text, messages.rarity, chosen[1].reference)
    core = said.without(asked.words, asked.numbers)
    if asks_for_time(failure.question) and core.dates:
        core = Content({}, frozenset(), core.dates)
    elif asks_for_number(failure.question) and core.numbers:
        core = Content({}, core.numbers, ())
    elif core.words:
        core = Content(core.words, core.numbers, ())
    return _detail(messages, chosen, asked, core, best, False)


def support_of_answer(
    messages: Messages, failure: Failure, evidence: Sequence[str], reference: int | None
) -> tuple[float, str, str]:
    """The share of the given answer that a sentence states (0 to 1), with the message and the sentence."""
    said = messages.claim(failure, reference)
    said_in = messages.sought(said)
    best = (0.0, "", "")
    for message_id in evidence:
        for placed in messages.sentences.get(message_id, []):
            share = said_in.share(placed)
            score = max(share, min(1.0, share * said.weight / _TELLING))
            if score > best[0]:
                best = (score, message_id, placed.sentence.text)
    return best


def _detail(
    messages: Messages, chosen: tuple[str, Placed], asked: Content, core: Content, support: float, literal: bool
) -> Detail:
    message_id, placed = chosen
    said = placed.sentence.text
    if not placed.sentence.stems:  # "It is on 3 May." goes on about what was said before
        before = [one.sentence for one in messages.sentences[message_id] if one.start < placed.start]
        said = next((one.text for one in reversed(before) if one.stems), said)
    about = {
        stem: weight
        for words in (content(said, messages.rarity).words, asked.words)
        for stem, weight in words.items()
        if stem not in core.words
    }
    unique = messages.is_unique(placed.sentence)
    return Detail(message_id, core, about, placed.sentence, placed.reference, support, unique, literal, messages.rarity)


def _held(want: Content, placed: Placed) -> Content:
    """The part of the wanted content that a sentence has."""
    one = placed.sentence
    return Content(
        {stem: weight for stem, weight in want.words.items() if credit_in(stem, one)},
        want.numbers & one.numbers,
        tuple(days for days in want.dates if names_days(one, days, placed.reference)),
    )
