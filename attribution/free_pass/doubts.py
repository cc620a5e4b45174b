"""What may excuse the answer: then a verdict that trusts the gold answer is less sure, and its reason says why."""

from __future__ import annotations

from attribution.free_pass.needs import TriedFailure
from attribution.free_pass.other_words import may_say_the_same
from attribution.free_pass.premises import told_later
from attribution.free_pass.rules import Finding
from attribution.needed.gold_agreement import denies
from attribution.needed.presence import Detail
from attribution.text.said import said
from attribution.text.segments import Sentence
from schema.kinds import NOT_THE_MEMORY, ErrorType

_SHOWN = 100
"""Characters of a quoted sentence."""


def doubt_of(tried: TriedFailure, finding: Finding, needed: Detail | None) -> str:
    """The words that follow the reason of a finding if the answer may be as right as the gold answer; else empty.

    Args:
        tried: the failure.
        finding: the chosen finding.
        needed: what the answer needed; None if that is not known.
    """
    # "Only cats have come up, no dog" refuses in words that are not among those of refusals.
    if tried.is_unanswerable and finding.error_type is ErrorType.RESPONSE and denies(tried.failure.prediction or ""):
        return "; unless the answer says so in other words"
    if finding.error_type is ErrorType.RESPONSE and may_say_the_same(tried, needed):
        return "; unless the answer says the same in other words"
    if needed is None or tried.gold is None or finding.error_type in NOT_THE_MEMORY:
        return ""
    for _, placed in told_later(tried.graph, tried.messages, tried.failure, needed, tried.gold):
        later = placed.sentence
        if _is_of_the_same(tried, needed, later):
            return f"; unless a later message made the gold answer out of date: “{said(later.text, _SHOWN)}”"
    return ""


def _is_of_the_same(tried: TriedFailure, needed: Detail, later: Sentence) -> bool:
    """Whether a later sentence has at least half of what question and needed fact have in common, by rarity.

    ``The code of the laundry`` shares only the frequent word with ``the code of the cellar``.
    """
    common = set(needed.sentence.stems)
    topic = {stem: weight for stem, weight in tried.messages.asked(tried.failure).words.items() if stem in common}
    return 2 * sum(topic[stem] for stem in topic.keys() & set(later.stems)) >= sum(topic.values())
