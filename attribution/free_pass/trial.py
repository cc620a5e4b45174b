"""The trial of one failure: follows what the answer needed, and names the operation that lost it.

The stages: what is known about the answer as a whole (``needs.about_answer``), what the answer needed
(``needs.find_needs``), the ending of each piece (``_ending``), and the verdict (``_together``).

Rules are asked in this order. Each returns the probability that it names the fault:

1. The answer is right: the judge is wrong.
2. The evidence states the given answer, not the gold answer: the annotation is wrong. Or the memory gave to the asked
   person what another said, and the answer repeats it: the operation that wrote it is at fault.
3. The text that the answer was made from has the detail, or states it in the words of another message: the answering
   operation is at fault.
4. The detail was read for the question and dropped on the way to the answer, by the operation at fault.
5. A memory unit with the detail was current when the search ran: the retrieval is at fault.
6. Earlier calls of a conversation were given the message, and the call that answered was not: the program left it out.
7. An older version of a unit, or a deleted unit, has the detail: the operation that ended that version is at fault.
8. A history was cut: the model is at fault whose summary stood in for it, or that wrote units of it that the answer was
   made from; if the answer says what a unit told it, the operation on the way to this unit is.
9. Otherwise the last operation that had the detail and did not pass it on is at fault.
10. If nothing passed it on: the model of an agent that keeps its memory by tools, and wrote nothing at this turn; or
    the model whose reply has the detail and was not stored, as other replies were.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from attribution.free_pass import proof_path as proof
from attribution.free_pass import rules, turns
from attribution.free_pass.dead_ends import not_stored
from attribution.free_pass.doubts import doubt_of
from attribution.free_pass.ending import (
    NOT_FOLLOWED,
    Ending,
    hole_of,
    is_guess,
    unsafe,
    weakness_of,
)
from attribution.free_pass.eyes import Eyes
from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.given_to_another import given_to_another
from attribution.free_pass.loss import FELL_OUT, Loss, last_loss, lost_on_the_way
from attribution.free_pass.needs import TriedFailure, about_answer, find_needs, unusable
from attribution.free_pass.not_written import nothing_written, reply_not_stored
from attribution.free_pass.rules import Finding
from attribution.free_pass.stood_in import lost_by_summary, lost_by_writing
from attribution.free_pass.sureness import sureness
from attribution.free_pass.told_by_memory import wrong_in_memory
from attribution.free_pass.too_late import written_late
from attribution.free_pass.unsaid import by_what_nobody_said, unwritten, without_messages
from attribution.needed.pieces import Piece, share_said
from attribution.needed.presence import Detail
from attribution.needed.question import QuestionForm, form, question_kind
from attribution.text.refusals import refuses
from attribution.trace.fixes import RECORD_MESSAGES
from attribution.verdicts.verdict import CandidateVerdict, PieceLoss, Step, Verdict, abstention
from schema.kinds import NOT_THE_MEMORY, ErrorType, QuestionKind

SURE = 0.9
"""Below this confidence a model is asked, if there is one."""
_BEHIND_A_HOLE = 0.5
"""Factor for candidates of an abstention: what is not recorded may as well have lost the fact."""


async def verdict(tried: TriedFailure, eyes: Eyes | None) -> Verdict:
    """The verdict on a failure.

    Args:
        tried: the failure.
        eyes: judge where texts alone don't decide.
    """
    kind = question_kind(form(tried.failure), pieces=1)
    if problem := unusable(tried):
        if (found := await without_messages(tried)) is None:
            return abstention(await unwritten(tried) or problem, question_kind=QuestionKind.PLAIN)
        return await _verdict_of(tried, Ending([found], None, kind))
    if tried.is_unanswerable:
        refused = rules.unanswerable(tried.graph, tried.messages, tried.failure)
        return await _verdict_of(tried, Ending([refused], None, kind))
    findings = about_answer(tried)
    if eyes is not None:
        findings = await eyes.on_answer(tried, findings)
    if _settled(findings):
        return await _verdict_of(tried, Ending(findings, None, kind))
    needs = find_needs(tried, findings)
    if eyes is not None:
        needs = replace(needs, findings=await eyes.on_gold(tried, needs.findings))
    if (given := await given_to_another(tried)) is not None:
        needs = replace(needs, findings=[*needs.findings, given])
    kind = needs.kind(tried.failure)
    endings = [await _ending(tried, piece, needs.findings, kind, eyes) for piece in needs.pieces]
    if form(tried.failure) is QuestionForm.CONVERSATIONAL and all(one.chosen is None for one in endings):
        nothing = rules.nothing_needed(tried.graph, tried.failure)
        return await _verdict_of(tried, Ending([*needs.findings, nothing], None, kind))
    if all(_is_untold(one) for one in endings) and (read := await by_what_nobody_said(tried)) is not None:
        return await _verdict_of(tried, Ending([read], None, kind))
    if endings:
        return await _together(tried, endings, needs.reached)
    if needs.findings:
        return await _verdict_of(tried, Ending(needs.findings, None, kind))
    reason = f"the trace has no message that could be the evidence: {RECORD_MESSAGES}"
    return abstention(reason, question_kind=kind)


def _is_untold(ending: Ending) -> bool:
    """Whether no message is known to state the piece: none was followed, or only likeness to the question led to it."""
    if ending.chosen is None:
        return not (ending.traced and ending.traced.detail.literal)
    return ending.is_guess and ending.chosen.error_type not in NOT_THE_MEMORY


async def all_endings(tried: TriedFailure) -> list[list[Ending]]:
    """The endings of each piece, the furthest first, also for answers that need no verdict."""
    if unusable(tried) or tried.is_unanswerable:
        return []
    needs = find_needs(tried, about_answer(tried))
    kind = needs.kind(tried.failure)
    ends = [await _endings(tried, _traced(tried, piece), needs.findings, kind, None) for piece in needs.pieces]
    ends = [some for some in ends if not all(one.is_guess and one.hole for one in some)]
    return [sorted(some, key=lambda one: one.reach, reverse=True) for some in ends]


def needed_details(tried: TriedFailure) -> list[Detail]:
    """The best source of each piece, pieces that the answer has last."""
    if unusable(tried) or tried.is_unanswerable:
        return []
    needs = find_needs(tried, about_answer(tried))
    return [piece[0] for piece in [*needs.pieces, *needs.reached]]


def _traced(tried: TriedFailure, piece: Piece, *, is_judged: bool = False) -> list[FailureInTrace]:
    return [
        FailureInTrace.of(tried.graph, tried.messages, tried.failure, detail, is_judged=is_judged) for detail in piece
    ]


async def _ending(
    tried: TriedFailure, piece: Piece, before: Sequence[Finding], kind: QuestionKind, eyes: Eyes | None
) -> Ending:
    """The ending of a piece: the furthest of its messages' endings."""
    sources = _traced(tried, piece, is_judged=eyes is not None)
    for traced in sources if eyes is None and not _settled(before) else ():
        # No ending is further than the text that the answer was made from: then the memory need not be searched.
        findings = [*before, await rules.in_context(traced)]
        if _settled(findings):
            return Ending(findings, traced, kind, is_guess(tried, traced))
    return max(await _endings(tried, sources, before, kind, eyes), key=lambda one: one.reach)


