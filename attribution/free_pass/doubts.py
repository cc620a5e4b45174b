"""What may excuse the answer: then a verdict that trusts the gold answer is less sure, and its reason says why."""

from __future__ import annotations

from attribution.free_pass.needs import TriedFailure
from attribution.free_pass.other_words import may_say_the_same
from attribution.free_pass.rules import Finding
from attribution.needed.content import share_found
from attribution.needed.exclusion import excludes
from attribution.needed.messages import is_known
from attribution.needed.presence import Detail
from attribution.text.refusals import refuses
from attribution.text.said import said as named
from schema.kinds import NOT_THE_MEMORY, ErrorType

_WHOLLY = 0.9
"""A sentence tells the given answer if it has at least this share of the answer's own words."""
_ABOUT = 0.5
"""A sentence is on the topic if it has at least this share of the question's words that the evidence has."""
_SHOWN = 100
"""Characters of a quoted sentence."""


def doubt_of(tried: TriedFailure, finding: Finding, needed: Detail | None) -> str:
    """The words that follow the reason of a finding if the answer may be as right as the gold answer; else empty.

    Args:
        tried: the failure.
        finding: the chosen finding.
        needed: what the answer needed; None if that is not known.
    """
    if finding.error_type is ErrorType.RESPONSE and may_say_the_same(tried, needed):
        return "; unless the answer says the same in other words"
    if finding.error_type not in NOT_THE_MEMORY and (later := _told_later(tried, needed)):
        return f"; unless a later message made the gold answer out of date: “{named(later, _SHOWN)}”"
    return ""


def _told_later(tried: TriedFailure, needed: Detail | None) -> str:
    """The later sentence of the same speaker that tells the given answer on the same topic; empty if there is none.

    Such a sentence may correct the sentence with the gold answer, or tell of a similar thing. Words alone do not say
    which, so a verdict that trusts the gold answer is less sure. ``premises.outdated`` finds corrections that say so.

    Args:
        tried: the failure.
        needed: what the answer needed; None if that is not known.
    """
    failure, messages, said = tried.failure, tried.messages, tried.failure.prediction or ""
    if needed is None or tried.gold is None or refuses(said):
        return ""
    claim = messages.claim(failure, None)
    if not claim.weight or not excludes(failure, tried.gold, claim):
        return ""
    topic = messages.asked(failure).words.keys() & set(needed.sentence.stems)
    known, speaker = is_known(tried.graph, failure), messages.speakers.get(needed.message_id)
    for message in messages.following(needed.message_id, len(messages.ids)):
        if not known(message) or messages.speakers.get(message) != speaker:
            continue
        for placed in messages.statements(message):
            common = topic & set(placed.sentence.stems)
            if common and len(common) >= _ABOUT * len(topic) and share_found(claim, placed) >= _WHOLLY:
                return placed.sentence.text.strip()
    return ""
