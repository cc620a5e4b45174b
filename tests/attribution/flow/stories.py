"""Small memory systems with one fault each, built by hand, with invented names and texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from schema.kinds import DerivationKind, OperationKind, VariableKind
from schema.models import Failure, Operation, Variable
from tests.factory import TraceBuilder


@dataclass
class Story:
    """A trace under construction: messages in, facts out, units kept, one question asked."""

    trace: TraceBuilder
    evidence: list[Variable]

    @classmethod
    def of(cls, project: str, *messages: str, name: str = "story") -> Self:
        trace = TraceBuilder(project, name)
        trace.session("talk")
        said = [trace.variable(f"message-{n}", text, kind=VariableKind.MESSAGE) for n, text in enumerate(messages)]
        return cls(trace, said)

    def step(
        self, step: str, kind: OperationKind, used: list[Variable], *made: tuple[str, str, VariableKind], **more: Any
    ) -> list[Variable]:
        """Add an operation; each output is derived from all inputs."""
        operation = self.trace.operation(step, kind=kind)
        self.trace.use(operation, *used)
        outputs = []
        for external_id, text, what in made:
            target = self.trace.variable(external_id, text, by=operation, kind=what, **more)
            self.trace.derive(target, *used, by=operation)
            outputs.append(target)
        return outputs

    def store(self, message: int, fact: str, unit: str | None = None, key: str = "unit") -> Variable:
        """A message becomes a fact, and that a unit."""
        extracted = (f"fact-{key}", fact, VariableKind.RESPONSE)
        (found,) = self.step(f"extract-{key}", OperationKind.EXTRACTION, [self.evidence[message]], extracted)
        kept = (f"{key}-1", fact if unit is None else unit, VariableKind.MEMORY_UNIT)
        (made,) = self.step(f"write-{key}", OperationKind.UPDATE, [found], kept, name=key, version=1)
        return made

    def rewrite(self, unit: Variable, text: str, *others: Variable) -> Variable:
        """The next version of a unit."""
        operation = self.trace.operation(f"rewrite-{unit.external_id}", kind=OperationKind.UPDATE)
        version = unit.version + 1
        more = {"name": unit.name, "version": version, "revision_of": unit.id}
        made = self.trace.variable(f"{unit.name}-{version}", text, by=operation, kind=VariableKind.MEMORY_UNIT, **more)
        self.trace.use(operation, unit, *others)
        self.trace.derive(made, unit, *others, by=operation)
        return made

    def give_back(self, step: str, unit: Variable, *others: Variable) -> Variable:
        """An update of a unit that gives it back as it was."""
        operation = self.trace.operation(step, kind=OperationKind.UPDATE)
        self.trace.use(operation, unit, *others)
        text, number = self.trace.text(unit), 100 + len(self.trace.operations)
        read = self.trace.variable(
            unit.external_id, text, by=operation, name=unit.name, version=unit.version, occurrence=number
        )
        self.trace.derive(read, unit, by=operation, kind=DerivationKind.READ)
        self.trace.derive(read, *others, by=operation)
        return read

    def delete(self, unit: Variable) -> Operation:
        """The end of a unit."""
        operation = self.trace.operation(f"delete-{unit.external_id}", kind=OperationKind.UPDATE)
        self.trace.use(operation, unit)
        self.trace.invalidate(operation, unit)
        return operation

    def ask(self, question: str, gold: str, answer: str, found: list[Variable], evidence: int | None = 0) -> Failure:
        """A search that returns some units, and the answer that is made of them."""
        query = self.trace.variable("question", question, kind=VariableKind.QUERY)
        search = self.trace.operation("search", kind=OperationKind.RETRIEVAL)
        self.trace.use(search, query, *found)
        read = []
        for unit in found:
            occurrence = self.trace.variable(
                unit.external_id, self.trace.text(unit), by=search, name=unit.name, version=unit.version, occurrence=1
            )
            self.trace.derive(occurrence, unit, by=search, kind=DerivationKind.READ)
            self.trace.derive(occurrence, query, by=search)
            read.append(occurrence)
        reply = self.trace.operation("reply", kind=OperationKind.GENERATION)
        context = "\n".join(self.trace.text(unit) for unit in read) or "nothing was found"
        seen = self.trace.variable("context", context, by=reply, kind=VariableKind.CONTEXT)
        self.trace.use(reply, query, *read)
        if read:
            self.trace.derive(seen, *read, by=reply)
        told = self.trace.variable("answer", answer, by=reply, kind=VariableKind.ANSWER)
        self.trace.derive(told, query, seen, by=reply)
        wanted = self.trace.variable("gold", gold, kind=VariableKind.GOLD_ANSWER)
        judge = self.trace.operation("judge", kind=OperationKind.JUDGE)
        self.trace.use(judge, query, wanted, told)
        score = self.trace.variable("score", "0", by=judge, kind=VariableKind.SCORE)
        self.trace.derive(score, query, wanted, told, by=judge)
        ids = () if evidence is None else (self.evidence[evidence].id,)
        return self.trace.failure(query, told, gold_answers=(gold,), evidence_ids=ids)
