"""Questions that give somebody's thing to somebody else: what one says of theirs is no answer about another's."""

from __future__ import annotations

import re
from functools import partial

from attribution.free_pass import proof_path as proof
from attribution.free_pass.rules import Finding
from attribution.needed.messages import Messages
from attribution.needed.presence import Detail
from attribution.text.tokens import Token, tokens
from schema.kinds import ErrorType
from schema.models import Failure

_OWNER = re.compile(r"\b([^\W\d_]+)['’]s\s+")
_OWN = frozenset({"my", "our", "mein", "meine", "meinen", "meinem", "meiner", "unser", "unsere"})
_LIKELY = 0.9
_FEWEST = 2
"""Words of a thing's name that tell it from others of its kind: anybody may have a sister, or a bowl."""


def wrong_person(messages: Messages, failure: Failure, detail: Detail) -> Finding | None:
    """The question gives a thing to one person that the message with the gold answer says to be its own sayer's.

    The person who is asked about never speaks of such a thing.
    """
    sayer = messages.speakers.get(detail.message_id)
    if sayer is None or not detail.literal:
        return None
    known = set(messages.speakers.values())
    for match in _OWNER.finditer(failure.question):
        owner = match[1].casefold()
        if owner == sayer or owner not in known:
            continue
        thing = tokens(failure.question[match.end() :])
        own = _owned(messages.texts[detail.message_id], thing)
        if own and not any(
            _owned(text, thing) for one, text in messages.texts.items() if messages.speakers.get(one) == owner
        ):
            reason = "the question asks about a thing of one person, which the evidence says to be another's"
            prove = partial(proof.of_message, detail.message_id, own)
            return Finding(ErrorType.ANNOTATION, None, _LIKELY, reason, prove, is_local=True)
    return None


def _owned(text: str, thing: list[Token]) -> str:
    """Where a text says ``my`` and then how a thing is called, in these words; empty where it doesn't."""
    words = tokens(text)
    for number, word in enumerate(words):
        if word.word not in _OWN:
            continue
        length = 0
        for one, other in zip(words[number + 1 :], thing, strict=False):
            if one.stem != other.stem or not one.carries:
                break
            length += 1
        if length >= _FEWEST:
            return text[word.start : words[number + length].end]
    return ""
