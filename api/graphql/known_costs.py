"""Costs of GraphQL operations that were counted before: pages and programs send the same few documents again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from api.graphql.chosen import ChosenOperation

_REMEMBERED = 256
_LONGEST = 4000
"""The most characters of a document whose cost is remembered."""
_MOST_VARIABLES = 20

_Key = tuple[str, str | None, tuple[tuple[str, type, float], ...]]


class KnownCosts:
    """What a function counts of operations, remembered for small documents.

    Of the variables only numbers matter: they are the lengths of lists, windows and walks.
    """

    def __init__(self, count: Callable[[ChosenOperation], int]) -> None:
        """Begin with nothing remembered.

        Args:
            count: counts an operation; the count must depend on the document and on variables with numbers alone.
        """
        self._count = count
        self._known: OrderedDict[_Key, int] = OrderedDict()

    def of(self, chosen: ChosenOperation) -> int:
        """What the function counts of an operation."""
        if len(chosen.text) > _LONGEST or len(chosen.variables) > _MOST_VARIABLES:
            return self._count(chosen)
        numbers = [
            (name, type(value), value) for name, value in chosen.variables.items() if isinstance(value, int | float)
        ]
        key = (chosen.text, chosen.name, tuple(sorted(numbers, key=lambda one: one[0])))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._count(chosen)
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(key)
        return known
