"""Rules for derivations between variables of different spans.

A rule looks only at two variables and at the spans around them, so the order in which spans arrive does not change the
edges: an edge is found when the later variable has come, and never removed. An edge always follows the times of its
spans, so no cycle can arise.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime

from memtrace.kinds import DerivationKind

from ingest.otlp.contained import SHORTEST, contained
from ingest.otlp.names import INPUT, OUTPUT
from store.runtime.processor_share import ProcessorShare

_SHORTEST_EQUAL = 4
"""Shortest text whose equality with another text means a derivation; in characters."""

EQUAL = "inferred: equal text, confidence 0.9"
PART = "inferred: the text of one is in the other, confidence 0.7"
SAME_ID = "same id"
LINKED = "link between the spans"
AROUND = "one span is in the other"


@dataclass(frozen=True, slots=True)
class Value:
    """A variable of a span.

    Attributes:
        name: its id in the wire events.
        side: ``INPUT`` or ``OUTPUT`` of the span.
        at: time of the variable: the begin of the span for an input, the end for an output.
        text: the value; None if the value was not captured, or not read because no rule needs the text.
        digest: hash of the text; None if the value was not captured.
        key: store and id of a unit or document in a memory or data source; None for other variables.
        is_write: whether the span wrote the unit into the store.
        rank: position on the side.
    """

    name: str
    side: str
    at: datetime
    text: str | None
    digest: str | None = None
    key: tuple[str, str] | None = None
    is_write: bool = False
    rank: int = 0
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn of a conversation: what a user said, and what was answered.

    Attributes:
        asked: what the user said; None if the span does not say.
        answer: position of the answer among the span's outputs.
        session: the name of the session in the graph.
    """

    asked: str | None
    answer: int
    session: str | None


@dataclass(slots=True)
class Node:
    """A span: its variables, and relations to further spans.

    Attributes:
        name: the name of the span's operation.
        trace_id: the id of the OpenTelemetry trace.
        parent: the operation name of the parent span.
        links: operation names of the linked spans.
        deletes: store and id of the units that the span deletes; id None means all units of the store.
        is_plain: whether the span says nothing of a model or a memory, such as a span of a web framework.
        is_entry: whether a request from outside the program began the span.
        turn: the turn of a conversation that the span would be if no span was around it.
    """

    name: str
    trace_id: str
    parent: str | None
    links: frozenset[str] = frozenset()
    deletes: tuple[str, str | None] | None = None
    began: datetime | None = None
    values: list[Value] = field(default_factory=list)
    is_plain: bool = False
    is_entry: bool = False
    turn: Turn | None = None

    def on(self, side: str) -> list[Value]:
        """The span's inputs or outputs."""
        return [value for value in self.values if value.side == side]


@dataclass(frozen=True, slots=True)
class Edge:
    """A derivation between variables of two spans.

    Attributes:
        reader: the target's span, which read the source.
    """

    source: Value
    target: Value
    reader: Node
    kind: DerivationKind
    comment: str


MOST_PAIRS = 2_000_000
"""Largest number of pairs of variables that are compared, which takes some seconds; searching texts for other texts
counts as one more pair per microsecond."""

MOST_EDGES = 20_000
"""Largest number of edges found at a time. Thousands of spans with the same text would have an edge per pair, and
writing them would take gigabytes; no application means that."""

_CHARACTERS_A_PAIR = 4_000


class _Budget:
    """The pairs that may still be compared. Lets other threads run from time to time."""

    def __init__(self, most: int) -> None:
        self.left = most
        self._share = ProcessorShare()

    def spend(self, pairs: int) -> bool:
        """Count pairs; returns whether the work may go on."""
        self._share.step(pairs)
        self.left -= pairs
        return self.left >= 0


