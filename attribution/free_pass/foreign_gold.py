"""Gold answers that the evidence does not state, while it states the given answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from attribution.free_pass import proof_path as proof
from attribution.free_pass.no_contradiction import is_beside_the_amount, is_part, is_reckoned
from attribution.free_pass.rules import Finding
from attribution.free_pass.says_gold import each_gold, is_replaced
from attribution.needed.content import Content
from attribution.needed.evidence_sentences import (
    SUPPORTED,
    best_detail,
    details_by_message,
    share_in_one_message,
    share_in_one_sentence,
    support_of_answer,
)
from attribution.needed.exclusion import excludes
from attribution.needed.gold_agreement import agreement, has_code, tells_another_code
from attribution.needed.messages import Messages
from attribution.needed.pieces import is_list
from attribution.needed.presence import Detail
from attribution.needed.question import asks_for_reason
from attribution.text.refusals import refuses
from attribution.text.segments import Placed
from attribution.verdicts.probabilities import likely
from schema.kinds import ErrorType
from schema.models import Failure

SAID_INSTEAD = "the evidence says what was answered, not what the gold answer says"
"""The reason of the finding."""
_ALL = 0.9
"""The sentences of a message state the gold answer together if they have at least this share."""
_MORE = 0.1
"""A gold answer is wrong only if the evidence supports the given answer by this much more."""
_SAID = 0.3
"""The evidence must state at least this share of the given answer."""
_KEPT = 0.5
"""The answer must have at least this share of the gold answer's words that are in the evidence."""
_SAYS = 0.5
"""An answer contradicts the gold answer only if its words beyond the question have at least this weight."""
_WHOLLY, _NOTHING = 0.9, 0.1
"""The evidence states all of the given answer, and nothing like the gold answer."""
_REPLACING = 0.85
"""The likelihood of a wrong gold answer where the evidence has another word, of which no lexicon knows the sense."""
_COMMON = 12
"""Any message may have a number up to this one."""
_STATED = 0.6
"""Another message states the gold answer if a sentence has at least this share."""
_UNPROVEN = 0.25
"""The likelihood of a wrong gold answer that no message contradicts."""
_ABOUT = 0.5
"""A sentence is about the question if it has at least this share of the question."""


def foreign_gold(
    messages: Messages, failure: Failure, evidence: Sequence[str], detail: Detail, want: Content
) -> Finding:
    """The evidence states the given answer and not the gold answer, neither in one sentence nor in several."""
    likelihood, quote, message = 0.0, "", detail.message_id
    if (coded := _with_given_code(messages, failure, evidence)) is not None:
        likelihood, (message, quote) = _REPLACING, coded
    elif failure.prediction and not refuses(failure.prediction):
        claim = messages.claim(failure, detail.reference)
        share, source, sentence = support_of_answer(messages, failure, evidence, detail.reference)
        # Each gold answer is right by itself, such as "eleven kilos" and "11 kg": the evidence need not state both.
        golds = each_gold(messages, failure, want)
        stated = (best_detail(messages, one, evidence, said) for one, said in golds)
        support = max(detail.support, *(one.support for one in stated if one is not None))
        together = max(share_in_one_message(messages, evidence, said) for _, said in golds)
        at_once = share_in_one_sentence(messages, evidence, claim)
        # If the evidence states the whole list, only an answer with as much content can be right instead.
        says_more = is_list(failure) and want.weight > claim.weight
        is_told = together >= _ALL and (says_more or together > at_once + _MORE)
        # A list may be stated by several sentences, unless one sentence states the given answer.
        several = is_list(failure) and at_once < _ALL
        if (
            support < 0.7
            and share >= _SAID
            and claim.weight >= _SAYS
            and not is_told
            and not any(_is_corrected(messages, evidence, source, said, claim) for _, said in golds)
            and not _leaves_out(messages, failure, detail, want, several=several)
        ):
            likelihood = min(likely(share, SUPPORTED), likely(share - support - _MORE, 0.0))
            quote, message = sentence, source
            is_all = share >= _WHOLLY and support <= _NOTHING
            # Something may have several reasons, so another reason does not contradict the gold answer.
            agreed = agreement(want, failure.prediction, asked=frozenset(messages.asked(failure).words))
            is_replacing = share >= _WHOLLY and is_replaced(messages, evidence, agreed)
            if is_replacing:
                likelihood = min(likelihood, _REPLACING)
            is_open = not (is_replacing or excludes(failure, want, claim)) and (
                asks_for_reason(failure.question)
                or (not is_all and not _told_elsewhere(messages, failure, evidence, detail, want))
            )
            # What follows from the evidence need not be stated, and an answer to something else contradicts nothing.
            is_open = (
                is_open
                or is_part(messages, failure)
                or any(
                    _has_numbers(messages, failure, evidence, said, claim)
                    or is_reckoned(messages, evidence, said, claim)
                    or is_beside_the_amount(failure.question, said, claim, failure.prediction)
                    for _, said in golds
                )
            )
            if is_open:
                likelihood = min(likelihood, _UNPROVEN)  # the gold answer may say the same in other words
        elif support < SUPPORTED:
            likelihood = _UNPROVEN
    return Finding(
        ErrorType.ANNOTATION, None, likelihood, SAID_INSTEAD, lambda: proof.of_message(message, quote), is_local=True
    )


