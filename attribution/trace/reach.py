"""Which variables of a trace are reachable along derivations, in one direction."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence

_MOST_KEPT = 150_000
"""The maximal number of variables in cached results, without those of marks; the newest results stay."""
_CHAINS, _MARKS = 2, 16
"""The number of longest chains that get marks, and the maximal number of marks in each."""
_MOST_MARKED = 300_000
"""The maximal number of variables in the cached results of one chain's marks."""
_APART = 50
"""The minimal distance between marks, in versions."""


class Reach:
    """Finds all variables reachable in one direction, and caches recent results.

    A buffer with a version for each message is one long chain, from which most of a trace is reachable. What is
    reachable is cached at some versions of a chain ("marks"), so that a walk ends at the next mark.
    """

    def __init__(self, edges: Mapping[str, Sequence[str]], chains: Iterable[Sequence[str]]) -> None:
        """Starts without results.

        Args:
            edges: the variables that are one step away from each variable.
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
        """All variables reachable from some variables, themselves included."""
        roots = frozenset(variable_ids)
        if roots in self._kept:
            self._kept.move_to_end(roots)
            return self._kept[roots]
        only = self._edges.get(next(iter(roots)), ()) if len(roots) == 1 else ()
        if len(only) == 1:
            # Many messages lead into one unit: the walk from the unit is cached once for all of them.
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
        """The result of a walk.

        A walk from a mark passes through marks without a result, because it may be the walk that finds their result.
        """
        found = set(roots)
        waiting = list(found)
        for one in waiting:  # the list grows during the walk
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
        """Cache what is reachable from a chain's marks, the last mark first, where walks from earlier marks end."""
        for one in reversed(marks):
            if one not in self._from_mark:
                self._from_mark[one] = self._walked([one], is_mark=True)