def edges(nodes: Mapping[str, Node], new: AbstractSet[str], most: int = MOST_PAIRS) -> tuple[list[Edge], bool]:
    """All edges between two spans if at least one span is new.

    Args:
        nodes: the spans to compare, by name.
        new: the names of the spans that came since the last search for edges.
        most: largest number of pairs to compare.

    Returns:
        The edges, at most ``MOST_EDGES``, and whether all pairs were compared.
    """
    found: dict[tuple[str, str], Edge] = {}
    budget = _Budget(most)
    for source_node, source, target_node, target, is_around in _pairs(nodes, new, budget):
        cost = 1 + (len(source.text or "") + len(target.text or "")) // _CHARACTERS_A_PAIR
        if not budget.spend(cost) or len(found) >= MOST_EDGES:
            return list(found.values()), False
        pair = source.name, target.name
        if pair not in found:
            related = _related(source_node, source, target_node, target, is_around=is_around)
            if related is not None:
                found[pair] = Edge(source, target, target_node, *related)
    return list(found.values()), budget.left >= 0


def deletions(
    nodes: Mapping[str, Node], new: AbstractSet[str], most: int = MOST_PAIRS
) -> tuple[list[tuple[Value, Node]], bool]:
    """Pairs (unit, span that deleted the unit), and whether all pairs were compared; see ``edges``."""
    written: dict[str, list[tuple[Node, Value]]] = defaultdict(list)
    for node in nodes.values():
        for value in node.values:
            if value.is_write and value.key is not None:
                written[value.key[0]].append((node, value))
    written_now = {store: [one for one in found if one[0].name in new] for store, found in written.items()}
    found: list[tuple[Value, Node]] = []
    for node in nodes.values():
        if node.deletes is None:
            continue
        for _, value in (written if node.name in new else written_now).get(node.deletes[0], ()):
            most -= 1
            if most < 0:
                return found, False
            if len(found) >= MOST_EDGES:
                return found, False
            if _is_deleted(value, node):
                found.append((value, node))
    return found, True


def _is_deleted(value: Value, by: Node) -> bool:
    if value.key is None or by.deletes is None or by.began is None or value.at >= by.began:
        return False
    store, id_ = value.key
    return store == by.deletes[0] and by.deletes[1] in {None, id_}


_Pair = tuple[Node, Value, Node, Value, bool]


def _pairs(nodes: Mapping[str, Node], new: AbstractSet[str], budget: _Budget) -> Iterator[_Pair]:
    """Pairs of variables that may depend on each other, and whether one variable's span contains the other's."""
    yield from _same_ids(nodes.values(), new)
    yield from _same_traces(nodes.values(), new, budget)
    for node in nodes.values():
        for name in node.links:
            other = nodes.get(name)
            if other is not None and other is not node and (node.name in new or name in new):
                yield from _across(other, other.on(OUTPUT) or other.on(INPUT), node, node.on(INPUT) or node.on(OUTPUT))
                if other.trace_id == node.trace_id:
                    written = [value for value in node.on(OUTPUT) if value.is_write]
                    yield from _across(other, other.on(OUTPUT), node, written)
    for node in nodes.values():
        outer, path = _outer(nodes, node)
        if outer is not None and not new.isdisjoint(path):
            yield from _across(outer, outer.on(INPUT), node, node.on(INPUT) or node.on(OUTPUT), is_around=True)
            made = [value for value in node.on(OUTPUT) if not value.is_write]
            yield from _across(node, made, outer, outer.on(OUTPUT), is_around=True)


def _across(
    source_node: Node, sources: Iterable[Value], target_node: Node, targets: Sequence[Value], *, is_around: bool = False
) -> Iterator[_Pair]:
    for source in sources:
        for target in targets:
            yield source_node, source, target_node, target, is_around


def _outer(nodes: Mapping[str, Node], node: Node) -> tuple[Node | None, list[str]]:
    """The nearest enclosing span with variables (or None), and the names of all spans on the way, with both ends."""
    path = [node.name]
    if not node.values:
        return None, path
    outer = nodes.get(node.parent or "")
    while outer is not None and outer.name not in path:
        path.append(outer.name)
        if outer.values:
            return outer, path
        outer = nodes.get(outer.parent or "")
    return None, path


def _same_ids(nodes: Iterable[Node], new: AbstractSet[str]) -> Iterator[_Pair]:
    by_key: dict[tuple[str, str], list[tuple[Node, Value]]] = defaultdict(list)
    for node in nodes:
        for value in node.values:
            if value.key is not None:
                by_key[value.key].append((node, value))
    for same in by_key.values():
        yield from _with_a_new_one(same, same, new)


_Placed = list[tuple[Node, Value]]