def _with_given_code(messages: Messages, failure: Failure, evidence: Sequence[str]) -> tuple[str, str] | None:
    """The message and sentence of the evidence with the given answer's code; None if the gold answer's may be right.

    Both answers have a code of one form, and no message has the gold answer's.
    """
    golds, said = failure.gold_answers, failure.prediction or ""
    if not tells_another_code(golds, said) or any(has_code(golds, text) for text in messages.texts.values()):
        return None
    told = ((one, placed.sentence.text) for one in evidence for placed in messages.sentences.get(one, ()))
    return next(((one, text.strip()) for one, text in told if has_code([said], text)), None)


def _is_corrected(messages: Messages, evidence: Sequence[str], source: str, gold: Content, claim: Content) -> bool:
    """Whether a later message of the evidence has the numbers of the gold answer, perhaps without unit or month.

    ``It wasn't 25, it was 19`` corrects ``25 kilos``, and ``on the 12th`` corrects ``on 3 May``.

    Args:
        messages: of the trace.
        evidence: ids of messages.
        source: the message that states the given answer.
        gold: content of one gold answer.
        claim: content of the given answer.
    """
    days = _days_of_month(gold) - _days_of_month(claim)
    wanted = [one for one in (gold.numbers - claim.numbers, days) if one]
    later = [one for one in evidence if messages.place[one] > messages.place[source]] if wanted else []
    told = [placed.sentence.numbers for one in later for placed in messages.sentences[one]]
    return any(one <= numbers for one in wanted for numbers in told)


def _has_numbers(messages: Messages, failure: Failure, evidence: Sequence[str], gold: Content, claim: Content) -> bool:
    """Whether a sentence of the evidence on the question, or of a later message, has the gold answer's own numbers.

    ``41 kilos`` has the number of ``41 kg``, whatever its unit is called; ``they put it up to 185`` may tell a change.
    """
    wanted, asked = gold.numbers - claim.numbers, messages.asked(failure).words.keys()
    if not wanted:
        return False
    told = [placed.sentence for one in evidence for placed in messages.sentences.get(one, ())]
    last = max((messages.place[one] for one in evidence), default=-1)
    later = [placed.sentence for one in messages.ids[last + 1 :] for placed in messages.sentences[one]]
    is_rare = max(wanted) > _COMMON
    return (is_rare and any(wanted <= one.numbers for one in later)) or any(
        wanted <= one.numbers and not asked.isdisjoint(one.stems) for one in told
    )


def _days_of_month(told: Content) -> frozenset[float]:
    return frozenset(float(date.fromordinal(one.first).day) for one in told.dates if one.first == one.last)


def _told_elsewhere(
    messages: Messages, failure: Failure, evidence: Sequence[str], detail: Detail, want: Content
) -> bool:
    """Whether messages state the gold answer, in sentences that are not about the question.

    Args:
        messages: of the trace.
        failure: question and answers.
        evidence: ids of messages; together, the sentences of one of them may state the gold answer.
        detail: of the evidence.
        want: content of the gold answers.
    """
    asked_in = messages.sought(messages.asked(failure))
    others = [one for one in messages.ids if one not in evidence]
    told = [one for one in details_by_message(messages, failure, others, want) if one.support >= _STATED]
    told += [detail] if share_in_one_message(messages, evidence, want) >= _STATED else []
    return any(asked_in.share(Placed(0, one.sentence, one.reference)) < _ABOUT for one in told)


def _leaves_out(messages: Messages, failure: Failure, detail: Detail, want: Content, *, several: bool) -> bool:
    """Whether the answer lacks many words of the gold answer that the evidence has: then the answer says less.

    Args:
        messages: of the trace.
        failure: question and answer.
        detail: of the evidence.
        want: content of the gold answers.
        several: whether to look at all sentences of the detail's message, not only at the detail's sentence.
    """
    sentences = messages.sentences[detail.message_id] if several else [Placed(0, detail.sentence, detail.reference)]
    said = {stem for placed in sentences for stem in placed.sentence.stems}
    if said.isdisjoint(messages.asked(failure).words):
        return False
    had = Content({word: weight for word, weight in want.words.items() if word in said}, frozenset(), ())
    return had.weight >= SUPPORTED * want.weight > 0 and agreement(had, failure.prediction or "").recall < _KEPT
