"""Turns the recorded edges of a smartcomment graph into exact causal dependencies.

All operations that wrote or read the same text share one recorded node, so a plain walk from one answer reaches the
other questions too. The repair adds *occurrences* (separate variables for reads, and for equal text made again), and
binds every consumer to the occurrence that was meant for the consumer.

The rules, for an operation ``O`` with an edge into a variable ``V``:

* ``V`` was first made by ``O``: this is the recorded variable itself, occurrence 0.
* ``V`` was first made by another operation of the same name and category: equal text made again. An occurrence,
  not derived from the first.
* ``V`` was first made by an operation of another name or category, or by none (it was used before, or recorded in
  another session): ``O`` has read it. An occurrence, derived from ``V`` and from the inputs of ``O``.

and for an operation ``C`` that uses ``V``, when ``V`` has several instances made before the use:

1. the instance made inside ``C``;
2. else the newest that derives from a question from which ``C`` derives too, through its own inputs or through
   inputs that have one instance only;
3. else, where ``C`` derives from no question, the one whose operation shares with ``C`` the rarest input that not
   all candidates share;
4. else the first.

The repair works on positions (integers) in the lists of the file; names and values play no part.

The order of the exact graph is computed here too: ``closing_edge`` finds a cycle, and ``sequence_of_instances`` numbers
each variable after its sources. Times are not used: files have many equal times, and a local clock may go back.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

NO_MAKER = -1


@dataclass(frozen=True, slots=True)
class RecordedGraph:
    """The recorded graph as positions: variables ``0..n-1``, operations ``0..m-1``, edges in the order of the file.

    Attributes:
        sources: variable used, per edge.
        targets: variable written, per edge.
        operations: operation, per edge.
        variable_sessions: session, per variable (any hashable number; equal means the same session).
        operation_sessions: session, per operation.
        signatures: name and category as one number, per operation.
        questions: whether a variable is of kind Query, per variable.
    """

    sources: Sequence[int]
    targets: Sequence[int]
    operations: Sequence[int]
    variable_sessions: Sequence[int]
    operation_sessions: Sequence[int]
    signatures: Sequence[int]
    questions: Sequence[bool]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A variable added by the repair.

    Attributes:
        variable: the recorded variable with the same text.
        operation: the operation that made it.
        number: 1, 2, ... per recorded variable, in the order of the file.
        is_read: True for a read, which derives from the recorded variable; False for equal text made again.
        edge: the first edge into the occurrence.
    """

    variable: int
    operation: int
    number: int
    is_read: bool
    edge: int


@dataclass(frozen=True, slots=True)
class ExactGraph:
    """The repaired graph. An instance is a recorded variable ``0..n-1`` or an occurrence ``n + position``.

    Attributes:
        occurrences: the variables that the repair added, in the order of the file.
        sources: instance used, per recorded edge.
        targets: instance written, per recorded edge.
        questions: per instance, the questions in its causal past (itself included) as a bit set over
            ``question_positions``.
        question_positions: the variables of kind Query, in the order of the file.
        makers: the operation that first made each recorded variable; ``NO_MAKER`` if no operation did.
    """

    occurrences: list[Occurrence]
    sources: list[int]
    targets: list[int]
    questions: list[int]
    question_positions: list[int]
    makers: list[int]


def repair(graph: RecordedGraph) -> ExactGraph:
    """Apply the rules of the module to a recorded graph.

    Returns:
        The exact graph: acyclic whenever the recorded one is.
    """
    return _Repair(graph).run()


