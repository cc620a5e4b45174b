"""Checks what became of events: whether each is in the graph, and whether the graph is consistent."""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from memtrace import events as wire

from schema.ids import make_id, trace_id
from schema.kinds import Status
from schema.models import Derivation, Failure, Invalidation, Operation, Session, Usage, Variable
from store.contract.answers import IN_ORDER, Label
from store.contract.protocol import GraphStore
from store.shared.paging import every, in_trace


@dataclass(frozen=True)
class Graph:
    """All of a trace.

    Attributes:
        id: the trace's; it need not be there.
        is_there: whether it is.
    """

    id: str
    is_there: bool
    sessions: dict[str, Session]
    operations: dict[str, Operation]
    variables: dict[str, Variable]
    derivations: dict[str, Derivation]
    usages: list[Usage]
    invalidations: list[Invalidation]
    failures: list[Failure]

    def check(self) -> None:
        """Check that it is whole, without gaps and without cycles."""
        for elements in (self.sessions, self.operations, self.variables, self.derivations):
            assert [one.sequence for one in elements.values()] == list(range(len(elements))), self.id
        for operation in self.operations.values():
            assert operation.session_id is None or operation.session_id in self.sessions
        for variable in self.variables.values():
            assert variable.session_id is None or variable.session_id in self.sessions
            assert variable.operation_id is None or variable.operation_id in self.operations
            assert variable.revision_of is None or variable.revision_of in self.variables
        sources: dict[str, list[str]] = {}
        for derivation in self.derivations.values():
            assert {derivation.source, derivation.target} <= self.variables.keys()
            assert derivation.operation_id in self.operations
            assert self.variables[derivation.source].sequence < self.variables[derivation.target].sequence
            sources.setdefault(derivation.target, []).append(derivation.source)
        TopologicalSorter(sources).prepare()  # raises CycleError for a cycle
        edges: list[Usage | Invalidation] = [*self.usages, *self.invalidations]
        for edge in edges:
            assert edge.operation_id in self.operations
            assert edge.variable_id in self.variables
        for failure in self.failures:
            assert {failure.question_id, failure.answer_id, *failure.evidence_ids} <= self.variables.keys()
        assert self.is_there or not self.elements()

    def holds(self, event: wire.Event) -> bool:
        """Whether it contains what an event says."""

        def id_of(label: Label, name: str) -> str:
            return make_id(label.value, self.id, name)

        match event:
            case wire.TraceEvent():
                return self.is_there
            case wire.SessionEvent():
                return id_of(Label.SESSION, event.session) in self.sessions
            case wire.OperationStarted():
                return id_of(Label.OPERATION, event.operation) in self.operations
            case wire.OperationEnded():
                operation = self.operations.get(id_of(Label.OPERATION, event.operation))
                return operation is not None and operation.status is not Status.RUNNING
            case wire.VariableEvent():
                return id_of(Label.VARIABLE, event.variable) in self.variables
            case wire.Derived():
                target = self.variables.get(id_of(Label.VARIABLE, event.target))
                maker = None if target is None else target.operation_id
                is_of_another = maker not in {None, id_of(Label.OPERATION, event.operation)}
                return id_of(Label.DERIVATION, event.derivation) in self.derivations or (event.stored and is_of_another)
            case wire.Used() | wire.Considered():
                used = (id_of(Label.OPERATION, event.operation), id_of(Label.VARIABLE, event.variable))
                return used in {(usage.operation_id, usage.variable_id) for usage in self.usages}
            case wire.Invalidated():
                gone = Invalidation(id_of(Label.VARIABLE, event.variable), id_of(Label.OPERATION, event.operation))
                return gone in self.invalidations
            case wire.Feedback():
                return id_of(Label.VARIABLE, event.answer) in {failure.answer_id for failure in self.failures}

    def elements(self) -> set[str]:
        """Ids of its sessions, operations, variables and derivations."""
        return self.sessions.keys() | self.operations.keys() | self.variables.keys() | self.derivations.keys()


def made_by(trace: str, event: wire.Event) -> str | None:
    """The id of the element that an event makes; None where it makes none."""
    match event:
        case wire.SessionEvent():
            return make_id(Label.SESSION.value, trace, event.session)
        case wire.OperationStarted():
            return make_id(Label.OPERATION.value, trace, event.operation)
        case wire.VariableEvent():
            return make_id(Label.VARIABLE.value, trace, event.variable)
        case wire.Derived():
            return make_id(Label.DERIVATION.value, trace, event.derivation)
    return None


async def graph_of(store: GraphStore, external_id: str) -> Graph:
    """All of a trace, by its id in the source."""
    id_ = trace_id(store.project_id, external_id)
    found: dict[Label, dict[str, Any]] = {}
    for label in IN_ORDER:
        found[label] = {one.id: one async for one in in_trace(store, label, id_)}
    return Graph(
        id_,
        bool(await store.get(Label.TRACE, [id_])),
        found[Label.SESSION],
        found[Label.OPERATION],
        found[Label.VARIABLE],
        found[Label.DERIVATION],
        await store.usages(id_),
        await store.invalidations(id_),
        [failure async for failure in every(lambda after: store.failures(id_, after=after))],
    )
