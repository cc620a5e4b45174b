"""From the records of a file to the elements of a trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from ingest.smartcomment import leftover, records
from ingest.smartcomment.format import EdgeRecord, NodeRecord, OperationRecord, Record, SessionRecord
from ingest.smartcomment.kinds import operation_kinds, refine_variables, variable_kind
from ingest.smartcomment.order import sequence_of_instances
from ingest.smartcomment.read import Element, version_of
from ingest.smartcomment.recorded import Node, Recorded, location_of, metadata_of, read_time
from ingest.smartcomment.repair import NO_MAKER, ExactGraph, RecordedGraph, repair
from schema.ids import IdMaker, trace_id
from schema.kinds import DerivationKind, OperationKind, Status, VariableKind
from schema.models import (
    NO_ATTRIBUTES,
    PREVIEW_CHARACTERS,
    WHOLE_VALUE_BYTES,
    Batch,
    Derivation,
    Invalidation,
    Operation,
    Session,
    Trace,
    Usage,
    Variable,
)
from schema.quick import constructor

SOURCE = "smartcomment"

E = TypeVar("E", Session, Operation, Variable, Derivation)


@dataclass(frozen=True, slots=True)
class Built:
    """A trace with what was found on the way.

    Attributes:
        instances: id of each instance (see ``ExactGraph``), recorded variables first.
        kinds: kind of each recorded variable.
        operation_kinds: kind of each operation.
    """

    batch: Batch
    exact: ExactGraph
    instances: list[str]
    kinds: list[VariableKind]
    operation_kinds: list[OperationKind]


def build(recorded: Recorded, project_id: str, stored_sequences: Mapping[str, int]) -> Built:
    """Repair the recorded graph and make the elements of its trace; failures are not among them.

    Args:
        recorded: the file.
        project_id: the owner.
        stored_sequences: place by id of the variables of this trace that are stored already; they keep it.

    Raises:
        InputError: a time or the metadata of a record is malformed.
    """
    return _Builder(recorded, project_id).build(stored_sequences)


class _Builder:
    def __init__(self, recorded: Recorded, project_id: str) -> None:
        self.recorded = recorded
        self.project_id = project_id
        graph = recorded.file.graph
        self.trace_id = trace_id(project_id, graph.graph_id)
        self.user_id = _text(graph.user_id)
        self.owner_id = _text(graph.project_id)
        # The last place stands for no session, which positions name as -1.
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
        kinds = [variable_kind(_text(n.record.class_name), _text(n.record.category)) for n in recorded.nodes]
        graph = self._graph(kinds)
        exact = repair(graph)
        operations = self._operation_kinds(kinds, exact)
        instances = self._instance_ids(exact)
        self.common.variables.update(zip(instances, (node.key for node in recorded.nodes), strict=False))
        self.common.variables.update(
            (instances[len(kinds) + i], recorded.nodes[o.variable].key) for i, o in enumerate(exact.occurrences)
        )
        places = _renumbered(sequence_of_instances(graph, exact), instances, stored_sequences)
        batch = Batch(
            self._trace(),
            list(self._sessions()),
            list(self._operations(operations)),
            list(self._variables(kinds, exact, instances, places)),
        )
        batch.derivations.extend(self._derivations(exact, instances, batch.variables))
        batch.usages.extend(self._usages(exact, instances))
        batch.invalidations.extend(self._invalidations(kinds, instances))
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
        names = [(_text(e.record.op_name), _text(e.record.category)) for e in recorded.operations]
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
                _text(record.session_name),
                _text(record.category),
                _text(record.comment),
                element.position,
                read_time(self.recorded, record, place),
            )
            location = location_of(record)
            kept = _difference(element, records.session_record(session, location, {}, self.common))
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
                self.operation_ids[position],
                self.project_id,
                self.trace_id,
                self.session_ids[session],
                record.op_id,
                _text(record.op_name),
                kinds[position],
                _text(record.category),
                _text(record.comment),
                Status.ERROR if position in failed else Status.UNKNOWN,
                position,
                read_time(recorded, record, place),
                None,
                location_of(record),
                metadata_of(recorded, record, place),
            )
            if record.op_name is UNSET or not self._is_usual(element, operation.location, self.session_names[session]):
                operation = _keep(operation, element, records.operation_record(operation, {}, self.common))
            yield operation

    def _variables(
        self, kinds: list[VariableKind], exact: ExactGraph, instances: list[str], places: list[int]
    ) -> Iterator[Variable]:
        recorded = self.recorded
        make = constructor(Variable)
        revisions = _revisions(recorded.nodes, instances)
        # The place of a variable among the recorded ones: on export it stands for the place in the file.
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
                _text(record.class_name),
                version_of(record),
                0,
                kinds[position],
                _text(record.category),
                _text(record.comment),
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
                revisions.get(position),
            )
            element = Element(record, position, node.extra)
            is_usual = self._is_usual(element, node.location, self.session_names[session]) and _is_usual_name(node)
            if not is_usual or ranks[position] != position:
                kept = {} if ranks[position] == position else {"position": position}
                variable = _keep(variable, element, records.node_record(variable, "", {}, self.common), kept)
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
                _text(record.category),
                _text(record.comment),
                sequence,
                moment,
                location,
                metadata_of(recorded, record, place),
            )
            sequence += 1
            session = recorded.operation_sessions[operation]
            if not self._is_usual(element, location, self.session_names[session]):
                expected = records.edge_record(derivation, self.session_ids[session], {}, self.common)
                derivation = _keep(derivation, element, expected)
            yield derivation

    def _usages(self, exact: ExactGraph, instances: list[str]) -> Iterator[Usage]:
        made = set(zip(exact.targets, self.recorded.edge_operations, strict=True))
        positions: dict[int, int] = {}
        for source, operation in dict.fromkeys(zip(exact.sources, self.recorded.edge_operations, strict=True)):
            if (source, operation) not in made:
                position = positions.get(operation, 0)
                positions[operation] = position + 1
                yield Usage(self.operation_ids[operation], instances[source], None, position)

    def _invalidations(self, kinds: list[VariableKind], instances: list[str]) -> Iterator[Invalidation]:
        """A memory unit that an operation turns into a marker of deletion is no longer current."""
        recorded = self.recorded
        ends = zip(recorded.sources, recorded.targets, recorded.edge_operations, strict=True)
        for source, target, operation in dict.fromkeys(ends):
            if (
                kinds[target] is VariableKind.MARKER
                and kinds[source] is VariableKind.MEMORY_UNIT
                and _marks_deletion(recorded.nodes[target])
            ):
                yield Invalidation(instances[source], self.operation_ids[operation])

    def _is_usual(self, element: Element, location: str | None, session_name: str | None) -> bool:
        """Whether the record could be computed again from its element."""
        record = element.record
        return (
            element.extra is None
            and location is not None
            and record.trigger_point == location
            and record.created_at is not UNSET
            and record.graph_id == self.common.graph_id
            and record.session_id == session_name
            and record.user_id == self.user_id
            and record.project_id == self.owner_id
            and record.comment is not UNSET
            and record.category is not UNSET
            and record.metadata is not UNSET
            and self.common.clock.is_usual(record.created_at)
        )


def _text(value: Any) -> Any:
    return None if value is UNSET else value


def _is_usual_name(node: Node) -> bool:
    record: NodeRecord = node.record
    return (
        record.full_node_id == node.key
        and record.class_name is not UNSET
        and record.version is not UNSET
        and record.node_id == f"{record.name}@{record.version}"
        and record.full_name == node.key[: -len(str(record.version)) - 1]
    )


def _difference(element: Element, expected: dict[str, Any]) -> dict[str, Any]:
    record: Record = element.record
    actual = {key: value for key, value in msgspec.structs.asdict(record).items() if value is not UNSET}
    if "metadata" in actual:
        actual["metadata"] = {}
    return leftover.difference({**actual, **(element.extra or {})}, expected)


def _keep(element: E, source: Element, expected: dict[str, Any], kept: dict[str, Any] | None = None) -> E:
    rest = _difference(source, expected) | (kept or {})
    return replace(element, attributes=leftover.join(element.attributes, rest))


def _renumbered(places: list[int], instances: list[str], stored: Mapping[str, int]) -> list[int]:
    """Places that agree with what is stored: what is new comes after it, in its own order."""
    if all(stored.get(id_, place) == place for id_, place in zip(instances, places, strict=True)):
        return places
    kept = [stored.get(id_) for id_ in instances]
    following = max(stored.values()) + 1
    new = sorted((position for position, place in enumerate(kept) if place is None), key=places.__getitem__)
    numbers = {position: following + i for i, position in enumerate(new)}
    return [numbers[position] if place is None else place for position, place in enumerate(kept)]


def _revisions(nodes: list[Node], instances: list[str]) -> dict[int, str]:
    """The id of the version before, by position."""
    by_name: dict[tuple[str | None, str], list[tuple[int, int]]] = {}
    for position, node in enumerate(nodes):
        name = (node.record.class_name or None, node.record.name)
        by_name.setdefault(name, []).append((version_of(node.record), position))
    revisions = {}
    for versions in by_name.values():
        versions.sort()
        for (_, earlier), (_, later) in pairwise(versions):
            revisions[later] = instances[earlier]
    return revisions


def _marks_deletion(node: Node) -> bool:
    record = node.record
    words = f"{record.class_name or ''} {record.name} {record.comment or ''} {node.text}".lower()
    return "delet" in words or "remov" in words
