"""How the search for a piece ended, and whether its finding may be said."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.needs import TriedFailure
from attribution.free_pass.other_forms import told_in_other_forms
from attribution.free_pass.rules import Finding
from attribution.needed.bare_answers import is_bare
from attribution.needed.gold_agreement import agreement, has_code, tells_another_code
from attribution.needed.presence import Detail
from attribution.needed.question import QuestionForm, form
from attribution.text.said import said
from attribution.trace.graph import TraceGraph
from attribution.trace.holes import Hole, hole_behind, in_another_trace, weakness
from attribution.trace.kept_unseen import fix, kept_unseen
from attribution.verdicts.probabilities import confidence
from schema.kinds import NOT_THE_MEMORY, ErrorType, OperationKind, QuestionKind, VariableKind
from schema.models import Failure

NOT_FOLLOWED = "the way of the evidence could not be followed"
_UNUSED = (
    f"{NOT_FOLLOWED}: no operation used the message that states the right answer; give it to the operation that should "
    "store it, as an argument"
)
UNSAID = (
    "no message that this trace has from before the answer says anything of the right answer; if another trace has it, "
    "let both calls belong to one trace: send the earlier messages along, name the same conversation or user in both, "
    "or open memtrace.trace(id=...) around both; for a program that serves one user and keeps no memory in a file, "
    "memtrace run --one-trace does it"
)
_IN_A_PROMPT = (
    "no message says the right answer, and a prompt that the program wrote has it (“{quote}”, last given to {reader}), "
    "so the step that lost it can't be told; {fix}"
)
_OF_ITS_OWN = "send what the user says as a message of its own, without a template around it"
_LAST_STEP = (
    f"{NOT_FOLLOWED}: the last recorded step with what the message says is {{step}}, and the recording does not show "
    "how it led to the answer; decorate what stores its result and what chooses from the stored texts "
    '(@memtrace.operation, kind="Update" and kind="Retrieval"), or wrap changes in place with memtrace.mutation(...)'
)
_NOT_GIVEN = (
    f"{NOT_FOLLOWED}: the last recorded step with what the message says is {{step}}, and the request of the call that "
    "answered has no text that was made from it: either the program did not send it, or code that is not recorded lost "
    "it. If such code keeps texts, decorate what stores them and what chooses among them (@memtrace.operation, "
    'kind="Update" and kind="Retrieval"), or wrap changes in place with memtrace.mutation(...)'
)
_KEPT_UNSEEN = (
    "a model's reply has the needed fact ({quote}), and no recorded step shows what became of the reply: the program "
    "keeps it in a value of its own{shown}; {fix}"
)
_DECORATE = (
    'decorate what makes the value from the message with @memtrace.operation(kind="Extraction", output="MemoryUnit"), '
    'what chooses among such values with kind="Retrieval", and what answers from the chosen ones with '
    'kind="Generation", output="Answer"; wrap the code that changes them in place with memtrace.mutation(...)'
)
_REPLIES = frozenset({VariableKind.RESPONSE, VariableKind.ANSWER})
_BEFORE = 2
"""The number of earlier messages that belong to the topic of a message."""
_SHOWN = 60
"""The number of characters shown of a reply."""
_WHOLLY = 0.9
_INFERRED = 0.6
"""Factor for the share of a verdict if the gold answer does not state the detail literally."""
_REACH = {ErrorType.RESPONSE: 3, ErrorType.RETRIEVAL: 2, None: 0}


@dataclass(frozen=True, slots=True, eq=False)
class Ending:
    """The findings about one piece, in the order of the rules. The first one that is likelier than not is chosen.

    Attributes:
        traced: the piece in the trace; None if no piece was followed.
        kind: of the question.
        is_guess: whether nothing but likeness to the question makes the piece's message the evidence.
    """

    findings: Sequence[Finding]
    traced: FailureInTrace | None
    kind: QuestionKind
    is_guess: bool = False

    @property
    def confidence(self) -> float:
        """The probability that the chosen finding is right."""
        return confidence(self.share, self.kind)

    @property
    def shares(self) -> list[tuple[Finding, float]]:
        """Each finding with its likelihood, multiplied by the probability that earlier findings are wrong."""
        left = 1.0
        found = []
        for one in self.findings:
            found.append((one, left * one.likelihood))
            left -= left * one.likelihood
        return found

    @property
    def chosen(self) -> Finding | None:
        """The finding that names the fault; None if no finding is likely."""
        return next((one for one in self.findings if one.likelihood >= 0.5), None)

    @property
    def share(self) -> float:
        """The probability of the chosen finding according to the rules; 0 if there is none."""
        chosen = self.chosen
        share = next((share for one, share in self.shares if one is chosen), 0.0)
        inferred = self.traced is not None and not self.traced.detail.literal
        return share * _INFERRED if inferred and chosen and chosen.error_type is not ErrorType.JUDGE else share

    @property
    def weighed(self) -> list[tuple[Finding, float]]:
        """The findings that are not chosen, with shares."""
        return [(one, share) for one, share in self.shares if one is not self.chosen]

    @property
    def best(self) -> tuple[Finding, float] | None:
        """The chosen finding with its share."""
        return None if self.chosen is None else (self.chosen, self.share)

    @property
    def key(self) -> tuple[ErrorType | None, str | None]:
        """Error type and operation of the chosen finding."""
        return (None, None) if self.chosen is None else (self.chosen.error_type, self.chosen.operation_id)

    @property
    def reach(self) -> tuple[int, float]:
        """How far the piece came on its way to the answer, and how surely."""
        return _REACH.get(self.key[0], 1), self.share

    @property
    def hole(self) -> str:
        """Why the chosen finding must not be said although it is likely; empty if it may be said."""
        if self.chosen is None or (self.is_guess and self.chosen.error_type not in NOT_THE_MEMORY):
            return UNSAID if self.is_guess else ""
        return self.chosen.hole


async def hole_of(graph: TraceGraph, failure: Failure, endings: Sequence[Ending]) -> str:
    """Why findings on steps before the answer can't be trusted; empty if they can, or if there are none."""
    if all(one.chosen is None or one.chosen.is_local for one in endings):
        return ""
    hole = await hole_behind(graph, failure)
    return "" if hole is None else _said(hole)


