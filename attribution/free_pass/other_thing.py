"""Gold answers that are told of another thing or person than the question names, beside the given answer.

They are wrong if a sentence tells the given answer of all that the question names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise

from attribution.free_pass import proof_path as proof
from attribution.free_pass.other_subject import asked_speaker, can_be_right
from attribution.free_pass.premises import CHANGE, names_relative
from attribution.free_pass.rules import Finding
from attribution.needed.content import Content, Rarity, content, share_found
from attribution.needed.messages import Messages
from attribution.needed.presence import Detail
from attribution.needed.question import is_question
from attribution.text.languages import is_function_word
from attribution.text.segments import Placed
from attribution.text.tokens import tokens
from attribution.text.weekdays import weekdays
from attribution.text.word_forms import may_be_form
from schema.kinds import ErrorType
from schema.models import Failure

_PLAIN = Rarity(())
_WHOLLY = 0.9
_SURE, _LIKELY = 0.85, 0.7
"""Likelihoods: if one sentence tells both answers, and if two sentences do: others may tell more."""
_FEWEST = 2
"""The minimal number of words by which a question names a thing."""
_CLAUSE = re.compile(
    r"[,;:—–]\s+|(?<!\s)\s+(?:while|whereas|but|während|aber|mientras|pero|tandis\s+que|mais|mentre|ma|mas)\s+"
)

_AND = re.compile(r"(?:[,;:—–]\s+|(?<!\s)\s+)(?:and|while|whereas|but)\s+|[,;:—–]\s+")
_MAY_BE_IT = frozenset(
    {"it", "its", "them", "they", "their", "this", "that", "these", "those", "one", "ones"}
    | {"another", "other", "others", "same", "too", "also", "both"}
)
"""Words of a clause that may stand for the thing of the clause before."""


def other_thing(
    messages: Messages, failure: Failure, detail: Detail, gold: Content, is_known: Callable[[str], bool]
) -> Finding | None:
    """A sentence tells the given answer of all that the question names; the gold answer's sentence lacks some of it.

    ``The new cask`` and ``the old cask`` have most words in common. Only for evidence that nobody named.
    """
    if not detail.literal or not can_be_right(messages, failure, gold):
        return None
    told = {one: [p for p in messages.statements(one) if not is_question(p.sentence.text)] for one in messages.ids}
    said = {stem for some in told.values() for placed in some for stem in placed.sentence.stems}
    asked = {one for one in messages.asked(failure).words.keys() & said if not is_function_word(one)}
    claim, owner = messages.claim(failure, detail.reference), asked_speaker(messages, failure.question)
    told = {
        one: some for one, some in told.items() if is_known(one) and not _is_taken_back(messages, one, detail, claim)
    }
    if (found := _of_other_number(told, failure, detail, gold, claim)) is not None:
        return found
    if len(asked) < _FEWEST or asked <= set(detail.sentence.stems):
        return None
    for message, some in told.items():
        if owner is not None and messages.speakers.get(message) not in {owner, None}:
            continue
        for placed in some:
            stems = set(placed.sentence.stems)
            is_told = asked <= stems and share_found(claim, placed) >= _WHOLLY
            if is_told and not share_found(gold, placed):
                reason = (
                    "a message tells the given answer of all that the question names, and the gold answer of another"
                )
                return _wrong(message, placed.sentence.text.strip(), reason, _LIKELY)
    return None


def _is_taken_back(messages: Messages, message_id: str, detail: Detail, claim: Content) -> bool:
    """Whether the message with the gold answer is later than a message, and tells a change: ``now she has it``.

    A later sentence with both answers chooses between them: ``in Ghent, no longer in Bruges``.
    """
    is_later = messages.place[detail.message_id] > messages.place[message_id]
    has_both = bool(claim.words) and claim.words.keys() <= set(detail.sentence.stems)
    return is_later and (has_both or CHANGE.search(messages.texts[detail.message_id]) is not None)


def _of_other_number(
    told: Mapping[str, Sequence[Placed]], failure: Failure, detail: Detail, gold: Content, claim: Content
) -> Finding | None:
    """The question asks about a thing with a number, and the gold answer is told of such a thing with another number.

    ``Which wine is in cask 5?`` A sentence tells the given answer of ``cask 5``, and the gold answer's of ``cask 3``.
    """
    asked = _numbered(failure.question)
    for noun, numbers in _numbered(detail.sentence.text).items():
        wanted = {number for word, some in asked.items() if may_be_form(word, noun) for number in some}
        if not wanted or not wanted.isdisjoint(numbers):
            continue
        for message, some in told.items():
            for placed in some:
                is_of_it = wanted <= _numbered(placed.sentence.text).get(noun, set())
                if is_of_it and share_found(claim, placed) >= _WHOLLY and not share_found(gold, placed):
                    reason = "a message tells the given answer of what is asked about, and the gold answer of another"
                    return _wrong(message, placed.sentence.text.strip(), reason, _LIKELY)
    return None


def _numbered(text: str) -> dict[str, set[str]]:
    """The words of a text that a number follows directly, each with its numbers: ``cask 5``."""
    found: dict[str, set[str]] = {}
    for noun, number in pairwise(tokens(text)):
        if (
            noun.carries
            and noun.word.isalpha()
            and number.word.isdigit()
            and text[noun.end : number.start] in {" ", "\u00a0"}
        ):
            found.setdefault(noun.word, set()).add(number.word)
    return found


def in_other_clause(messages: Messages, failure: Failure, detail: Detail, gold: Content) -> Finding | None:
    """One sentence tells the given answer of what the question names, and the gold answer of another thing or person.

    ``I play the accordion in the evenings, my sister has the concertina.``
    """
    if not detail.literal or not can_be_right(messages, failure, gold):
        return None
    text = detail.sentence.text
    parts = [part for part in _CLAUSE.split(text) if part.strip()]
    claim, asked = messages.claim(failure, detail.reference), set(messages.asked(failure).words)
    common = asked & set(detail.sentence.stems)
    told = [part for part in parts if _has(part, claim) and common <= _stems(part) and not _has(part, gold)]
    others = [part for part in parts if _has(part, gold) and common.isdisjoint(_stems(part)) and not _has(part, claim)]
    if len(common) < _FEWEST:
        return None
    if _are_parallel(text, common, claim, gold):
        reason = "the evidence tells the given answer of what is asked about, and the gold answer of another thing"
        return _wrong(detail.message_id, text.strip(), reason, _LIKELY)
    if not told or not others:
        return None
    if any(names_relative(part, failure.question) for part in others):
        reason = "the evidence tells the given answer of the asked person, and the gold answer of another"
        return _wrong(detail.message_id, text.strip(), reason, _SURE)
    if not all(_names_own(part, gold) for part in others):
        return None  # "on Mondays, and on Fridays as well"
    reason = "the evidence tells the given answer of what is asked about, and the gold answer of another thing"
    return _wrong(detail.message_id, text.strip(), reason, _LIKELY)


def _are_parallel(text: str, common: set[str], claim: Content, gold: Content) -> bool:
    """Whether two clauses say the like of two things: ``Maarit brings the stove and Aino brings the pots``.

    The clause with the given answer has all that the question names. The clause with the gold answer has a part of it,
    and a word of its own in the place of the rest. Both answers stand on the same side of what the clauses share.
    """
    parts = [part for part in _AND.split(text) if part.strip()]
    told = [part for part in parts if _has(part, claim) and common <= _stems(part) and not _has(part, gold)]
    others = [part for part in parts if _has(part, gold) and not common <= _stems(part) and not _has(part, claim)]
    for one in told:
        for other in others:
            shared = common & _stems(other)
            own = {word.stem for word in tokens(other) if word.carries and not is_function_word(word.word)}
            own -= common | gold.words.keys()
            is_own = bool(own) and not any(weekdays(word.word) for word in tokens(other))
            if (
                shared
                and is_own
                and _MAY_BE_IT.isdisjoint(word.word for word in tokens(other))
                and _is_before(one, claim, shared) == _is_before(other, gold, shared)
            ):
                return True
    return False


def _is_before(part: str, answer: Content, shared: set[str]) -> bool:
    """Whether the words of an answer begin before the words that two clauses share."""
    stems = [one.stem for one in tokens(part)]
    first = min((place for place, stem in enumerate(stems) if stem in answer.words), default=0)
    return first < min(place for place, stem in enumerate(stems) if stem in shared)


def _names_own(part: str, gold: Content) -> bool:
    """Whether a clause names a thing of its own beside the gold answer: its first word of meaning is of that thing."""
    first = next((one for one in tokens(part) if one.carries and not is_function_word(one.word)), None)
    return first is not None and first.stem not in gold.words and first.word.isalpha() and not weekdays(first.word)


def _has(part: str, wanted: Content) -> bool:
    return wanted.words.keys() <= _stems(part) and wanted.numbers <= content(part, _PLAIN).numbers


def _stems(part: str) -> set[str]:
    return {one.stem for one in tokens(part)}


def _wrong(message_id: str, quote: str, reason: str, likelihood: float) -> Finding:
    prove = partial(proof.of_message, message_id, quote)
    return Finding(ErrorType.ANNOTATION, None, likelihood, reason, prove, is_local=True)
