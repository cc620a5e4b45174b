"""A closure as a tree of lines, from the variable that the user named.

The graph is directed and acyclic, but no tree: each variable has one line, below the neighbour with the fewest hops;
other neighbours have a reference. Nothing here recurses, because a chain may be 100,000 derivations long.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from schema.models import Variable
from store.contract.answers import Closure, Direction

DEEPEST = 16
"""Levels of indentation. Deeper variables continue in a part of their own at the left margin."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the tree: a variable, references to variables with lines elsewhere, or a number of omitted variables.

    Attributes:
        prefix: the branches before the text.
        variable: the variable of the line; None for a line about other neighbours of its parent.
        continued: whether the neighbours are in a part of their own, further down.
        is_part: whether the line begins a part that continues a variable further up.
        above: variables with a line further up.
        below: variables with a line further down.
        hidden: number of omitted neighbours of the parent.
    """

    prefix: str
    variable: Variable | None = None
    continued: bool = False
    is_part: bool = False
    above: tuple[Variable, ...] = ()
    below: tuple[Variable, ...] = ()
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class Tree:
    """The position of each variable in the tree.

    Attributes:
        variables: by id.
        heads: the ids at the left margin: the roots, and variables that a filter of kinds has cut off from the
            roots.
        order: all ids, nearest to the roots first.
        branches: the ids below each id.
        references: the other neighbours of each id; they have a line elsewhere.
    """

    variables: dict[str, Variable]
    heads: list[str]
    order: list[str]
    branches: dict[str, list[str]]
    references: dict[str, list[str]]


def plant(closure: Closure) -> Tree:
    """Find each variable's position. Equally near variables are sorted by time: backward, the newest is first."""
    backward = closure.direction is Direction.BACKWARD
    variables = {variable.id: variable for variable in closure.variables}
    neighbours: dict[str, dict[str, None]] = {}
    for derivation in closure.derivations:
        near, far = (derivation.target, derivation.source) if backward else (derivation.source, derivation.target)
        neighbours.setdefault(near, {})[far] = None
    in_order = sorted(variables, key=lambda id_: variables[id_].sequence, reverse=backward)
    rank = {id_: place for place, id_ in enumerate(in_order)}
    tree = Tree(variables, [], [], {}, {})
    seen: set[str] = set()
    for head in (*(root for root in closure.roots if root in variables), *in_order):
        if head in seen:
            continue
        tree.heads.append(head)
        seen.add(head)
        queue = deque([head])
        while queue:
            near = queue.popleft()
            tree.order.append(near)
            for far in sorted(neighbours.get(near, ()), key=rank.__getitem__):
                place = tree.references if far in seen else tree.branches
                place.setdefault(near, []).append(far)
                if far not in seen:
                    seen.add(far)
                    queue.append(far)
    return tree


def lines(tree: Tree, limit: int | None = None, deepest: int = DEEPEST) -> Iterator[Line]:
    """The tree line by line.

    Args:
        tree: what to draw.
        limit: number of variables with a line, nearest first; None is all. Variables without branches stand before
            their neighbours.
        deepest: levels of indentation.
    """
    shown = set(tree.order[:limit])
    printed: set[str] = set()
    parts = deque((head, False) for head in tree.heads if head in shown)
    while parts:
        first, is_part = parts.popleft()
        stack: list[tuple[str | Line, str, str, int]] = [(first, "", "", 0)]
        while stack:
            item, before, under, depth = stack.pop()
            if isinstance(item, Line):
                yield _placed(item, before, printed)
                continue
            goes_on = is_part and depth == 0
            printed.add(item)
            near = [far for far in tree.branches.get(item, ()) if far in shown]
            below: list[str | Line] = sorted(near, key=lambda far: far in tree.branches)
            rest = _rest(tree, item, shown)
            if rest is not None:
                below.append(rest)
            continued = depth == deepest and bool(below)
            yield Line(before, tree.variables[item], continued=continued, is_part=goes_on)
            if continued:
                parts.append((item, True))
                continue
            for place, child in enumerate(reversed(below)):
                branch, trunk = ("└─ ", "   ") if place == 0 else ("├─ ", "│  ")
                stack.append((child, under + branch, under + trunk, depth + 1))


def _rest(tree: Tree, id_: str, shown: set[str]) -> Line | None:
    """The line for neighbours of a variable that stand elsewhere in the tree."""
    references = tree.references.get(id_, [])
    elsewhere = tuple(tree.variables[far] for far in references if far in shown)
    hidden = len(references) - len(elsewhere) + sum(far not in shown for far in tree.branches.get(id_, ()))
    return Line("", above=elsewhere, hidden=hidden) if elsewhere or hidden else None


def _placed(line: Line, prefix: str, printed: set[str]) -> Line:
    above = tuple(variable for variable in line.above if variable.id in printed)
    below = tuple(variable for variable in line.above if variable.id not in printed)
    return Line(prefix, above=above, below=below, hidden=line.hidden)
