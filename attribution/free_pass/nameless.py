"""Memory units without the name of their speaker: "the user adopted a greyhound" may be about either speaker."""

from __future__ import annotations

from collections.abc import Mapping

from attribution.free_pass.needs import TriedFailure
from attribution.free_pass.other_subject import asked_speaker
from attribution.needed.content import share_found
from attribution.needed.presence import Detail
from attribution.text.said import said
from attribution.text.segments import passage
from attribution.text.tokens import tokens
from schema.kinds import STORED

_WHOLLY = 0.9
_MOST = 100
"""The most memory units that are compared."""
_SHOWN = 80
"""Characters of a quoted unit."""


async def nameless(tried: TriedFailure, needed: Detail) -> str:
    """The unit, shortened, that a model could not tell from another speaker's; empty if there is none.

    The question names a speaker. The unit from this speaker's message does not, and another speaker's unit, which
    names nobody either, tells the given answer.
    """
    graph, messages, failure = tried.graph, tried.messages, tried.failure
    owner = asked_speaker(messages, failure.question)
    if owner is None or messages.speakers.get(needed.message_id) != owner:
        return ""
    past = graph.past([failure.answer_id or ""])
    units = [one for one in past if graph.variables[one].kind in STORED]
    if len(units) > _MOST:
        return ""
    texts = await graph.texts(units)
    makers = {one: graph.past([one]) for one in units}
    own = [texts[one] for one in units if needed.message_id in makers[one]]
    if not own or any(_names(text, messages.speakers) for text in own):
        return ""
    claim = messages.claim(failure, needed.reference)
    for one in units:
        speakers = {messages.speakers[source] for source in makers[one] if source in messages.speakers}
        is_others = bool(speakers) and owner not in speakers and not _names(texts[one], messages.speakers)
        if is_others and any(share_found(claim, placed) >= _WHOLLY for placed in passage(texts[one])):
            return said(own[0], _SHOWN)
    return ""


def _names(text: str, speakers: Mapping[str, str]) -> bool:
    """Whether a text names any speaker."""
    words = {one.word for one in tokens(text)}
    names = ({one.word for one in tokens(name)} for name in set(speakers.values()))
    return any(name and name <= words for name in names)