async def unsafe(tried: TriedFailure, ending: Ending, hole: str) -> str:
    """Why the finding of an ending must not be said, or why there is none; empty if it may be said.

    Args:
        tried: the failure.
        ending: with the finding.
        hole: of ``hole_of``.
    """
    if ending.chosen is None:
        if not is_unsaid(tried, ending.traced):
            unused = ending.traced is not None and not tried.graph.users(ending.traced.detail.message_id)
            return _UNUSED if unused else await _unseen(ending.traced)
        behind = await hole_behind(tried.graph, tried.failure) or in_another_trace(tried.graph, tried.failure)
        return (await _in_other_words(tried) or UNSAID) if behind is None else _said(behind)
    found = ("" if ending.chosen.is_local else hole) or ending.hole
    if found != UNSAID:
        return found
    elsewhere = in_another_trace(tried.graph, tried.failure)
    return (await _in_other_words(tried) or found) if elsewhere is None else _said(elsewhere)


async def _in_other_words(tried: TriedFailure) -> str:
    """What to do if a message may say the right answer in other forms, or if only a prompt says it; else empty."""
    other = told_in_other_forms(tried.graph, tried.messages, tried.failure, tried.gold)
    return other or await _in_a_prompt(tried)


async def _in_a_prompt(tried: TriedFailure) -> str:
    """What to do if no message says the right answer, and a prompt from before the answer has all its words."""
    graph, gold, failure = tried.graph, tried.gold, tried.failure
    if gold is None or not gold.weight or is_bare(gold, failure.gold_answers):
        return ""
    end = graph.place(failure.answer_id or "")
    prompts = [one.id for one in graph.variables.values() if one.kind is VariableKind.PROMPT]
    given = [one for one in prompts if any(graph.operations[each].sequence <= end for each in graph.users(one))]
    for prompt, text in (await graph.texts(given)).items():
        lines = [line for line in text.splitlines() if agreement(gold, line).recall >= _WHOLLY]
        if lines:
            reader = _last_reader(graph, [prompt], failure.answer_id or "") or f"{prompt[:8]}"
            kept = kept_unseen(graph)
            advice = _OF_ITS_OWN if kept is None else fix(graph, kept)
            return _IN_A_PROMPT.format(quote=said(lines[0], _SHOWN), reader=reader, fix=advice)
    return ""