async def _endings(
    tried: TriedFailure,
    sources: Sequence[FailureInTrace],
    before: Sequence[Finding],
    kind: QuestionKind,
    eyes: Eyes | None,
) -> list[Ending]:
    """One ending for each message that states the piece."""
    endings = []
    for traced in sources:
        ending = Ending(await _findings(traced, before), traced, kind, is_guess(tried, traced))
        # What is known of the whole answer is not changed by what texts hold.
        if eyes is not None and ending.confidence < SURE and ending.chosen not in before:
            if await eyes.on_piece(traced):
                ending = Ending(await _findings(traced, before), traced, kind, is_guess(tried, traced))
            if ending.confidence < SURE:
                ending = Ending(await eyes.on_steps(traced, ending.findings), traced, kind, is_guess(tried, traced))
        endings.append(ending)
    return endings


async def _findings(traced: FailureInTrace, before: Sequence[Finding]) -> list[Finding]:
    """The findings of all rules in their order, up to the rule that settles the matter."""
    graph, answer_id = traced.graph, traced.failure.answer_id or ""
    findings = [*before]
    if _settled(findings):
        return findings
    findings.append(await rules.in_context(traced))
    if _settled(findings):
        return findings
    elsewhere = await rules.told_elsewhere(traced)
    if elsewhere is not None:
        findings.append(elsewhere)
    past = graph.past([answer_id])
    left_out = await rules.left_out(traced, past)
    dropped = [] if left_out is None else [left_out]
    from_history = [one for one in dropped if one.error_type is not ErrorType.RESPONSE]
    findings += [one for one in dropped if one not in from_history]
    if _settled(findings):
        return findings
    searches = traced.searches(past)
    answering = graph.reply(answer_id).operation_id or ""
    place = graph.operations[searches[0] if searches else answering].sequence
    findings.append(await rules.stored(traced, searches, answering, place))
    if _settled(findings):
        return findings
    fell_out = turns.no_longer_in_prompt(traced)
    if fell_out is not None:
        return [*findings, fell_out]
    loss = await last_loss(traced, place)
    if loss is not None:
        findings.append(await rules.lost(traced, loss))
    is_apart = turns.is_only_said(traced) and traced.detail.message_id not in past
    stopped = None if is_apart else await lost_on_the_way(traced, place)
    cut = _cut(from_history, stopped)
    if cut is not None and (told := await _behind_cut(traced, past, cut)) is not None:
        return [*findings, told]
    findings += from_history  # later, because units may have kept what fell out of the history
    if not _settled(findings):
        late = await written_late(traced, searches)
        if late is not None:
            findings.append(late)
    if not _settled(findings) and stopped is not None:
        findings.append(await rules.lost(traced, await not_stored(traced, stopped)))
    if not any(one.likelihood >= 0.5 for one in findings):
        unwritten_turn = nothing_written(traced, searches) or await reply_not_stored(traced, searches)
        unsent = unwritten_turn or await turns.never_sent(traced)
        findings += [] if unsent is None else [unsent]
    return findings


