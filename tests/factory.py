"""Builders of traces for tests: short to write, with the same deterministic ids whenever they are built again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from schema.ids import hash_value, make_id, trace_id
from schema.kinds import DerivationKind, ErrorType, OperationKind, Origin, Status, VariableKind
from schema.models import (
    PREVIEW_CHARACTERS,
    WHOLE_VALUE_BYTES,
    Attribution,
    Batch,
    Derivation,
    Failure,
    Invalidation,
    Operation,
    Session,
    Trace,
    Usage,
    Variable,
)
from store.contract.answers import WriteResult
from store.contract.protocol import GraphStore
from store.values.packs import PackWriter

START = datetime(2026, 3, 1, 12, 30, 15, 123456, UTC)


def moment(number: int) -> datetime:
    """The time of element ``number``; times grow with the number."""
    return START + timedelta(microseconds=1001 * number)


@dataclass
class TraceBuilder:
    """Collects the elements of one trace. Every method takes further fields of the model as keywords."""

    project: str
    name: str = "trace"
    trace: Trace = field(init=False)
    sessions: list[Session] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)
    derivations: list[Derivation] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)
    invalidations: list[Invalidation] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    attributions: list[Attribution] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    """Values by hash, of any size."""

    def __post_init__(self) -> None:
        self.trace = Trace(
            id=trace_id(self.project, self.name),
            project_id=self.project,
            external_id=self.name,
            name=f"the {self.name}",
            source="tests",
            created_at=START,
            attributes='{"seed":7}',
        )

    def _id(self, label: str, *parts: str) -> str:
        return make_id(label, self.trace.id, *parts)

    def session(self, external_id: str, **more: Any) -> Session:
        """Append a session."""
        number = len(self.sessions)
        session = Session(
            id=self._id("Session", external_id),
            project_id=self.project,
            trace_id=self.trace.id,
            external_id=external_id,
            name=f"session {external_id}",
            category="conversation",
            comment=None,
            sequence=number,
            created_at=moment(number),
        )
        self.sessions.append(replace(session, **more) if more else session)
        return self.sessions[-1]

    def operation(self, external_id: str, **more: Any) -> Operation:
        """Append an operation to the newest session."""
        number = len(self.operations)
        operation = Operation(
            id=self._id("Operation", external_id),
            project_id=self.project,
            trace_id=self.trace.id,
            session_id=self.sessions[-1].id if self.sessions else None,
            external_id=external_id,
            name=f"operation {external_id}",
            kind=OperationKind.UPDATE,
            category="update",
            comment=None,
            status=Status.OK,
            sequence=number,
            started_at=moment(number),
            ended_at=moment(number + 1),
            location=None,
        )
        self.operations.append(replace(operation, **more) if more else operation)
        return self.operations[-1]

    def variable(self, external_id: str, text: str = "text", by: Operation | None = None, **more: Any) -> Variable:
        """A variable after those that are there, with this value, made by an operation or from outside."""
        number = len(self.variables)
        data = text.encode()
        occurrence = str(more.get("occurrence", 0))
        variable = Variable(
            id=self._id("Variable", external_id, occurrence),
            project_id=self.project,
            trace_id=self.trace.id,
            session_id=self.sessions[-1].id if self.sessions else None,
            external_id=external_id,
            name=external_id,
            class_name=None,
            version=0,
            occurrence=0,
            kind=VariableKind.MEMORY_UNIT,
            category=None,
            comment=None,
            preview=text[:PREVIEW_CHARACTERS],
            value=text if len(data) <= WHOLE_VALUE_BYTES else None,
            value_hash=hash_value(data),
            size=len(data),
            media_type="text/plain",
            sequence=number,
            created_at=moment(number),
            location=None,
            operation_id=by.id if by else None,
        )
        self.texts[variable.value_hash] = text
        self.variables.append(replace(variable, **more) if more else variable)
        return self.variables[-1]

    def derive(self, target: Variable, *sources: Variable, by: Operation, **more: Any) -> list[Derivation]:
        """``target`` from each of the sources, through an operation that used them."""
        added = []
        for source in sources:
            number = len(self.derivations)
            derivation = Derivation(
                id=self._id("Derivation", source.id, target.id, by.id, str(number)),
                project_id=self.project,
                trace_id=self.trace.id,
                source=source.id,
                target=target.id,
                operation_id=by.id,
                external_id=f"edge-{number}",
                kind=DerivationKind.DERIVATION,
                category=None,
                comment=None,
                sequence=number,
                created_at=moment(number),
                location=None,
            )
            self.derivations.append(replace(derivation, **more) if more else derivation)
            added.append(self.derivations[-1])
        return added

    def use(self, operation: Operation, *variables: Variable, role: str | None = None) -> None:
        """Say that an operation used variables, in this order."""
        before = sum(usage.operation_id == operation.id for usage in self.usages)
        self.usages.extend(
            Usage(operation.id, variable.id, role, before + place) for place, variable in enumerate(variables)
        )

    def invalidate(self, operation: Operation, *variables: Variable) -> None:
        """Say that an operation ended the life of variables."""
        self.invalidations.extend(Invalidation(variable.id, operation.id) for variable in variables)

    def failure(self, question: Variable, answer: Variable | None = None, /, **more: Any) -> Failure:
        """A failure of the answer to a question."""
        failure = Failure(
            id=self._id("Failure", question.id),
            project_id=self.project,
            trace_id=self.trace.id,
            origin=Origin.JUDGE,
            question_id=question.id,
            answer_id=answer.id if answer else None,
            expected_id=None,
            evidence_ids=(),
            question=self.texts[question.value_hash],
            prediction=self.texts[answer.value_hash] if answer else None,
            gold_answers=("gold",),
            created_at=moment(len(self.failures)),
        )
        self.failures.append(replace(failure, **more) if more else failure)
        self.variables[:] = [replace(one, right=False) if one is answer else one for one in self.variables]
        return self.failures[-1]

    def wrong_answer(
        self, name: str, /, *, question: str, read: Variable, context: str, answer: str, **more: Any
    ) -> Failure:
        """A failure of an answer that was made from a context, which a search made of something that it read."""
        asked = self.variable(f"query-{name}", question, kind=VariableKind.QUERY)
        search = self.operation(f"search-{name}", kind=OperationKind.RETRIEVAL)
        found = self.variable(f"context-{name}", context, by=search, kind=VariableKind.CONTEXT)
        self.use(search, asked, read)
        self.derive(found, asked, read, by=search)
        answering = self.operation(f"answering-{name}", kind=OperationKind.GENERATION)
        said = self.variable(f"answer-{name}", answer, by=answering, kind=VariableKind.ANSWER)
        self.use(answering, asked, found)
        self.derive(said, asked, found, by=answering)
        return self.failure(asked, said, **more)

    def attribution(self, failure: Failure, method: str = "words", /, **more: Any) -> Attribution:
        """A verdict on a failure."""
        attribution = Attribution(
            id=self._id("Attribution", failure.id, method),
            project_id=self.project,
            trace_id=self.trace.id,
            failure_id=failure.id,
            error_type=ErrorType.RETRIEVAL,
            operation_id=None,
            confidence=0.75,
            method=method,
            model=None,
            reason="not among what was returned",
            evidence="[]",
            candidates="[]",
            tokens=None,
            cost=None,
            seconds=0.001,
            created_at=moment(len(self.attributions)),
            author=None,
        )
        self.attributions.append(replace(attribution, **more) if more else attribution)
        return self.attributions[-1]

    def batch(self) -> Batch:
        """The batch of everything built until now."""
        return Batch(
            self.trace,
            list(self.sessions),
            list(self.operations),
            list(self.variables),
            list(self.derivations),
            list(self.usages),
            list(self.invalidations),
            list(self.failures),
            list(self.attributions),
        )

    def text(self, variable: Variable) -> str:
        """The whole value of a variable."""
        return self.texts[variable.value_hash]

    @contextmanager
    def values(self) -> Iterator[PackWriter]:
        """The values that are too large to stand on their variables."""
        with PackWriter() as writer:
            for variable in self.variables:
                if variable.value is None:
                    writer.add(variable.value_hash, self.text(variable).encode())
            yield writer

    async def write(self, store: GraphStore) -> WriteResult:
        """Write all that was built so far, values included."""
        with self.values() as values:
            return await store.write(self.batch(), values)
