"""Judges replayed answers, and tells which operations had the pieces of the right answer, by the free pass's rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attribution.free_pass import rules
from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.flow import FlowPass
from attribution.needed.evidence_sentences import content_of_gold
from attribution.needed.messages import Messages, Mode
from attribution.needed.presence import HOLDS
from attribution.needed.question import QuestionForm, form
from attribution.text.refusals import refuses
from attribution.trace.graph import TraceGraph
from schema.kinds import OperationKind, VariableKind
from schema.models import Failure

_RIGHT = 0.5
_RETRIEVED = 1
_WRITES = frozenset({OperationKind.UPDATE, OperationKind.DELETION})


@dataclass(frozen=True, slots=True)
class ReplayJudge:
    """Judges answers to a failure's question by the gold answers, and finds the pieces of the right answer.

    Attributes:
        evidence: ids of the messages that contain the pieces.
        pieces: the pieces that the right answer needs, each traced by the free pass.
    """

    graph: TraceGraph
    messages: Messages
    failure: Failure
    evidence: Sequence[str]
    pieces: Sequence[FailureInTrace]

    @classmethod
    async def of(cls, graph: TraceGraph, failure: Failure) -> ReplayJudge:
        """The judge of a failure."""
        flow = FlowPass()
        messages = await flow.messages(graph)
        evidence = [one for one in failure.evidence_ids if one in messages.sentences]
        if not evidence and failure.gold_answers:
            evidence = await flow.retrieve(graph, failure, Mode.GOLD, _RETRIEVED)
        endings = await flow.endings(graph, replace(failure, evidence_ids=tuple(evidence)))
        pieces = [one.traced for some in endings for one in some if one.traced is not None]
        return cls(graph, messages, failure, evidence, pieces)

    def is_right(self, answer: str) -> bool:
        """Whether an answer agrees with the gold answers."""
        if form(self.failure) is QuestionForm.UNANSWERABLE:
            return refuses(answer)
        if not answer.strip():
            return False
        said = replace(self.failure, prediction=answer)
        want = content_of_gold(self.messages, said)
        return rules.right(self.graph, self.messages, said, self.evidence, want).likelihood >= _RIGHT

    async def had(self, operation_id: str) -> bool:
        """Whether an operation's inputs had a piece of the answer; for a search, also the memory at that time."""
        operation = self.graph.operations[operation_id]
        for piece in self.pieces:
            if await piece.holders(self.graph.used(operation_id)):
                return True
            if operation.kind is OperationKind.RETRIEVAL:
                units = await piece.current_units(operation.sequence)
                if any(one.score >= HOLDS for one in units.values()):
                    return True
        return False

    async def gave(self, operation_id: str) -> bool:
        """Whether an operation's outputs have all pieces of the answer."""
        made = self.graph.made(operation_id)
        for piece in self.pieces:
            if not await piece.holders(made):
                return False
        return bool(self.pieces)

    async def others_gave(self, operation_id: str) -> bool:
        """Whether a sibling operation passed on a piece that this operation left out.

        Several operations often share the work that one reply of a model decides on. Such siblings have the same name,
        or all write to the memory; they use the shared input in the same role, and have the same question or none.
        """
        graph = self.graph

        def asked(operation: str) -> set[str]:
            return {one for one in graph.used(operation) if graph.variables[one].kind is VariableKind.QUERY}

        roles = {(one.operation_id, one.variable_id): one.role for one in await graph.store.usages(graph.trace_id)}
        this, question = graph.operations[operation_id], asked(operation_id)
        for piece in self.pieces:
            for variable in await piece.holders(graph.used(operation_id)):
                role = roles.get((operation_id, variable))
                for user in graph.users(variable):
                    other = graph.operations[user]
                    is_alike = other.name == this.name or {this.kind, other.kind} <= _WRITES
                    is_part = is_alike and roles.get((user, variable)) == role and asked(user) == question
                    if other is not this and is_part and await piece.holders(graph.made(user)):
                        return True
        return False

    async def had_unit(self, operation_id: str) -> bool:
        """Whether an operation that writes to the memory used a unit with a piece of the answer.

        Then the memory had the piece until this operation, so no earlier operation lost it.
        """
        graph = self.graph
        if graph.operations[operation_id].kind not in _WRITES:
            return False
        units = [one for one in graph.used(operation_id) if graph.variables[one].kind is VariableKind.MEMORY_UNIT]
        for piece in self.pieces:
            if await piece.holders(units):
                return True
        return False

    async def told(self) -> str:
        """The texts of the evidence messages, one per line."""
        texts = await self.graph.texts(self.evidence)
        return "\n".join(texts[one] for one in self.evidence)

    async def irrelevant(self) -> str:
        """The text of a message that has nothing to do with the question, as a placebo."""
        evidence = set(self.evidence)
        others = [one for one in self.messages.sentences if one not in evidence]
        texts = await self.graph.texts(others)
        holders = {one for piece in self.pieces for one in await piece.holders(others)}
        asked = _words(self.failure.question) | _words(await self.told())
        free = [one for one in others if one not in holders and texts[one].strip()]
        if not free:
            return "The weather was mild that day."
        return texts[min(free, key=lambda one: (len(asked & _words(texts[one])), self.graph.variables[one].sequence))]


def _words(text: str) -> set[str]:
    return set(text.lower().split())
