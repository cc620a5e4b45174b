"""What a failed answer needed, and what is known before any piece of it is followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attribution.free_pass import other_subject, other_thing, premises, rules
from attribution.free_pass.foreign_gold import foreign_gold
from attribution.free_pass.in_its_place import in_its_place
from attribution.free_pass.no_contradiction import is_part
from attribution.free_pass.rules import Finding
from attribution.needed.content import Content
from attribution.needed.evidence_sentences import (
    SUPPORTED,
    best_detail,
    content_of_gold,
    detail_nearby,
    implied_date,
    is_about,
    without_gold,
)
from attribution.needed.messages import Messages, is_known
from attribution.needed.pieces import (
    Piece,
    alternatives,
    is_joined,
    is_list,
    joined_pieces,
    list_pieces,
    reply_pieces,
    says,
)
from attribution.needed.presence import Detail
from attribution.needed.question import QuestionForm, form, is_question, question_kind
from attribution.trace.advice import fix_for
from attribution.trace.fixes import RECORD_ANSWERS, RECORD_MESSAGES
from attribution.trace.graph import TraceGraph
from attribution.trace.vain_searches import found_nothing, limits
from schema.kinds import ErrorType, OperationKind, QuestionKind
from schema.models import Failure

_ABOUT = 0.3
"""Another message is about the question if a sentence has at least this share of its words, by rarity."""


@dataclass(frozen=True, slots=True)
class TriedFailure:
    """A failure, its trace, and its evidence.

    Attributes:
        evidence: ids of messages, given or retrieved.
        is_gold_free: whether to ignore the gold answers.
        is_retrieved: whether the evidence was retrieved.
    """

    graph: TraceGraph
    messages: Messages
    failure: Failure
    evidence: Sequence[str]
    is_gold_free: bool
    is_retrieved: bool

    @property
    def gold(self) -> Content | None:
        """The content of the gold answers beyond the question; None without gold answers."""
        return None if self.is_gold_free else content_of_gold(self.messages, self.failure)

    @property
    def is_unanswerable(self) -> bool:
        """Whether the gold answer is a refusal."""
        return not self.is_gold_free and form(self.failure) is QuestionForm.UNANSWERABLE


@dataclass(frozen=True, slots=True)
class Needs:
    """What the answer needed.

    Attributes:
        findings: what is known without following a piece.
        pieces: to follow.
        reached: pieces that the answer has.
    """

    findings: Sequence[Finding]
    pieces: Sequence[Piece]
    reached: Sequence[Piece] = ()

    def kind(self, failure: Failure) -> QuestionKind:
        """The kind of the failure's question."""
        return question_kind(form(failure), len(self.pieces) + len(self.reached))


def unusable(tried: TriedFailure) -> str | None:
    """Why a failure can't be attributed by its trace; None if it can."""
    failure, variables = tried.failure, tried.graph.variables
    if failure.answer_id is None or failure.answer_id not in variables:
        return "the failure names no answer of this trace"
    if variables[failure.answer_id].operation_id is None:
        return f"no operation is recorded that made the answer: {RECORD_ANSWERS}"
    if failure.question_id not in variables:
        return "the failure's question is not in this trace"
    if not tried.messages.ids:
        fix = fix_for(tried.graph, RECORD_MESSAGES)
        return f"no messages are recorded in this trace: {_looked_elsewhere(tried.graph)}{fix}"
    return None


def _looked_elsewhere(graph: TraceGraph) -> str:
    """What a search says that found nothing in a trace without messages; empty without such a search."""
    vain = (one for one in graph.operations.values() if one.kind is OperationKind.RETRIEVAL and limits(one))
    search = next((one for one in vain if found_nothing(graph, one.id)), None)
    if search is None:
        return ""
    return (
        f"the search {search.name} ({limits(search)}) found nothing, and nothing was ever stored where it looked; "
        "compare this with the user, agent or namespace that the units were stored for, which may be another trace; or "
    )


def about_answer(tried: TriedFailure) -> list[Finding]:
    """The finding whether the answer is right; empty without an answer's text."""
    if not tried.failure.prediction:
        return []
    if tried.gold is None and (taken := _taken_over(tried)) is not None:
        return [taken]
    return [rules.right(tried.graph, tried.messages, tried.failure, tried.evidence, tried.gold)]


def _taken_over(tried: TriedFailure) -> Finding | None:
    """Without a gold answer: the finding that the answer gives a thing of one speaker to another speaker."""
    alone = without_gold(tried.messages, tried.failure, tried.evidence)
    return None if alone is None else other_subject.taken_over(tried.graph, tried.messages, tried.failure, alone)


def find_needs(tried: TriedFailure, findings: Sequence[Finding]) -> Needs:
    """What the answer needed.

    Args:
        tried: the failure.
        findings: of ``about_answer``; the result may have further ones, that the gold answer is wrong.
    """
    needs = _find_needs(tried, findings)
    return replace(needs, findings=[one for one in needs.findings if not _is_by_notes(tried, one)])


def _is_by_notes(tried: TriedFailure, finding: Finding) -> bool:
    """Whether only the notes of a prompt contradict the gold answer: the memory wrote them, and may be wrong itself."""
    return finding.error_type is ErrorType.ANNOTATION and finding.prove().start in tried.messages.prompts


