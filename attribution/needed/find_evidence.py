"""Searching for the evidence of a failure that names none: for each thing that the answer needs, a message of its own.

What is said in a conversation is about what was said just before it: who answers a question does not repeat it. So a
message counts as about what it and the two before it say, and those that follow a likely one are looked at too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from attribution.needed.content import Content, credit_in, found
from attribution.needed.evidence_sentences import telling, wanted
from attribution.needed.messages import Messages, Mode
from attribution.needed.pieces import items
from attribution.needed.question import Form, form
from attribution.text.tokens import tokens
from schema.models import Failure

_BEFORE = 2
"""Messages before one that tell what it is about."""
_PASSED_ON = 0.8
"""What counts that only they say."""
_FOLLOWED = 5
"""Messages most about the question, of which those that follow are looked at too."""
_GIVEN = 0.7
"""What an answer that was given counts beside a gold answer."""
_THEIRS = 0.2
"""What it counts that a message is from somebody whom the question names: people tell of themselves."""
_RANK = 0.01
"""What a message loses for each place that it comes later in the search by words."""

IsKnown = Callable[[str], bool]


async def likeliest(
    messages: Messages, failure: Failure, retrieved: Sequence[str], is_known: IsKnown, *, gold_free: bool = False
) -> list[str]:
    """The messages that are most likely the evidence of a failure.

    A list has one for each item that some message tells, and a question about several people one of each; a long reply
    has none, for its sentences are looked for one by one (see ``attribution.needed.pieces.rested_on``).

    Args:
        messages: of the trace.
        failure: whose evidence is wanted.
        retrieved: the messages that share most words with the question and the gold answer, best first.
        is_known: tells messages that were there when the question was answered.
        gold_free: do without the gold answers.
    """
    kind = form(failure)
    if gold_free:
        return await _best(messages, failure, None, retrieved, is_known)
    if kind is Form.CONVERSATIONAL:
        return []
    if kind is Form.JOINED:
        people = _asked_about(messages, failure)
        if len(people) > 1:
            return [one for name in people for one in await _said_by(messages, failure, name, is_known)]
    best = await _best(messages, failure, wanted(messages, failure), retrieved, is_known)
    told = []
    for item in items(failure) if kind is Form.PLAIN else ():
        one = replace(failure, gold_answers=(item,))
        want = wanted(messages, one)
        looked_at = await messages.retrieve(one, Mode.GOLD, len(retrieved), is_known)
        best_of_item = await _best(messages, one, want, looked_at, is_known)
        told += [detail.message_id for detail in telling(messages, one, best_of_item, want)]
    return list(dict.fromkeys([*best, *told]))


async def _best(
    messages: Messages, failure: Failure, want: Content | None, retrieved: Sequence[str], is_known: IsKnown
) -> list[str]:
    """The message that is most about the question and says an answer: the gold one, or that which was given.

    A gold answer can be the wrong one.
    """
    given = await messages.retrieve(failure, Mode.PREDICTION, len(retrieved), is_known)
    about = await messages.retrieve(failure, Mode.QUESTION, _FOLLOWED, is_known)
    following = [one for message in about for one in messages.following(message, _BEFORE) if is_known(one)]
    asked = messages.asked(failure)
    people = _asked_about(messages, failure)

    def fit(message_id: str) -> float:
        places = [placed for placed in messages.sentences[message_id] if placed.sentence.stems]
        on_topic = max((found(asked, placed) for placed in places), default=0.0)
        on_topic = max(on_topic, _PASSED_ON * _talked_of(messages, asked, message_id))
        on_topic += _THEIRS * (messages.speakers.get(message_id) in people)
        if want is None:
            return on_topic
        said = messages.claim(failure, next((placed.reference for placed in places), None))
        gold = max((found(want, placed) for placed in places), default=0.0)
        answer = max((found(said, placed) for placed in places), default=0.0)
        return on_topic + max(gold, _GIVEN * answer)

    ranked = enumerate(dict.fromkeys([*retrieved, *given, *following]))
    return [one for _, one in sorted(ranked, key=lambda item: _RANK * item[0] - fit(item[1]))[:1]]


def _talked_of(messages: Messages, asked: Content, message_id: str) -> float:
    """The part of a question that a message and those before it have together."""
    together = [*messages.preceding(message_id, _BEFORE), message_id]
    places = [placed.sentence for one in together for placed in messages.sentences[one]]
    got = sum(
        weight * max((credit_in(word, one) for one in places), default=0.0) for word, weight in asked.words.items()
    )
    return got / asked.weight if asked.weight else 0.0


def _asked_about(messages: Messages, failure: Failure) -> list[str]:
    """The speakers whom a question names."""
    names = {token.stem for token in tokens(failure.question)}
    return [one for one in sorted(set(messages.speakers.values())) if {t.stem for t in tokens(one)} & names]


async def _said_by(messages: Messages, failure: Failure, speaker: str, is_known: IsKnown) -> list[str]:
    """The likeliest evidence among what one person said."""

    def is_theirs(message_id: str) -> bool:
        return messages.speakers.get(message_id) == speaker and is_known(message_id)

    retrieved = await messages.retrieve(failure, Mode.GOLD, _FOLLOWED, is_theirs)
    return await _best(messages, failure, wanted(messages, failure), retrieved, is_theirs)