async def _behind_cut(traced: FailureInTrace, past: AbstractSet[str], cut: str) -> Finding | None:
    """The fault of a summary or memory unit that the answer relied on where a history was cut; None if none had one."""
    summed = await lost_by_summary(traced, past, cut)
    if summed is None and (told := await wrong_in_memory(traced, past, cut)) is not None:
        return told
    stood_in = summed or await lost_by_writing(traced, past, cut)
    return None if stood_in is None else await rules.lost(traced, stood_in)


def _cut(from_history: Sequence[Finding], stopped: Loss | None) -> str | None:
    """The operation that left the detail out of a history; None if none did."""
    if stopped is not None and stopped.reason == FELL_OUT:
        return stopped.operation_id
    return from_history[0].operation_id if from_history else None


def _settled(findings: Sequence[Finding]) -> bool:
    """Whether the findings are so sure that no later rule could change the result."""
    left = 1.0
    for one in findings:
        left *= 1.0 - one.likelihood
    return left < 0.1


async def _together(tried: TriedFailure, endings: Sequence[Ending], reached: Sequence[Piece]) -> Verdict:
    """The verdict on all pieces, on the operation that lost most pieces; of several operations, on the earliest.

    The sentences of a reply are weighed by their content, because one may take only a name from memory, and another a
    whole list.
    """
    is_reply = form(tried.failure) is QuestionForm.CONVERSATIONAL
    groups: dict[tuple[ErrorType | None, str | None], list[Ending]] = {}
    for one in endings:
        groups.setdefault(one.key, []).append(one)
    named = {key: some for key, some in groups.items() if key[0] is not None} or groups
    before = {key: some for key, some in named.items() if key[0] not in (None, ErrorType.RESPONSE)}
    if before and _counts(tried):
        named = before  # a wrong count follows from a missing item

    def lost(some: Sequence[Ending]) -> float:
        if not is_reply:
            return len(some)
        return round(sum(one.traced.detail.core.weight for one in some if one.traced is not None), 3)

    def weight(key: tuple[ErrorType | None, str | None]) -> tuple[float, int]:
        place = tried.graph.operations[key[1]].sequence if key[1] else -1
        return -lost(named[key]), place

    chosen = max(named[min(named, key=weight)], key=lambda one: one.share)
    others = [one for key, some in groups.items() if key != chosen.key for one in some[:1]]
    hole = await hole_of(tried.graph, tried.failure, endings)
    losses = [await _loss(tried, one, hole) for one in endings]
    return await _verdict_of(
        tried,
        chosen,
        hole,
        others=others,
        share=lost(groups[chosen.key]) / lost(endings),
        path=losses[endings.index(chosen)].path,
        losses=(*_known(endings, losses), *[await _reached(tried, piece) for piece in reached]),
    )


def _counts(tried: TriedFailure) -> bool:
    """Whether gold answer and answer are counts of what several messages tell."""
    said = tried.messages.claim(tried.failure, None)
    is_count = form(tried.failure) is QuestionForm.JOINED and tried.gold is not None and bool(tried.gold.numbers)
    return is_count and bool(said.numbers) and not refuses(tried.failure.prediction or "")