def _same_traces(nodes: Iterable[Node], new: AbstractSet[str], budget: _Budget) -> Iterator[_Pair]:
    """Pairs inside one OpenTelemetry trace with equal texts, or with one text inside the other.

    A pair has an output of a span, and an input or memory write of another span.
    """
    by_trace: dict[str, list[Node]] = defaultdict(list)
    for node in nodes:
        by_trace[node.trace_id].append(node)
    for together in by_trace.values():
        if new.isdisjoint(node.name for node in together):
            continue
        given: dict[str, _Placed] = defaultdict(list)
        taken: dict[str, _Placed] = defaultdict(list)
        fresh: tuple[set[str], set[str]] = (set(), set())
        for node in together:
            for value in node.values:
                if not value.text:
                    continue
                if value.side == OUTPUT:
                    given[value.text].append((node, value))
                if value.side == INPUT or value.is_write:
                    taken[value.text].append((node, value))
                if node.name in new:
                    fresh[value.side == INPUT].add(value.text)
        fresh_given = fresh[False] & given.keys()
        fresh_taken = (fresh[False] | fresh[True]) & taken.keys()
        for text in (fresh_given & taken.keys()) | (fresh_taken & given.keys()):
            yield from _with_a_new_one(given[text], taken[text], new)
        for given_text, taken_text in _parts(given.keys(), taken.keys(), fresh_given, fresh_taken, budget):
            yield from _with_a_new_one(given[given_text], taken[taken_text], new)


def _parts(
    given: AbstractSet[str],
    taken: AbstractSet[str],
    fresh_given: AbstractSet[str],
    fresh_taken: AbstractSet[str],
    budget: _Budget,
) -> Iterator[tuple[str, str]]:
    """Pairs of a given and a taken text, one inside the other, at least one of which is fresh."""
    spend = budget.spend
    yield from contained(given, fresh_taken, spend)
    yield from contained(fresh_given, taken - fresh_taken, spend)
    for part, whole in contained(taken, fresh_given, spend):
        yield whole, part
    for part, whole in contained(fresh_taken, given - fresh_given, spend):
        yield whole, part


def _with_a_new_one(
    sources: Iterable[tuple[Node, Value]], targets: Sequence[tuple[Node, Value]], new: AbstractSet[str]
) -> Iterator[_Pair]:
    new_targets = [one for one in targets if one[0].name in new]
    for source_node, source in sources:
        for target_node, target in targets if source_node.name in new else new_targets:
            if source_node is not target_node:
                yield source_node, source, target_node, target, False


def _related(
    source_node: Node, source: Value, target_node: Node, target: Value, *, is_around: bool
) -> tuple[DerivationKind, str] | None:
    """Kind and reason of the target's derivation from the source, by the strongest rule; None if no rule applies."""
    if source.at < target.at:
        if source.key is not None and source.key == target.key:
            return _by_id(source_node, source, target_node, target)
        if source_node.trace_id == target_node.trace_id and source.side == OUTPUT:
            comment = _by_text(source, target)
            if comment is not None and (target.side == INPUT or target.is_write):
                return DerivationKind.DERIVATION, comment
        if source_node.name in target_node.links:
            return DerivationKind.DERIVATION, LINKED
    # Between a span and its enclosing span, equal times are ordered by the nesting.
    if is_around and source.at <= target.at:
        return DerivationKind.DERIVATION, AROUND
    return None


def _by_id(source_node: Node, source: Value, target_node: Node, target: Value) -> tuple[DerivationKind, str] | None:
    if source.is_write and target.is_write:
        return DerivationKind.REVISION, SAME_ID
    is_same_version = None in {source.digest, target.digest} or source.digest == target.digest
    if source.is_write and is_same_version:
        return DerivationKind.READ, SAME_ID
    is_handed_on = source.side == OUTPUT and target.side == INPUT and source_node.trace_id == target_node.trace_id
    return (DerivationKind.DERIVATION, SAME_ID) if is_handed_on and is_same_version else None


def _by_text(source: Value, target: Value) -> str | None:
    one, other = source.text, target.text
    if not one or not other:
        return None
    if one == other:
        return EQUAL if len(one) >= _SHORTEST_EQUAL else None
    shorter, longer = sorted((one, other), key=len)
    return PART if len(shorter) >= SHORTEST and shorter in longer else None