class _Repair:
    def __init__(self, graph: RecordedGraph) -> None:
        self.graph = graph
        self.count = len(graph.questions)
        self.makers, self.made = _makers(graph)
        self.inputs = self._operation_inputs()
        self.use_counts = Counter(variable for inputs in self.inputs.values() for variable in inputs)
        question_positions = [position for position, is_question in enumerate(graph.questions) if is_question]
        self.question_positions = question_positions
        self.past: list[int] = [0] * self.count
        for bit, position in enumerate(question_positions):
            self.past[position] = 1 << bit
        self.occurrences: list[Occurrence] = []
        self.instance_of: dict[tuple[int, int], int] = {}
        # Instances made so far of each variable with more than one maker, oldest first.
        self.instances: dict[int, list[int]] = {}

    def _operation_inputs(self) -> dict[int, set[int]]:
        inputs: dict[int, set[int]] = {}
        made = self.made
        for source, operation in zip(self.graph.sources, self.graph.operations, strict=True):
            if (source, operation) not in made:
                inputs.setdefault(operation, set()).add(source)
        return inputs

    def run(self) -> ExactGraph:
        graph = self.graph
        sources: list[int] = []
        targets: list[int] = []
        past = self.past
        shared = {variable for variable, operation in self.made if self.makers[variable] != operation}
        for edge, (source, target, operation) in enumerate(
            zip(graph.sources, graph.targets, graph.operations, strict=True)
        ):
            bound_source = self._bind(source, operation) if source in shared else source
            bound_target = self._instance(target, operation, edge) if target in shared else target
            sources.append(bound_source)
            targets.append(bound_target)
            past[bound_target] |= past[bound_source]
        return ExactGraph(self.occurrences, sources, targets, past, self.question_positions, self.makers)

    def _instance(self, variable: int, operation: int, edge: int) -> int:
        """The instance of ``variable`` that ``operation`` makes; the first edge into an occurrence adds it."""
        key = (variable, operation)
        known = self.instance_of.get(key)
        if known is not None:
            return known
        maker = self.makers[variable]
        instances = self.instances.setdefault(variable, [])
        if maker == operation:
            instance = variable
        else:
            instance = self.count + len(self.occurrences)
            is_read = maker == NO_MAKER or self.graph.signatures[maker] != self.graph.signatures[operation]
            number = len(instances) + (1 if maker == NO_MAKER else 0)
            self.occurrences.append(Occurrence(variable, operation, number, is_read, edge))
            self.past.append(self.past[variable] if is_read else 0)
        self.instance_of[key] = instance
        instances.append(instance)
        return instance

    def _bind(self, variable: int, operation: int) -> int:
        """The instance of ``variable`` that is meant for ``operation`` (rules 1 to 4 of the module)."""
        own = self.instance_of.get((variable, operation))
        if own is not None:
            return own
        made = self.instances.get(variable, [])
        candidates = made if self.makers[variable] != NO_MAKER else [variable, *made]
        if len(candidates) < 2:
            return candidates[0] if candidates else variable
        questions = self._questions_of(operation)
        if questions:
            past = self.past
            for instance in reversed(candidates):
                if past[instance] & questions:
                    return instance
            return candidates[0]
        return self._by_rarest_input(candidates, operation)

    def _questions_of(self, operation: int) -> int:
        """The questions (bit set) that the operation derives from, through inputs with only one instance."""
        questions = 0
        for variable in self.inputs.get(operation, ()):
            if len(self.instances.get(variable, ())) + (self.makers[variable] == NO_MAKER) < 2:
                questions |= self.past[variable]
        return questions

    def _by_rarest_input(self, candidates: list[int], operation: int) -> int:
        inputs = self.inputs.get(operation, set())
        shared = [inputs & self.inputs.get(self._maker_of(instance), set()) for instance in candidates]
        by_all = set.intersection(*shared)
        rarest: tuple[int, int] | None = None
        for position, variables in enumerate(shared):
            for variable in variables - by_all:
                rank = (self.use_counts[variable], position)
                if rarest is None or rank < rarest:
                    rarest = rank
        return candidates[rarest[1]] if rarest else candidates[0]

    def _maker_of(self, instance: int) -> int:
        if instance < self.count:
            return self.makers[instance]
        return self.occurrences[instance - self.count].operation


def _makers(graph: RecordedGraph) -> tuple[list[int], set[tuple[int, int]]]:
    """The operation that first made each variable (or ``NO_MAKER``), and all pairs (variable, operation making it)."""
    makers = [NO_MAKER] * len(graph.questions)
    seen: set[int] = set()
    made: set[tuple[int, int]] = set()
    for source, target, operation in zip(graph.sources, graph.targets, graph.operations, strict=True):
        made.add((target, operation))
        seen.add(source)
        if target not in seen:
            seen.add(target)
            if graph.variable_sessions[target] == graph.operation_sessions[operation]:
                makers[target] = operation
    return makers, made


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
