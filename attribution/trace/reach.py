"""What is reached from variables of a trace along its derivations, in one direction."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

_MOST_KEPT = 150_000
"""Members of the sets of reached variables that are kept, at most, besides those of marks; the last ones stay."""
_CHAINS, _MARKS = 2, 16
"""In how many of the longest chains there are marks, and how many in each, at most."""
_MOST_MARKED = 300_000
"""Members of what is reached from the marks of a chain, at most."""
_APART = 50
"""Marks are at least so many versions apart."""


class Reach:
    """What is reached from variables in one direction; what was asked for last is kept.

    A buffer that has a version for each message is one long chain, and most of a trace is reached from anywhere in it.
    So some of its versions are marks, of which it is kept what is reached from them: a walk goes no further than to the
    next one.
    """

    def __init__(self, edges: Mapping[str, Sequence[str]], chains: Iterable[Sequence[str]]) -> None:
        """Walks nowhere yet.

        Args:
            edges: where one goes from each variable in a step.
            chains: of versions, in the direction of the walk.
        """
        self._edges = edges
        self._marks: dict[str, Sequence[str]] = {}
        for chain in sorted(chains, key=len, reverse=True)[:_CHAINS]:
            count = max(1, min(_MARKS, _MOST_MARKED // (len(edges) + 1)))
            marks = chain[_APART :: max(_APART, len(chain) // count)]
            self._marks |= dict.fromkeys(marks, marks)
        self._from_mark: dict[str, frozenset[str]] = {}
        self._kept: OrderedDict[frozenset[str], frozenset[str]] = OrderedDict()
        self._count = 0

    def of(self, variable_ids: Iterable[str]) -> frozenset[str]:
        """All that is reached from some variables, themselves included."""
        roots = frozenset(variable_ids)
        if roots in self._kept:
            self._kept.move_to_end(roots)
            return self._kept[roots]
        only = self._edges.get(next(iter(roots)), ()) if len(roots) == 1 else ()
        if len(only) == 1:
            # Many messages lead into one unit: what is reached from that is walked once.
            through = frozenset(only)
            if through not in self._kept:
                self._keep(through, self._walked(through))
            return self._keep(roots, roots | self._kept[through])
        return self._keep(roots, self._walked(roots))

    def _keep(self, roots: frozenset[str], reached: frozenset[str]) -> frozenset[str]:
        self._kept[roots] = reached
        self._count += len(reached)
        while self._count > _MOST_KEPT and len(self._kept) > 1:
            _, dropped = self._kept.popitem(last=False)
            self._count -= len(dropped)
        return reached

    def _walked(self, roots: Iterable[str], *, is_mark: bool = False) -> frozenset[str]:
        """All that is reached, found by a walk.

        One from a mark takes other marks that are not known yet like any other variable, for what is reached from them
        may be found by this very walk.
        """
        found = set(roots)
        waiting = list(found)
        for one in waiting:  # it grows on the way
            if not is_mark and one in self._marks:
                self._know(self._marks[one])
            if one in self._from_mark:
                found |= self._from_mark[one]
                continue
            for other in self._edges.get(one, ()):
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        return frozenset(found)

    def _know(self, marks: Sequence[str]) -> None:
        """Know what is reached from the marks of a chain, the last first: then a walk from one before ends there."""
        for one in reversed(marks):
            if one not in self._from_mark:
                self._from_mark[one] = self._walked([one], is_mark=True)
