"""The order inside a trace: checks that there is no cycle, and numbers each variable after its sources.

Times are not used: files have many equal times, and a local clock may go back.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

from ingest.files.smartcomment.repair import ExactGraph, RecordedGraph


def closing_edge(count: int, sources: Sequence[int], targets: Sequence[int]) -> int | None:
    """The first edge, in the given order, that closes a cycle with earlier edges; None if there is no cycle.

    Args:
        count: number of nodes, ``0..count-1``.
        sources: start node, per edge.
        targets: end node, per edge.
    """
    if _is_acyclic(count, sources, targets):
        return None
    low, high = 0, len(sources)
    while high - low > 1:
        middle = (low + high) // 2
        if _is_acyclic(count, sources[:middle], targets[:middle]):
            low = middle
        else:
            high = middle
    return high - 1


def _is_acyclic(count: int, sources: Sequence[int], targets: Sequence[int]) -> bool:
    waiting = [0] * count
    followers: list[list[int]] = [[] for _ in range(count)]
    for source, target in zip(sources, targets, strict=True):
        followers[source].append(target)
        waiting[target] += 1
    ready = [node for node, number in enumerate(waiting) if number == 0]
    for node in ready:
        for follower in followers[node]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                ready.append(follower)
    return len(ready) == count


def sequence_of_instances(graph: RecordedGraph, exact: ExactGraph) -> list[int]:
    """The sequence number of each instance: recorded variables in the order of the file, occurrences in between.

    An occurrence comes right after the latest variable that earlier edges touch. An instance that would come before one
    of its sources is moved behind the source. A longer stage of the same graph adds numbers at the end.

    Returns:
        Sequence number by instance (see ``ExactGraph``).
    """
    recorded = len(graph.questions)
    total = recorded + len(exact.occurrences)
    latest = -1
    latest_at = []
    for source, target in zip(graph.sources, graph.targets, strict=True):
        latest = max(latest, source, target)
        latest_at.append(latest)
    # A sort key is one number: the variable before the instance, then whether it is an occurrence, then its edge.
    keys = [position << 40 for position in range(recorded)]
    keys.extend(latest_at[o.edge] << 40 | 1 << 39 | o.edge for o in exact.occurrences)
    order = sorted(range(total), key=keys.__getitem__)
    places = [0] * total
    for place, instance in enumerate(order):
        places[instance] = place
    reads = [(o.variable, recorded + i) for i, o in enumerate(exact.occurrences) if o.is_read]
    edges = [*zip(exact.sources, exact.targets, strict=True), *reads]
    if all(places[source] < places[target] for source, target in edges):
        return places
    return _topological(total, edges, keys)


def _topological(total: int, edges: Sequence[tuple[int, int]], keys: Sequence[int]) -> list[int]:
    waiting = [0] * total
    followers: list[list[int]] = [[] for _ in range(total)]
    for source, target in edges:
        followers[source].append(target)
        waiting[target] += 1
    ready = [(keys[node], node) for node in range(total) if waiting[node] == 0]
    heapq.heapify(ready)
    places = [0] * total
    for place in range(total):
        _, node = heapq.heappop(ready)
        places[node] = place
        for follower in followers[node]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                heapq.heappush(ready, (keys[follower], follower))
    return places


def renumbered(places: list[int], instances: list[str], stored: Mapping[str, int]) -> list[int]:
    """Sequence numbers that keep the stored ones; new variables follow all stored ones, in the order of ``places``."""
    if all(stored.get(id_, place) == place for id_, place in zip(instances, places, strict=True)):
        return places
    kept = [stored.get(id_) for id_ in instances]
    following = max(stored.values()) + 1
    new = sorted((position for position, place in enumerate(kept) if place is None), key=places.__getitem__)
    numbers = {position: following + i for i, position in enumerate(new)}
    return [numbers[position] if place is None else place for position, place in enumerate(kept)]
