"""Makes the elements of a trace from the records of a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from msgspec import UNSET

from ingest.files.smartcomment import leftover, records
from ingest.files.smartcomment.kinds import operation_kinds, refine_variables, variable_kind
from ingest.files.smartcomment.links import invalidations, revisions, usages
from ingest.files.smartcomment.read import EdgeRecord, Element, OperationRecord, SessionRecord, given, version_of
from ingest.files.smartcomment.recorded import RecordedFile, location_of, metadata_of, read_time
from ingest.files.smartcomment.records import difference, is_usual, is_usual_name, keep
from ingest.files.smartcomment.repair import (
    NO_MAKER,
    ExactGraph,
    RecordedGraph,
    renumbered,
    repair,
    sequence_of_instances,
)
from schema.constructors import constructor
from schema.ids import IdMaker, trace_id
from schema.kinds import DerivationKind, OperationKind, Status, VariableKind
from schema.models import (
    NO_ATTRIBUTES,
    PREVIEW_CHARACTERS,
    WHOLE_VALUE_BYTES,
    Batch,
    Derivation,
    Operation,
    Session,
    Trace,
    Variable,
)

SOURCE = "smartcomment"


@dataclass(frozen=True, slots=True)
class Built:
    """A trace's elements, and data that finding failures needs.

    Attributes:
        batch: the elements of the trace.
        exact: the repaired graph.
        instances: id of each instance (see ``ExactGraph``), recorded variables first.
        kinds: kind of each recorded variable.
        operation_kinds: kind of each operation.
    """

    batch: Batch
    exact: ExactGraph
    instances: list[str]
    kinds: list[VariableKind]
    operation_kinds: list[OperationKind]


def build(
    recorded: RecordedFile, project_id: str, stored_sequences: Mapping[str, int], plain_name: str | None = None
) -> Built:
    """Repair the recorded graph and make the elements of its trace, except failures.

    Args:
        recorded: the file.
        project_id: the owner.
        stored_sequences: sequence numbers of the trace's stored variables, by id; these numbers stay.
        plain_name: the file's plain name; see ``ingest.files.protocol.OpenFile``.

    Raises:
        InputError: a time or the metadata of a record is malformed.
    """
    return _Builder(recorded, project_id, plain_name).build(stored_sequences)


class _Builder:
    def __init__(self, recorded: RecordedFile, project_id: str, plain_name: str | None) -> None:
        self.recorded = recorded
        self.plain_name = plain_name
        self.project_id = project_id
        graph = recorded.file.graph
        self.trace_id = trace_id(project_id, graph.graph_id)
        self.user_id = given(graph.user_id)
        self.owner_id = given(graph.project_id)
        # Position -1, the last entry, means "no session".
        self.session_ids: list[str | None] = [
            *map(IdMaker("Session", self.trace_id), recorded.session_index),
            None,
        ]
        self.session_names: list[str | None] = [*recorded.session_index, None]
        operation_id = IdMaker("Operation", self.trace_id)
        self.operation_ids = [operation_id(element.record.op_id) for element in recorded.operations]
        self.common = records.Common(
            graph.graph_id,
            self.user_id,
            self.owner_id,
            recorded.clock,
            dict(zip(self.session_ids, self.session_names, strict=True)),
            {id_: e.record.op_id for id_, e in zip(self.operation_ids, recorded.operations, strict=True)},
            {},
        )

    def build(self, stored_sequences: Mapping[str, int]) -> Built:
        recorded = self.recorded
        kinds = [variable_kind(given(n.record.class_name), given(n.record.category)) for n in recorded.nodes]
        graph = self._graph(kinds)
        exact = repair(graph)
        operations = self._operation_kinds(kinds, exact)
        instances = self._instance_ids(exact)
        self.common.variables.update(zip(instances, (node.key for node in recorded.nodes), strict=False))
        self.common.variables.update(
            (instances[len(kinds) + i], recorded.nodes[o.variable].key) for i, o in enumerate(exact.occurrences)
        )
        places = renumbered(sequence_of_instances(graph, exact), instances, stored_sequences)
        batch = Batch(
            self._trace(),
            list(self._sessions()),
            list(self._operations(operations)),
            list(self._variables(kinds, exact, instances, places)),
        )
        batch.derivations.extend(self._derivations(exact, instances, batch.variables))
        batch.usages.extend(usages(recorded, exact, instances, self.operation_ids))
        batch.invalidations.extend(invalidations(recorded, kinds, instances, self.operation_ids))
        return Built(batch, exact, instances, kinds, operations)

    def _graph(self, kinds: list[VariableKind]) -> RecordedGraph:
        recorded = self.recorded
        names: dict[tuple[Any, Any], int] = {}
        return RecordedGraph(
            recorded.sources,
            recorded.targets,
            recorded.edge_operations,
            [recorded.session_index.get(node.record.session_id or "", -1) for node in recorded.nodes],
            recorded.operation_sessions,
            [names.setdefault((e.record.op_name, e.record.category), len(names)) for e in recorded.operations],
            [kind is VariableKind.QUERY for kind in kinds],
        )

    def _operation_kinds(self, kinds: list[VariableKind], exact: ExactGraph) -> list[OperationKind]:
        recorded = self.recorded
        inputs: list[set[int]] = [set() for _ in recorded.operations]
        outputs: list[set[int]] = [set() for _ in recorded.operations]
        ends = zip(recorded.sources, recorded.targets, recorded.edge_operations, strict=True)
        for source, target, operation in ends:
            inputs[operation].add(source)
            outputs[operation].add(target)
        names = [(given(e.record.op_name), given(e.record.category)) for e in recorded.operations]
        operations = operation_kinds(names, inputs, outputs, kinds)
        is_final = [maker == NO_MAKER or node not in inputs[maker] for node, maker in enumerate(exact.makers)]
        refine_variables(kinds, exact.makers, operations, is_final)
        return operations

    def _instance_ids(self, exact: ExactGraph) -> list[str]:
        nodes, operations = self.recorded.nodes, self.recorded.operations
        variable_id = IdMaker("Variable", self.trace_id)
        occurrence_id = IdMaker("Occurrence", self.trace_id)
        return [
            *(variable_id(node.key) for node in nodes),
            *(occurrence_id(nodes[o.variable].key, operations[o.operation].record.op_id) for o in exact.occurrences),
        ]

    def _trace(self) -> Trace:
        recorded = self.recorded
        file, graph = recorded.file, recorded.file.graph
        kept: dict[str, Any] = {"timezone": recorded.timezone}
        for key in ("user_id", "project_id", "storage_path", "strict", "driver_type", "created_at"):
            value = getattr(graph, key)
            if value is not UNSET:
                kept[key] = value
        absent = [name for name in ("nodes", "edges", "operations", "sessions") if getattr(graph.data, name) is UNSET]
        if graph.metadata is UNSET:
            absent.append("metadata")
        if absent:
            kept["absent"] = absent
        if file.extra:
            kept["set"] = file.extra
        if file.data_extra:
            kept["data"] = file.data_extra
        if graph.data.annotations is not UNSET:
            kept["annotations"] = len(file.annotations)
        if self.plain_name is not None:
            kept[leftover.FILE] = self.plain_name
        created_at = None
        if graph.created_at is not UNSET:
            try:
                created_at = recorded.clock.read(graph.created_at)
            except (ValueError, OverflowError) as error:
                problem = f"{graph.created_at!r} is no time like '2026-11-21 20:28:59.390'"
                raise file.bad("created_at", problem) from error
        metadata = NO_ATTRIBUTES if graph.metadata is UNSET else leftover.as_attributes(graph.metadata)
        return Trace(
            self.trace_id,
            self.project_id,
            graph.graph_id,
            " ".join(part for part in (self.owner_id, self.user_id) if part) or None,
            SOURCE,
            created_at,
            leftover.join(metadata, kept),
        )

    def _sessions(self) -> Iterator[Session]:
        for element in self.recorded.sessions:
            record: SessionRecord = element.record
            place = f"data.sessions[{element.position}]"
            session = Session(
                self.session_ids[element.position] or "",
                self.project_id,
                self.trace_id,
                record.session_id,
                given(record.session_name),
                given(record.category),
                given(record.comment),
                element.position,
                read_time(self.recorded, record, place),
            )
            location = location_of(record)
            kept = difference(element, records.session_record(session, location, {}, self.common))
            if location is not None:
                kept["location"] = location
            yield replace(session, attributes=leftover.join(metadata_of(self.recorded, record, place), kept))

    def _operations(self, kinds: list[OperationKind]) -> Iterator[Operation]:
        recorded = self.recorded
        failed = {
            operation
            for element, operation in zip(recorded.edges, recorded.edge_operations, strict=True)
            if b'"error"' in bytes(element.record.metadata or b"")
        }
        for element in recorded.operations:
            record: OperationRecord = element.record
            position = element.position
            place = f"data.operations[{position}]"
            session = recorded.operation_sessions[position]
            operation = Operation(
                id=self.operation_ids[position],
                project_id=self.project_id,
                trace_id=self.trace_id,
                session_id=self.session_ids[session],
                external_id=record.op_id,
                name=given(record.op_name),
                kind=kinds[position],
                category=given(record.category),
                comment=given(record.comment),
                status=Status.ERROR if position in failed else Status.UNKNOWN,
                sequence=position,
                started_at=read_time(recorded, record, place),
                ended_at=None,
                location=location_of(record),
                attributes=metadata_of(recorded, record, place),
            )
            if record.op_name is UNSET or not is_usual(
                element, operation.location, self.session_names[session], self.common
            ):
                operation = keep(operation, element, records.operation_record(operation, {}, self.common))
            yield operation

    def _variables(
        self, kinds: list[VariableKind], exact: ExactGraph, instances: list[str], places: list[int]
    ) -> Iterator[Variable]:
        recorded = self.recorded
        make = constructor(Variable)
        before = revisions(recorded.nodes, instances)
        # An export restores the order of the file from a variable's rank among the recorded variables.
        by_place = sorted(range(len(recorded.nodes)), key=places.__getitem__)
        ranks = {node: rank for rank, node in enumerate(by_place)}
        found: list[Variable] = []
        for position, node in enumerate(recorded.nodes):
            record = node.record
            session = recorded.session_index.get(record.session_id or "", -1)
            maker = exact.makers[position]
            is_whole = node.size <= WHOLE_VALUE_BYTES
            variable = make(
                instances[position],
                self.project_id,
                self.trace_id,
                self.session_ids[session],
                node.key,
                record.name,
                given(record.class_name),
                version_of(record),
                0,
                kinds[position],
                given(record.category),
                given(record.comment),
                node.text[:PREVIEW_CHARACTERS],
                node.text if is_whole else None,
                node.value_hash,
                node.size,
                node.media_type,
                places[position],
                node.created_at,
                node.location,
                node.metadata,
                None if maker == NO_MAKER else self.operation_ids[maker],
                before.get(position),
            )
            element = Element(record, position, node.extra)
            usual = is_usual(element, node.location, self.session_names[session], self.common) and is_usual_name(node)
            if not usual or ranks[position] != position:
                kept = {} if ranks[position] == position else {"position": position}
                variable = keep(variable, element, records.node_record(variable, "", {}, self.common), kept)
            found.append(variable)
            yield variable
        for i, occurrence in enumerate(exact.occurrences):
            instance = len(recorded.nodes) + i
            edge: EdgeRecord = recorded.edges[occurrence.edge].record
            yield replace(
                found[occurrence.variable],
                id=instances[instance],
                session_id=self.session_ids[recorded.operation_sessions[occurrence.operation]],
                occurrence=occurrence.number,
                sequence=places[instance],
                created_at=read_time(recorded, edge, f"data.edges[{occurrence.edge}]"),
                location=location_of(edge),
                attributes=NO_ATTRIBUTES,
                operation_id=self.operation_ids[occurrence.operation],
                revision_of=None,
            )

    def _derivations(self, exact: ExactGraph, instances: list[str], variables: list[Variable]) -> Iterator[Derivation]:
        recorded = self.recorded
        recorded_count = len(recorded.nodes)
        make = constructor(Derivation)
        derivation_id = IdMaker("Derivation", self.trace_id)
        read_id = IdMaker("Read", self.trace_id)
        reads = {o.edge: (recorded_count + i, o) for i, o in enumerate(exact.occurrences) if o.is_read}
        sequence = 0
        for position, element in enumerate(recorded.edges):
            record: EdgeRecord = element.record
            place = f"data.edges[{position}]"
            operation = recorded.edge_operations[position]
            moment = read_time(recorded, record, place)
            location = location_of(record)
            if position in reads:
                instance, occurrence = reads[position]
                node = recorded.nodes[occurrence.variable]
                yield make(
                    read_id(node.key, recorded.operations[operation].record.op_id),
                    self.project_id,
                    self.trace_id,
                    instances[occurrence.variable],
                    instances[instance],
                    self.operation_ids[operation],
                    None,
                    DerivationKind.READ,
                    None,
                    None,
                    sequence,
                    moment,
                    location,
                )
                sequence += 1
            source, target = exact.sources[position], exact.targets[position]
            is_revision = target < recorded_count and variables[target].revision_of == instances[source]
            derivation = make(
                derivation_id(record.edge_id),
                self.project_id,
                self.trace_id,
                instances[source],
                instances[target],
                self.operation_ids[operation],
                record.edge_id,
                DerivationKind.REVISION if is_revision else DerivationKind.DERIVATION,
                given(record.category),
                given(record.comment),
                sequence,
                moment,
                location,
                metadata_of(recorded, record, place),
            )
            sequence += 1
            session = recorded.operation_sessions[operation]
            if not is_usual(element, location, self.session_names[session], self.common):
                expected = records.edge_record(derivation, self.session_ids[session], {}, self.common)
                derivation = keep(derivation, element, expected)
            yield derivation