def _find_needs(tried: TriedFailure, findings: Sequence[Finding]) -> Needs:
    messages, failure, evidence, gold = tried.messages, tried.failure, tried.evidence, tried.gold
    kind = form(failure)
    if gold is None:
        alone = without_gold(messages, failure, evidence)
        return Needs(findings, [] if alone is None else [[alone]])
    if kind is QuestionForm.CONVERSATIONAL:
        return Needs(findings, reply_pieces(messages, failure, evidence, is_known(tried.graph, failure)))
    detail = best_detail(messages, failure, evidence, gold)
    if is_joined(kind, evidence):
        # Two messages of the evidence may tell an old state and a new one, and no parts of one answer.
        if detail is not None and (other := _out_of_date(tried, detail, gold)) is not None:
            return Needs([*findings, other], [[detail]])
        return Needs(findings, joined_pieces(messages, failure, evidence, gold))
    pieces = list_pieces(messages, failure, evidence, gold)
    if pieces and not (kind is QuestionForm.PLAIN and _is_contradicted(tried, detail, gold)):
        answer = failure.prediction or ""
        missing = [piece for piece in pieces if not all(says(messages, failure, answer, one) for one in piece)]
        reached = [piece for piece in pieces if piece not in missing]
        return Needs(findings, missing, reached) if missing else Needs(findings, pieces)
    return Needs(findings, []) if detail is None else _single(tried, findings, detail, gold)


def _single(tried: TriedFailure, findings: Sequence[Finding], detail: Detail, gold: Content) -> Needs:
    """The needs of an answer that needed one piece."""
    messages, failure, evidence = tried.messages, tried.failure, tried.evidence
    if (implied := implied_date(messages, detail, gold)) is not None:
        return Needs(findings, [[implied]])
    nearby = detail_nearby(messages, failure, evidence, gold) if detail.support < SUPPORTED else None
    # Retrieved evidence may be beside the right message.
    best = nearby or detail
    detail = best if tried.is_retrieved else detail
    if form(failure) is not QuestionForm.PLAIN:
        detail, known = best, is_known(tried.graph, failure)
        if (other := other_subject.other_speaker(messages, failure, detail, gold, known)) is not None:
            return Needs([*findings, other], [[detail]])
        if is_only_count(tried, gold):
            findings = [*findings, foreign_gold(messages, failure, evidence, detail, gold)]
    elif (other := _premise(tried, detail, best, gold)) is not None:
        return Needs([*findings, other], [[detail]])
    else:
        # One sentence does not contradict a list that several messages state, and retrieved evidence no list at all.
        is_told = nearby is not None and is_about(messages, failure, nearby)
        if not is_told and (not is_list(failure) or (len(set(evidence)) == 1 and not tried.is_retrieved)):
            findings = [*findings, foreign_gold(messages, failure, evidence, detail, gold)]
        is_foreign = any(one.error_type is ErrorType.ANNOTATION and one.likelihood >= 0.5 for one in findings)
        detail = detail if is_foreign else best
    others = [one for one in alternatives(messages, failure, evidence, gold) if one.message_id != detail.message_id]
    return Needs(findings, [[detail, *others]])


def is_only_count(tried: TriedFailure, gold: Content) -> bool:
    """Whether one message of the evidence states the given count, and no other message is about the question.

    Otherwise the right count may be made of several messages.
    """
    messages, failure, claim = tried.messages, tried.failure, tried.messages.claim(tried.failure, None)
    if form(failure) is not QuestionForm.JOINED or not (gold.numbers and claim.numbers):
        return False
    asked_in, known = messages.sought(messages.asked(failure)), is_known(tried.graph, failure)
    may_have = asked_in.may_have(_ABOUT)
    told = {
        one
        for one in messages.ids
        if known(one) and may_have(messages.gist(one))
        for placed in messages.statements(one)
        if asked_in.share(placed) >= _ABOUT and not is_question(placed.sentence.text)
    }
    return len(told) == 1 and told <= set(tried.evidence)


def _premise(tried: TriedFailure, detail: Detail, best: Detail, gold: Content) -> Finding | None:
    """What the messages say against the question, or of the answer's terms; None if nothing.

    Args:
        tried: the failure.
        detail: of the evidence.
        best: the detail, or that of a message beside the evidence which states the gold answer.
        gold: content of the gold answers.
    """
    messages, failure = tried.messages, tried.failure
    known = is_known(tried.graph, failure)
    return (
        premises.wrong_person(messages, failure, detail)
        or premises.corrected_person(messages, failure, detail)
        or other_subject.other_speaker(messages, failure, detail, gold, known)
        or other_subject.other_name(messages, failure, best, gold, known)
        or _out_of_date(tried, detail, gold)
        or other_thing.in_other_clause(messages, failure, detail, gold)
        or (other_thing.other_thing(messages, failure, detail, gold, known) if tried.is_retrieved else None)
        or premises.wrong_time(messages, failure, detail)
        or premises.after_the_end(messages, failure, gold)
        or premises.in_other_terms(tried.graph, messages, failure, tried.evidence, detail)
    )


def _out_of_date(tried: TriedFailure, detail: Detail, gold: Content) -> Finding | None:
    """A message that tells the given answer as what holds now, or in place of the gold answer; None without one."""
    graph, messages, failure = tried.graph, tried.messages, tried.failure
    other = None if is_part(messages, failure) else premises.outdated(graph, messages, failure, detail, gold)
    return other or in_its_place(graph, messages, failure, gold)


def _is_contradicted(tried: TriedFailure, detail: Detail | None, gold: Content) -> bool:
    """Whether the only message of the evidence states the given answer, which contradicts even a list."""
    if detail is None or tried.is_retrieved or len(set(tried.evidence)) != 1:
        return False
    return foreign_gold(tried.messages, tried.failure, tried.evidence, detail, gold).likelihood >= 0.5
