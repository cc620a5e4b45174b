"""The relations between operations and variables other than derivations: uses, revisions and deletions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from ingest.files.smartcomment.read import version_of
from ingest.files.smartcomment.recorded import Node, RecordedFile
from ingest.files.smartcomment.repair import ExactGraph
from schema.kinds import VariableKind
from schema.models import Invalidation, Usage


def usages(
    recorded: RecordedFile, exact: ExactGraph, instances: list[str], operation_ids: list[str]
) -> Iterator[Usage]:
    """The inputs of each operation, except its own outputs, in the order of the file."""
    made = set(zip(exact.targets, recorded.edge_operations, strict=True))
    positions: dict[int, int] = {}
    for source, operation in dict.fromkeys(zip(exact.sources, recorded.edge_operations, strict=True)):
        if (source, operation) not in made:
            position = positions.get(operation, 0)
            positions[operation] = position + 1
            yield Usage(operation_ids[operation], instances[source], None, position)


def invalidations(
    recorded: RecordedFile, kinds: list[VariableKind], instances: list[str], operation_ids: list[str]
) -> Iterator[Invalidation]:
    """An invalidation for each memory unit that an operation turns into a deletion marker."""
    ends = zip(recorded.sources, recorded.targets, recorded.edge_operations, strict=True)
    for source, target, operation in dict.fromkeys(ends):
        if (
            kinds[target] is VariableKind.MARKER
            and kinds[source] is VariableKind.MEMORY_UNIT
            and _marks_deletion(recorded.nodes[target])
        ):
            yield Invalidation(instances[source], operation_ids[operation])


def revisions(nodes: list[Node], instances: list[str]) -> dict[int, str]:
    """The id of a variable's previous version, by the variable's position."""
    by_name: dict[tuple[str | None, str], list[tuple[int, int]]] = {}
    for position, node in enumerate(nodes):
        name = (node.record.class_name or None, node.record.name)
        by_name.setdefault(name, []).append((version_of(node.record), position))
    found = {}
    for versions in by_name.values():
        versions.sort()
        for (_, earlier), (_, later) in pairwise(versions):
            found[later] = instances[earlier]
    return found


def _marks_deletion(node: Node) -> bool:
    record = node.record
    words = f"{record.class_name or ''} {record.name} {record.comment or ''} {node.text}".lower()
    return "delet" in words or "remov" in words
