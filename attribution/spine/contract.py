"""Groups the variables of a past into boxes.

The rule: every variable of the past, and every operation that made nothing, is a member of exactly one box. An edge
leads from one box to another if a derivation or a link leads from a member of the first to a member of the second. So
behind each edge is something recorded, and every path between members of two boxes appears as edges. The boxes have no
cycles: everything between two members of a box is a member, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from attribution.spine.model import Role, State
from attribution.spine.quotient import Quotient, bits, ordered

_PINNED = frozenset({Role.EVIDENCE, Role.QUESTION, Role.ANSWER, Role.HOLDER, Role.LOSS})
_PAIRED = 80
"""With more boxes than this, not every pair is considered for merging."""
_EXACT = 3000
"""With more nodes than this, runs of nodes are merged first."""


@dataclass(frozen=True, slots=True)
class Node:
    """What is known of a future member of a box.

    Attributes:
        kind: of the variable.
        roles: why it is on the spine; empty for nodes off the spine.
        states: of the pieces.
        is_decisive: whether the blamed operation made it.
    """

    kind: str
    roles: frozenset[Role] = frozenset()
    states: tuple[tuple[int, State], ...] = ()
    is_decisive: bool = False

    @property
    def is_pinned(self) -> bool:
        """Whether the node gets a box of its own as long as there is room."""
        return not _PINNED.isdisjoint(self.roles)


_OTHER = Node("")


def contract(
    nodes: Sequence[Node], successors: Sequence[Sequence[int]], paths: Sequence[Sequence[int]], most: int
) -> list[list[int]]:
    """The members of each box.

    Args:
        nodes: to group.
        successors: the nodes made from each node, without cycles.
        paths: of the pieces; equal steps of a path, and everything between them, become one box.
        most: the maximal number of boxes, 5 or more.
    """
    groups = _others(nodes, successors)
    if len(groups) > _EXACT:
        groups = _stretches(nodes, successors, groups)
    state = _Boxes(nodes, successors, groups)
    state.collapse_runs(paths)
    state.collapse_others()
    state.collapse_siblings()
    state.reduce(most)
    return state.members()


def _others(nodes: Sequence[Node], successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Nodes of the spine stay single; the others are grouped by the spine node that they reach first."""
    hits: list[int] = [0] * len(nodes)
    groups: dict[tuple[bool, int], list[int]] = defaultdict(list)
    for node in reversed(ordered(successors)):
        feeds = 0
        for after in successors[node]:
            feeds |= 1 << after if nodes[after].roles else hits[after]
        hits[node] = feeds
        groups[(True, node) if nodes[node].roles else (False, feeds)].append(node)
    return list(groups.values())


def _stretches(
    nodes: Sequence[Node], successors: Sequence[Sequence[int]], groups: Sequence[Sequence[int]]
) -> list[list[int]]:
    """Runs of equal steps in a topological order, with everything between them."""
    number_of = {node: number for number, group in enumerate(groups) for node in group}
    edges = [
        sorted({number_of[after] for node in group for after in successors[node]} - {number})
        for number, group in enumerate(groups)
    ]
    found: list[list[int]] = []
    current: Node | None = None
    for number in ordered(edges):
        one = nodes[groups[number][0]]
        fits = current is not None and not one.is_pinned and (not one.roles or not current.roles or one == current)
        if fits and found:
            found[-1] += groups[number]
            current = one if one.roles else current
        else:
            found.append(list(groups[number]))
            current = None if one.is_pinned else one
    return found


