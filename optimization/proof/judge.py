"""Whether an answer is right, and where in the trace the needed detail is: both as the free pass sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from attribution.free_pass import rules
from attribution.free_pass.failure_in_trace import Case
from attribution.free_pass.flow import FlowPass
from attribution.needed.evidence_sentences import wanted
from attribution.needed.messages import Messages, Mode
from attribution.needed.presence import HOLDS
from attribution.needed.question import Form, form, refuses
from attribution.trace.graph import TraceGraph
from schema.kinds import OperationKind, VariableKind
from schema.models import Failure

_RIGHT = 0.5
_RETRIEVED = 1
_WRITES = frozenset({OperationKind.UPDATE, OperationKind.DELETION})


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges answers to the question of a failure by its gold answers, and follows what the right one needs.

    Attributes:
        evidence: ids of the messages that tell what the answer needs.
        cases: each detail that it needs.
    """

    graph: TraceGraph
    messages: Messages
    failure: Failure
    evidence: Sequence[str]
    cases: Sequence[Case]

    @classmethod
    async def of(cls, graph: TraceGraph, failure: Failure) -> Judge:
        """The judge of a failure."""
        flow = FlowPass()
        messages = await flow.messages(graph)
        evidence = [one for one in failure.evidence_ids if one in messages.sentences]
        if not evidence and failure.gold_answers:
            evidence = await flow.retrieve(graph, failure, Mode.GOLD, _RETRIEVED)
        endings = await flow.endings(graph, replace(failure, evidence_ids=tuple(evidence)))
        cases = [one.case for some in endings for one in some if one.case is not None]
        return cls(graph, messages, failure, evidence, cases)

    def is_right(self, answer: str) -> bool:
        """Whether an answer says what the gold answers say."""
        if form(self.failure) is Form.UNANSWERABLE:
            return refuses(answer)
        if not answer.strip():
            return False
        said = replace(self.failure, prediction=answer)
        want = wanted(self.messages, said)
        return rules.right(self.graph, self.messages, said, self.evidence, want).likelihood >= _RIGHT

    async def had(self, operation_id: str) -> bool:
        """Whether an operation was given what the answer needs; a search could find what the memory held then."""
        operation = self.graph.operations[operation_id]
        for case in self.cases:
            if await case.holders(self.graph.used(operation_id)):
                return True
            if operation.kind is OperationKind.RETRIEVAL:
                units = await case.current_units(operation.sequence)
                if any(one.score >= HOLDS for one in units.values()):
                    return True
        return False

    async def gave(self, operation_id: str) -> bool:
        """Whether what an operation made still has all that the answer needs of what it was given."""
        made = self.graph.made(operation_id)
        for case in self.cases:
            if not await case.holders(made):
                return False
        return bool(self.cases)

    async def others_gave(self, operation_id: str) -> bool:
        """Whether another operation had a part of the same to do, and carried on what this one left out.

        What one reply of a model decides is often done by several operations: of one name, or each a write to the
        memory. They are given it in the same role, and for the same question if for any.
        """
        graph = self.graph

        def asked(operation: str) -> set[str]:
            return {one for one in graph.used(operation) if graph.variables[one].kind is VariableKind.QUERY}

        roles = {(one.operation_id, one.variable_id): one.role for one in await graph.store.usages(graph.trace_id)}
        this, question = graph.operations[operation_id], asked(operation_id)
        for case in self.cases:
            for variable in await case.holders(graph.used(operation_id)):
                role = roles.get((operation_id, variable))
                for user in graph.users(variable):
                    other = graph.operations[user]
                    is_alike = other.name == this.name or {this.kind, other.kind} <= _WRITES
                    is_part = is_alike and roles.get((user, variable)) == role and asked(user) == question
                    if other is not this and is_part and await case.holders(graph.made(user)):
                        return True
        return False

    async def had_unit(self, operation_id: str) -> bool:
        """Whether an operation that writes to the memory was given a unit with what the answer needs.

        Up to there the memory had it, so no operation before it lost it.
        """
        graph = self.graph
        if graph.operations[operation_id].kind not in _WRITES:
            return False
        units = [one for one in graph.used(operation_id) if graph.variables[one].kind is VariableKind.MEMORY_UNIT]
        for case in self.cases:
            if await case.holders(units):
                return True
        return False

    async def told(self) -> str:
        """The messages of the evidence, one a line."""
        texts = await self.graph.texts(self.evidence)
        return "\n".join(texts[one] for one in self.evidence)

    async def irrelevant(self) -> str:
        """A message of the trace that says nothing of what was asked: a placebo."""
        evidence = set(self.evidence)
        others = [one for one in self.messages.sentences if one not in evidence]
        texts = await self.graph.texts(others)
        holders = {one for case in self.cases for one in await case.holders(others)}
        asked = _words(self.failure.question) | _words(await self.told())
        free = [one for one in others if one not in holders and texts[one].strip()]
        if not free:
            return "The weather was mild that day."
        return texts[min(free, key=lambda one: (len(asked & _words(texts[one])), self.graph.variables[one].sequence))]


def _words(text: str) -> set[str]:
    return set(text.lower().split())
