"""How likely an answer says what a gold answer says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from attribution.needed.content import Content, content
from attribution.needed.evidence_sentences import content_of_gold
from attribution.needed.gold_agreement import Agreement, agreement, is_narrowed, measures_alike
from attribution.needed.messages import Messages
from attribution.needed.more_than_gold import gives_more
from attribution.needed.optional_parts import without_brackets
from attribution.needed.other_names import names_another
from attribution.needed.other_role import Role, role
from attribution.needed.pieces import gold_items, listed_items
from attribution.needed.question import polar, polarity
from attribution.needed.told_numbers import told_numbers
from attribution.text.lexicon import is_common_word
from attribution.verdicts.probabilities import likely
from schema.models import Failure

AGREES = 0.55
"""An answer is right if it has at least this share of the gold answer, by weight of words."""
_CONTRADICTED = 0.02
"""The likelihood that an answer is right which contradicts the gold answer."""
_NEARLY = 0.7
"""The largest share of the gold answer that an answer has whose related words count."""
_WITHOUT_NUMBER = 0.58
"""The largest share of a gold answer with a number, such as an address, that an answer without any number has."""
_REPLACED = 0.2
"""The likelihood that an answer is right which has another word of the evidence for a word of the gold answer."""
_OF_ROLE = {Role.OWN: 1.0, Role.UNSURE: 0.65, Role.OTHER: 0.3}
"""The largest likelihood that an answer is right, by how it has the name of the gold answer."""
_IN_PART = 0.65
"""The largest likelihood that an answer is right which lacks what a gold answer adds in brackets, or gives more."""
_NARROWED = 0.3
"""The likelihood that an answer is right which names the wanted thing with a word of its own, as ``cork oak``."""


def says_gold(messages: Messages, failure: Failure, evidence: Sequence[str], want: Content) -> float:
    """The likelihood that the answer says what one of the gold answers says.

    Args:
        messages: of the trace.
        failure: question and answers.
        evidence: ids of messages.
        want: content of the gold answers.
    """
    if _names_another_measure(messages, failure):
        return _CONTRADICTED
    found = max(_says(messages, one, evidence, told) for one, told in each_gold(messages, failure, want))
    if found < _IN_PART:
        found = max(found, min(_IN_PART, _says_in_part(messages, failure, evidence)))
    if found > _IN_PART and gives_more(failure.gold_answers, failure.prediction or "", failure.question):
        found = _IN_PART
    return min(found, _OF_ROLE[role(failure.gold_answers, failure.prediction or "", failure.question)])


def _says_in_part(messages: Messages, failure: Failure, evidence: Sequence[str]) -> float:
    """The likelihood that the answer says a gold answer without what the gold answer adds in brackets."""
    asked, best = frozenset(messages.asked(failure).words), 0.0
    for gold in failure.gold_answers:
        short = without_brackets(gold, failure.question)
        if short is None:
            continue
        whole = content_of_gold(messages, replace(failure, gold_answers=(gold,)))
        if agreement(whole, failure.prediction or "", (gold,), asked, failure.question).conflicts:
            continue
        one = replace(failure, gold_answers=(short,))
        want = content_of_gold(messages, one)
        if want.words.keys() - asked or want.numbers or want.dates:
            best = max(best, _says(messages, one, evidence, want))
    return best


def _names_another_measure(messages: Messages, failure: Failure) -> bool:
    """Whether the answer names another amount or time than one of the gold answers, and the same as none of them.

    All gold answers mean the same. So an answer that contradicts one of them is wrong, although another may be written
    in a way that can't be compared.
    """
    asked = frozenset(messages.asked(failure).words)
    alike = {measures_alike([gold], failure.prediction or "", asked) for gold in failure.gold_answers}
    return False in alike and True not in alike


def each_gold(messages: Messages, failure: Failure, want: Content) -> list[tuple[Failure, Content]]:
    """The failure with each gold answer alone, and the content: an answer need not have the words of all of them.

    A gold answer that says nothing beyond the question is left out, because any answer may repeat the question.
    """
    if len(failure.gold_answers) < 2:
        return [(failure, want)]
    asked = messages.asked(failure).words.keys()
    found = []
    for gold in failure.gold_answers:
        one = replace(failure, gold_answers=(gold,))
        told = content_of_gold(messages, one)
        if polarity(gold) is not None or told.words.keys() - asked or told.numbers or told.dates:
            found.append((one, told))
    return found or [(failure, want)]


def _says(messages: Messages, failure: Failure, evidence: Sequence[str], want: Content) -> float:
    """The likelihood that the answer says what the gold answer says.

    Args:
        messages: of the trace.
        failure: question and answer, and one gold answer.
        evidence: ids of messages.
        want: content of the gold answer.
    """
    asked = frozenset(messages.asked(failure).words)
    agreed = agreement(want, failure.prediction or "", failure.gold_answers, asked, failure.question)
    # A shorter list must state each item of the gold answer: it may lack an item though it has most of the words. A
    # list of equal length may paraphrase an item.
    named = gold_items(failure) if polar(failure.gold_answers) is None else []
    named = named if len(listed_items(failure.prediction or "")) < len(named) and not agreed.is_measure else []
    recall = agreed.recall
    for item in named:
        if not recall:
            break
        part = content(item, messages.rarity).without(asked)
        if part.weight:
            recall = min(recall, agreement(part, failure.prediction or "", asked=asked).recall)
    recall = recall if agreed.is_proven else min(recall, _NEARLY)
    if want.words and want.numbers and not (agreed.is_measure or _has_number(failure, want)):
        recall = min(recall, _WITHOUT_NUMBER)
    is_other = agreed.conflicts or names_another(failure.gold_answers, failure.prediction or "")
    likelihood = _CONTRADICTED if is_other else likely(recall, AGREES)
    known = asked | _stems(messages, evidence or messages.ids)
    if not agreed.is_measure and is_narrowed(want, failure.prediction or "", tuple(sorted(known))):
        likelihood = min(likelihood, _NARROWED)
    return min(likelihood, _REPLACED) if is_replaced(messages, evidence, agreed) else likelihood


def _has_number(failure: Failure, want: Content) -> bool:
    """Whether the answer has any number, also in words that only some languages use for numbers."""
    counted = told_numbers(want.numbers, failure.gold_answers, failure.prediction or "")
    return bool(counted.said or counted.same or counted.named)


def is_replaced(messages: Messages, evidence: Sequence[str], agreed: Agreement) -> bool:
    """Whether the answer has a word of the evidence in the place of the gold answer's word, which no evidence has.

    English words are compared by their senses. Of words of other languages, and of names, the evidence says which is
    meant: ``under the jasmine``, and not ``under the geranium``.
    """
    missing = {one for one in agreed.missing if not is_common_word(one)}
    beside = {one for one in agreed.beside if not is_common_word(one)}
    if agreed.is_measure or not missing or not beside:
        return False
    told = [set(placed.sentence.stems) for one in evidence for placed in messages.sentences[one]]
    return any(beside & stems for stems in told) and not any(missing & stems for stems in told)


def _stems(messages: Messages, ids: Sequence[str]) -> frozenset[str]:
    return frozenset(stem for one in ids for placed in messages.sentences[one] for stem in placed.sentence.stems)
