"""Gold answers that are told of another person than the question asks about.

They are wrong if messages tell the given answer of the asked person.
"""

from __future__ import annotations

from collections.abc import Callable

from attribution.free_pass import proof_path as proof
from attribution.free_pass.premises import wrong_gold
from attribution.free_pass.rules import Finding
from attribution.needed.content import Content, share_found
from attribution.needed.exclusion import excludes
from attribution.needed.messages import Messages
from attribution.needed.presence import Detail
from attribution.text.persons import FIRST_PERSON
from attribution.text.refusals import refuses
from attribution.text.segments import Placed
from attribution.text.tokens import tokens
from attribution.trace.graph import TraceGraph
from schema.kinds import ErrorType
from schema.models import Failure

_WHOLLY = 0.9
_LIKELY = 0.9
_FRAME = 2
"""The minimal number of words that two sentences have in common which tell the same of two people."""
_GENITIVES = ("s", "'s", "’s", "'", "’")


def asked_speaker(messages: Messages, question: str) -> str | None:
    """The only speaker whom a question names, also in the genitive; None if it names none or several."""
    words = {one.word for one in tokens(question)}
    forms = words | {word.removesuffix(ending) for word in words for ending in _GENITIVES}
    names = {one: {token.word for token in tokens(one)} for one in set(messages.speakers.values())}
    named = {one for one, parts in names.items() if parts and parts <= forms}
    return next(iter(named)) if len(named) == 1 else None


def other_speaker(
    messages: Messages, failure: Failure, detail: Detail, gold: Content, is_known: Callable[[str], bool]
) -> Finding | None:
    """The speaker of the gold answer tells of an own thing, and the asked speaker gives the answer of such a thing.

    If the sentence with the gold answer says nothing of the question, the asked speaker's sentence must say all of it.
    """
    owner = asked_speaker(messages, failure.question)
    if owner is None or not _is_others(messages, detail, owner) or not can_be_right(messages, failure, gold):
        return None
    asked = set(messages.asked(failure).words) - messages.names
    thing = (asked & set(detail.sentence.stems)) or (asked if len(asked) >= _FRAME else set())
    claim = messages.claim(failure, detail.reference)
    own = [one for one in messages.ids if messages.speakers.get(one) == owner and is_known(one)]
    for message in own if thing else ():
        for placed in messages.statements(message):
            said = placed.sentence
            if thing <= set(said.stems) and FIRST_PERSON.search(said.text) and share_found(claim, placed) >= _WHOLLY:
                reason = "the question asks about a thing of one person, which the evidence says to be another's"
                return wrong_gold(detail.message_id, detail.quote, reason)
    return None


def other_name(
    messages: Messages, failure: Failure, detail: Detail, gold: Content, is_known: Callable[[str], bool]
) -> Finding | None:
    """Two sentences tell the same of two people: of the asked person the given answer, of another the gold answer."""
    if not detail.literal or not can_be_right(messages, failure, gold):
        return None
    claim = messages.claim(failure, detail.reference)
    names = _names(failure.question) - _names(" ".join(failure.gold_answers))
    other = _frame(detail.sentence.text, gold)
    foreign = other.keys() - names
    if not names or not names.isdisjoint(other) or not foreign:
        return None
    for message in messages.ids if any(other[one] for one in foreign) else ():
        if not is_known(message):
            continue
        for placed in messages.statements(message):
            mine = _frame(placed.sentence.text, claim)
            asked = mine.keys() & names
            # Each sentence has one name that the other lacks; all other words but the two answers are the same.
            left, right = mine.keys() - asked, {one for one in other if not other[one]}
            swapped = {one for one in foreign if other[one]}
            if (
                len(asked) == 1
                and len(swapped) == 1
                and len(left) >= _FRAME
                and left == right
                and share_found(claim, placed) >= _WHOLLY
            ):
                reason = "the message with the gold answer tells it of another than the question asks about"
                return wrong_gold(detail.message_id, detail.quote, reason)
    return None


def taken_over(graph: TraceGraph, messages: Messages, failure: Failure, detail: Detail) -> Finding | None:
    """Without a gold answer: the answer gives a thing to the asked speaker that another speaker tells as an own one."""
    owner = asked_speaker(messages, failure.question)
    said = failure.prediction or ""
    if owner is None or not said or refuses(said) or not _is_others(messages, detail, owner):
        return None
    if share_found(messages.claim(failure, detail.reference), Placed(0, detail.sentence, detail.reference)) < _WHOLLY:
        return None
    answer = graph.reply(failure.answer_id or "")
    if detail.message_id not in graph.past([answer.id]):
        return None
    reason = "the question asks about a thing of one person, and the answer tells what another says of an own one"
    return Finding(
        ErrorType.RESPONSE,
        answer.operation_id,
        _LIKELY,
        reason,
        lambda: proof.of_message_to_answer(graph, failure, detail.message_id, detail.quote),
        is_local=True,
    )


def _is_others(messages: Messages, detail: Detail, owner: str) -> bool:
    """Whether another speaker than the owner tells a detail of themselves."""
    sayer = messages.speakers.get(detail.message_id)
    return sayer is not None and sayer != owner and bool(FIRST_PERSON.search(messages.texts[detail.message_id]))


def can_be_right(messages: Messages, failure: Failure, gold: Content) -> bool:
    """Whether the given answer says something else than the gold answer."""
    said = failure.prediction or ""
    claim = messages.claim(failure, None)
    if not claim.weight or refuses(said):
        return False
    return excludes(failure, gold, claim) or claim.words.keys().isdisjoint(gold.words)


def _names(text: str) -> set[str]:
    """The stems of the words of a text with a capital letter, without the first word of a sentence."""
    found = tokens(text)
    return {one.stem for one in found[1:] if one.carries and text[one.start].isupper()}


def _frame(text: str, told: Content) -> dict[str, bool]:
    """The stems of a sentence without what it tells, each with whether it is written with a capital letter."""
    return {one.stem: text[one.start].isupper() for one in tokens(text) if one.carries and one.stem not in told.words}
