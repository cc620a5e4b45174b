"""Finds the evidence of a failure that names none: a message for each thing that the answer needs.

A message in a conversation is about what was said just before, because people don't repeat a question when they answer.
So the topic of a message includes the two messages before it, and messages that follow a likely one are candidates,
too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from attribution.needed.content import Content, credit_in, share_found
from attribution.needed.evidence_sentences import SUPPORTED, best_detail, content_of_gold, details_by_message
from attribution.needed.messages import Messages, Mode
from attribution.needed.pieces import gold_items
from attribution.needed.question import QuestionForm, form
from attribution.text.tokens import tokens
from schema.models import Failure

_BEFORE = 2
"""The number of earlier messages that belong to the topic of a message."""
_PASSED_ON = 0.8
"""Factor for the share of the question that only the earlier messages have."""
_FOLLOWED = 5
"""The number of messages nearest to the question whose followers are candidates."""
_GIVEN = 0.7
"""Factor for the share of the given answer, compared with the gold answer's."""
_THEIRS = 0.2
"""Bonus for a message by a person whom the question names, because people tell about themselves."""
_RANK = 0.01
"""Penalty for each rank in the search by words."""

IsKnown = Callable[[str], bool]


async def find_evidence(
    messages: Messages, failure: Failure, retrieved: Sequence[str], is_known: IsKnown, *, gold_free: bool = False
) -> list[str]:
    """The messages that are most likely the evidence of a failure.

    A list gets a message for each stated item, and a question about several people a message of each of them. A long
    reply gets none, because its sentences are searched one by one (see ``attribution.needed.pieces.reply_pieces``).

    Args:
        messages: of the trace.
        failure: whose evidence is wanted.
        retrieved: the messages that share most words with the question and the gold answer, best first.
        is_known: whether a message existed when the question was answered.
        gold_free: ignore the gold answers.
    """
    kind = form(failure)
    if gold_free:
        return await _best(messages, failure, None, retrieved, is_known)
    if kind is QuestionForm.CONVERSATIONAL:
        return []
    if kind is QuestionForm.JOINED:
        people = _asked_about(messages, failure)
        if len(people) > 1:
            return [one for name in people for one in await _said_by(messages, failure, name, is_known)]
    best = await _best(messages, failure, content_of_gold(messages, failure), retrieved, is_known)
    told = []
    for item in gold_items(failure) if kind is QuestionForm.PLAIN else ():
        one = replace(failure, gold_answers=(item,))
        want = content_of_gold(messages, one)
        looked_at = await messages.retrieve(one, Mode.GOLD, len(retrieved), is_known)
        best_of_item = await _best(messages, one, want, looked_at, is_known)
        told += [detail.message_id for detail in details_by_message(messages, one, best_of_item, want)]
    return list(dict.fromkeys([*best, *told]))


def states_it_itself(messages: Messages, failure: Failure, evidence: Sequence[str]) -> bool:
    """Whether no evidence states the right answer, and a sentence of the user's question does that is no question.

    A message may tell something and ask for something at once.
    """
    if form(failure) is not QuestionForm.PLAIN or failure.question_id not in messages.sentences:
        return False
    want = content_of_gold(messages, failure)
    own = best_detail(messages, failure, [failure.question_id], want, may_ask=False, least=SUPPORTED)
    return own is not None and not details_by_message(messages, failure, evidence, want)


async def _best(
    messages: Messages, failure: Failure, want: Content | None, retrieved: Sequence[str], is_known: IsKnown
) -> list[str]:
    """The message that is nearest to the question and states an answer: the gold answer, or the given one.

    The given answer counts, too, because a gold answer can be wrong.
    """
    given = await messages.retrieve(failure, Mode.PREDICTION, len(retrieved), is_known)
    about = await messages.retrieve(failure, Mode.QUESTION, _FOLLOWED, is_known)
    following = [one for message in about for one in messages.following(message, _BEFORE) if is_known(one)]
    asked = messages.asked(failure)
    people = _asked_about(messages, failure)

    def fit(message_id: str) -> float:
        places = [placed for placed in messages.sentences[message_id] if placed.sentence.has_content]
        on_topic = max((share_found(asked, placed) for placed in places), default=0.0)
        on_topic = max(on_topic, _PASSED_ON * _talked_of(messages, asked, message_id))
        on_topic += _THEIRS * (messages.speakers.get(message_id) in people)
        if want is None:
            return on_topic
        said = messages.claim(failure, next((placed.reference for placed in places), None))
        gold = max((share_found(want, placed) for placed in places), default=0.0)
        answer = max((share_found(said, placed) for placed in places), default=0.0)
        return on_topic + max(gold, _GIVEN * answer)

    ranked = enumerate(dict.fromkeys([*retrieved, *given, *following]))
    return [one for _, one in sorted(ranked, key=lambda item: _RANK * item[0] - fit(item[1]))[:1]]


def _talked_of(messages: Messages, asked: Content, message_id: str) -> float:
    """The share of the question that a message and the messages before it have together."""
    together = [*messages.preceding(message_id, _BEFORE), message_id]
    places = [placed.sentence for one in together for placed in messages.sentences[one]]
    got = sum(
        weight * max((credit_in(word, one) for one in places), default=0.0) for word, weight in asked.words.items()
    )
    return got / asked.weight if asked.weight else 0.0


def _asked_about(messages: Messages, failure: Failure) -> list[str]:
    """The speakers named by a question."""
    names = {token.stem for token in tokens(failure.question)}
    return [one for one in sorted(set(messages.speakers.values())) if {t.stem for t in tokens(one)} & names]


async def _said_by(messages: Messages, failure: Failure, speaker: str, is_known: IsKnown) -> list[str]:
    """The likeliest evidence among the messages of one person."""

    def is_theirs(message_id: str) -> bool:
        return messages.speakers.get(message_id) == speaker and is_known(message_id)

    retrieved = await messages.retrieve(failure, Mode.GOLD, _FOLLOWED, is_theirs)
    return await _best(messages, failure, content_of_gold(messages, failure), retrieved, is_theirs)