class _Boxes:
    """Groups of nodes that are merged step by step."""

    def __init__(
        self, nodes: Sequence[Node], successors: Sequence[Sequence[int]], groups: Sequence[Sequence[int]]
    ) -> None:
        self._groups = groups
        self._box_of = {node: number for number, group in enumerate(groups) for node in group}
        self._quotient = Quotient(
            [
                {self._box_of[after] for node in group for after in successors[node]} - {number}
                for number, group in enumerate(groups)
            ]
        )
        self._what = [_merged([nodes[node] for node in group]) for group in groups]
        self._alike: dict[Node, int] = defaultdict(int)
        """The boxes of the spine, as bits, by content."""
        self._spine = 0
        for number, what in enumerate(self._what):
            self._note(number, what)
        self._into = list(range(len(groups)))

    def members(self) -> list[list[int]]:
        """The nodes of each box."""
        quotient = self._quotient
        return sorted(
            sorted(node for group in bits(quotient.members(box)) for node in self._groups[group])
            for box in bits(quotient.alive)
        )

    def collapse_runs(self, paths: Sequence[Sequence[int]]) -> None:
        """Merge equal consecutive steps, with everything between them, into one box."""
        for path in paths:
            run: list[int] = []
            for box in dict.fromkeys(self._box_of[node] for node in path):
                if self._what[box].is_pinned:
                    self._collapse(run)
                    run = []
                elif run and self._what[run[-1]] != self._what[box]:
                    self._collapse(run)
                    run = [box]
                else:
                    run.append(box)
            self._collapse(run)

    def _collapse(self, run: Sequence[int]) -> None:
        """Merge the boxes of a run, unless other boxes of the spine are between them."""
        quotient = self._quotient
        grown = down = up = 0
        for box in dict.fromkeys(self._now(box) for box in run):
            if not grown:
                what = self._what[box]
                foreign = quotient.alive & self._spine & ~self._alike.get(what, 0)
            now = self._now(box)
            if grown and (down | quotient.down(now)) & (up | quotient.up(now)) & foreign:
                self._merge(grown)
                now, grown, down, up = self._now(box), 0, 0, 0
            grown, down, up = grown | 1 << now, down | quotient.down(now), up | quotient.up(now)
        if grown:
            self._merge(grown)

    def _now(self, box: int) -> int:
        """The current box of a merged box."""
        while self._into[box] != box:
            box = self._into[box]
        return box

    def collapse_others(self) -> None:
        """Merge boxes off the spine that lead to the same boxes of the spine."""
        quotient = self._quotient
        hits: dict[int, int] = {}
        groups: dict[int, int] = defaultdict(int)
        for box in reversed(quotient.ordered()):
            feeds = 0
            for after in bits(quotient.after(box)):
                feeds |= 1 << after if self._what[after].roles else hits[after]
            hits[box] = feeds
            if not self._what[box].roles:
                groups[feeds] |= 1 << box
        for group in groups.values():
            self._merge(group)

    def collapse_siblings(self) -> None:
        """Merge equal boxes with equal neighbours."""
        quotient = self._quotient
        groups: dict[tuple[Node, int, int], int] = defaultdict(int)
        for box in bits(quotient.alive):
            if not self._what[box].is_pinned:
                groups[self._what[box], quotient.before(box), quotient.after(box)] |= 1 << box
        for group in groups.values():
            self._merge(group)

    def reduce(self, most: int) -> None:
        """Merge the least important boxes until at most ``most`` are left."""
        while self._quotient.alive.bit_count() > most:
            boxes = self._quotient.ordered()
            extra = len(boxes) - most
            if len(boxes) > _PAIRED:
                self._merge_best(list(pairwise(boxes)), extra)
            else:
                pairs = [(one, other) for place, one in enumerate(boxes) for other in boxes[place + 1 :]]
                self._merge_best(pairs, (extra + 1) // 2)

    def _merge_best(self, pairs: Sequence[tuple[int, int]], count: int) -> None:
        """Merge up to ``count`` disjoint pairs, the cheapest first."""
        quotient = self._quotient
        costs = sorted((self._cost(one, other), one, other) for one, other in pairs)
        touched = 0
        for _, one, other in costs:
            both = 1 << one | 1 << other
            if count and not touched & both and quotient.can_merge(one, other):
                self._merge(both)
                touched |= both
                count -= 1

    def _cost(self, one: int, other: int) -> tuple[int, int, int]:
        """The cost of merging two boxes: their content first, then neighbours, then sizes."""
        quotient, first, second = self._quotient, self._what[one], self._what[other]
        apart = (quotient.after(one) ^ quotient.after(other)) & ~(1 << one | 1 << other)
        size = quotient.members(one).bit_count() + quotient.members(other).bit_count()
        return _cost(first, second), apart.bit_count(), size

    def _note(self, box: int, what: Node) -> None:
        """Record the content of a box. Bits of merged boxes remain and are ignored."""
        if what.roles:
            self._alike[what] |= 1 << box
            self._spine |= 1 << box
        else:
            self._spine &= ~(1 << box)

    def _merge(self, boxes: int) -> int:
        inside = self._quotient.between(boxes)
        if inside & (inside - 1):
            what = _merged([self._what[box] for box in bits(inside)])
            box = self._quotient.merge(boxes)
            self._alike[self._what[box]] &= ~(1 << box)
            self._what[box] = what
            self._note(box, what)
            for one in bits(inside):
                self._into[one] = box
            return box
        return inside.bit_length() - 1


def _cost(one: Node, other: Node) -> int:
    """The cost of merging two nodes; lower is better."""
    roles = one.roles | other.roles
    if Role.ANSWER in roles:
        return 10
    if one.is_decisive or other.is_decisive:
        return 9
    if Role.QUESTION in roles:
        return 8
    if not one.roles and not other.roles:
        return 0
    if one == other:
        return 2 if one.is_pinned else 1
    if one.is_pinned or other.is_pinned:
        if one.roles == other.roles and one.kind == other.kind:
            return 5 if Role.LOSS not in roles else 6
        return 7
    if one.states == other.states:
        return 2
    return 3 if not one.states or not other.states else 4


_WEIGHT = {State.LACKS: 0, State.HAS: 1, State.LOST: 2}


def _merged(nodes: Sequence[Node]) -> Node:
    """The content of several nodes together: of those on the spine, if there are any."""
    if len(nodes) == 1:
        return nodes[0]
    main = [node for node in nodes if node.roles]
    if not main:
        return _OTHER
    states: dict[int, State] = {}
    for node in main:
        for piece, state in node.states:
            if piece not in states or _WEIGHT[state] > _WEIGHT[states[piece]]:
                states[piece] = state
    kinds = {node.kind for node in main}
    return Node(
        kinds.pop() if len(kinds) == 1 else "",
        frozenset().union(*(node.roles for node in main)),
        tuple(sorted(states.items())),
        any(node.is_decisive for node in nodes),
    )