def _known(endings: Sequence[Ending], losses: Sequence[PieceLoss]) -> list[PieceLoss]:
    """The losses of pieces that are more than guesses: a guess is not what the answer needed."""
    return [
        loss for ending, loss in zip(endings, losses, strict=True) if not (ending.is_guess and loss.error_type is None)
    ]


async def _loss(tried: TriedFailure, ending: Ending, hole: str) -> PieceLoss:
    """The ending of a piece as a part of the verdict."""
    finding, traced = ending.chosen, ending.traced
    assert traced is not None
    piece = traced.detail.quote
    if finding is None:
        return PieceLoss(piece, None, None, 0.0, NOT_FOLLOWED)
    if why := await unsafe(tried, ending, hole):
        return PieceLoss(piece, None, None, 0.0, why)
    reached = finding.error_type is ErrorType.JUDGE
    operation_id = None if reached else finding.operation_id
    path = await _path(tried, ending)
    return PieceLoss(piece, finding.error_type, operation_id, ending.confidence, finding.reason, path, reached)


async def _reached(tried: TriedFailure, piece: Piece) -> PieceLoss:
    """A piece that the answer has, with the path if the answer depends on the piece's message."""
    traced = FailureInTrace.of(tried.graph, tried.messages, tried.failure, piece[0])
    text, answer = traced.detail.quote, tried.failure.answer_id or ""
    path = await proof.of_reached(traced, answer) if answer in traced.future else []
    sure = min(share_said(tried.messages, tried.failure, tried.failure.prediction or "", one) for one in piece)
    return PieceLoss(text, None, None, round(sure, 4), "the answer says it", tuple(path), reached=True)


async def _path(tried: TriedFailure, ending: Ending) -> tuple[Step, ...]:
    """The path that proves the chosen finding of an ending."""
    assert ending.chosen is not None
    return tuple(await ending.chosen.prove().steps(tried.graph, ending.traced))


async def _verdict_of(
    tried: TriedFailure,
    ending: Ending,
    hole: str | None = None,
    *,
    others: Sequence[Ending] = (),
    share: float = 1.0,
    path: tuple[Step, ...] | None = None,
    losses: tuple[PieceLoss, ...] = (),
) -> Verdict:
    """The verdict by one ending.

    Args:
        tried: the failure.
        ending: whose finding is chosen.
        hole: of ``hole_of``; None if it is not known yet.
        others: endings whose findings become candidates.
        share: the share of the pieces that end alike, 0 to 1.
        path: that proves the finding; None if it is not known yet.
        losses: of all pieces.
    """
    hole = await hole_of(tried.graph, tried.failure, [ending]) if hole is None else hole
    details: dict[str, Any] = {"form": form(tried.failure)}
    weighed = [*ending.weighed, *(one.best for one in others if one.best is not None)]
    finding = ending.chosen
    why = await unsafe(tried, ending, hole)
    if finding is None or why:
        found = weighed if finding is None or ending.hole else [(finding, ending.share), *weighed]
        return abstention(
            why,
            candidates=_candidates([(one, known * _BEHIND_A_HOLE) for one, known in found]),
            details=details,
            losses=losses,
            question_kind=ending.kind,
        )
    path = await _path(tried, ending) if path is None else path
    weak = weakness_of(tried.graph, tried.failure, finding)
    if weak:
        details["weakness"] = weak
    doubt = await doubt_of(tried, finding, None if ending.traced is None else ending.traced.detail)
    whole, sure = sureness(ending, share, has_gap=bool(weak), is_doubted=bool(doubt))
    details["share"] = round(whole, 4)
    if ending.traced is not None:
        details["detail"] = ending.traced.detail.quote
    return Verdict(
        finding.error_type,
        finding.operation_id,
        sure,
        f"{finding.reason}; but {weak}" if weak else finding.reason + doubt,
        path,
        _candidates(weighed),
        details=details,
        losses=losses,
        question_kind=ending.kind,
    )


def _candidates(weighed: Sequence[tuple[Finding, float]]) -> tuple[CandidateVerdict, ...]:
    found = [
        CandidateVerdict(one.error_type, one.operation_id, round(share, 4), one.reason)
        for one, share in weighed
        if share >= 0.01 and (one.operation_id is not None or one.error_type in NOT_THE_MEMORY)
    ]
    return tuple(sorted(found, key=lambda one: -(one.confidence or 0.0)))