async def _unseen(traced: FailureInTrace | None) -> str:
    """Why the way of a piece ends: at a reply that only the program itself kept, if there is one."""
    if traced is None:
        return NOT_FOLLOWED
    graph, answer = traced.graph, traced.failure.answer_id or ""
    replies = [one for one in traced.future if graph.variables[one].kind in _REPLIES]
    earlier = [one for one in replies if graph.place(one) < graph.place(answer)]
    holders = await traced.holders(earlier)
    stored = any(graph.variables[one].kind is VariableKind.MEMORY_UNIT for one in traced.future)
    last = _last_reader(graph, {traced.detail.message_id, *traced.future}, answer)
    if not holders or stored:
        answered = graph.operations.get(graph.reply(answer).operation_id or "") if answer else None
        is_model = answered is not None and answered.kind is OperationKind.GENERATION
        return NOT_FOLLOWED if last is None else (_NOT_GIVEN if is_model else _LAST_STEP).format(step=last)
    quote = next(one.quote for one in holders.values()).strip()
    shown = _last_reader(graph, holders.keys(), answer)
    kept = kept_unseen(graph)
    advice = _DECORATE if kept is None else fix(graph, kept)
    last_shown = f", and showed it last to {shown}" if shown else ""
    told = {"quote": f"“{quote[:_SHOWN]}”", "shown": last_shown, "fix": advice}
    return f"{NOT_FOLLOWED}: {_KEPT_UNSEEN.format(**told)}"


def _last_reader(graph: TraceGraph, variables: Collection[str], answer: str) -> str | None:
    """The last operation before an answer that read one of some variables, by id and name; None if none did."""
    end = graph.place(answer)
    readers = {one for variable in variables for one in graph.readers(variable)}
    before = [found for one in readers if (found := graph.operations[one]).sequence < end]
    last = max(before, key=lambda one: one.sequence, default=None)
    place = "" if last is None or last.location is None else f" ({last.location})"
    return None if last is None else f"{last.id[:8]} {last.name}{place}"


def _said(hole: Hole) -> str:
    return f"the recording has a hole: {hole.problem}; {hole.fix}"


def is_guess(tried: TriedFailure, traced: FailureInTrace) -> bool:
    """Whether nothing ties a message to the right answer but likeness to the question, or a chance.

    Nobody named such a message as the evidence. Or a program wrote it around a question.
    """
    is_found = tried.is_retrieved and (is_unsaid(tried, traced) or _has_it_by_chance(tried, traced))
    return is_found or _is_by_notes(tried, traced.detail)


def _is_by_notes(tried: TriedFailure, detail: Detail) -> bool:
    """Whether the notes of a prompt are the only evidence, and lack some of the right answer.

    The memory wrote the notes: where they differ from the right answer, either may be wrong.
    """
    golds, told = tried.failure.gold_answers, detail.sentence.text
    if detail.message_id not in tried.messages.prompts:
        return False
    return detail.support < _WHOLLY or (tells_another_code(golds, told) and not has_code(golds, told))


def _has_it_by_chance(tried: TriedFailure, traced: FailureInTrace) -> bool:
    """Whether any message may have the right answer, and neither this one nor those before it are on the topic."""
    gold, messages, message = tried.gold, tried.messages, traced.detail.message_id
    if gold is None or not is_bare(gold, tried.failure.gold_answers):
        return False
    near = [*messages.preceding(message, _BEFORE), message]
    said = {one for each in near for placed in messages.sentences[each] for one in placed.sentence.stems}
    return said.isdisjoint(messages.asked(tried.failure).words.keys() - gold.words.keys())


def is_unsaid(tried: TriedFailure, traced: FailureInTrace | None) -> bool:
    """Whether the evidence has no word, number or date of the right answer, although a message should state it."""
    if tried.gold is None or not tried.gold.weight or form(tried.failure) is not QuestionForm.PLAIN:
        return False
    return traced is None or not (traced.detail.literal or traced.detail.support)


def weakness_of(graph: TraceGraph, failure: Failure, finding: Finding) -> str:
    """The gap in the recording that makes a finding less sure; empty if no gap is known."""
    return "" if finding.is_local else weakness(graph, failure) or finding.weakness
