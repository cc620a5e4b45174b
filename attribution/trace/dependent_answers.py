"""Which answers depend on given elements: one walk back from all answers of a trace, not a closure per answer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from schema.models import Derivation

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Members(Generic[K]):
    """The keys to look for: for each variable id and each operation id, the keys that the element belongs to."""

    variables: dict[str, list[K]] = field(default_factory=lambda: defaultdict(list))
    operations: dict[str, list[K]] = field(default_factory=lambda: defaultdict(list))


class Links:
    """The derivations of one trace, for walks back from many answers at once."""

    def __init__(self) -> None:
        self._sources: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._uses: dict[str, int] = defaultdict(int)
        self._ids: dict[str, str] = {}

    def add(self, derivation: Derivation) -> None:
        """Add a derivation."""
        target, source, operation = (
            self._ids.setdefault(id_, id_) for id_ in (derivation.target, derivation.source, derivation.operation_id)
        )
        self._sources[target].append((source, operation))
        self._uses[source] += 1

    def resting(self, answers: Sequence[str], members: Members[K]) -> dict[K, int]:
        """For each key of the members, the answers that depend on the key, as an integer with one bit per answer.

        The graph has no cycles: a variable is visited after everything that was made from it, and then dropped.
        """
        bits: dict[str, int] = defaultdict(int)
        for place, answer in enumerate(answers):
            bits[answer] |= 1 << place
        left = dict(self._uses)
        ready = [id_ for id_ in {*self._sources, *answers} if id_ not in left]
        found: dict[K, int] = defaultdict(int)
        while ready:
            current = ready.pop()
            resting = bits.pop(current, 0)
            for key in members.variables.get(current, ()) if resting else ():
                found[key] |= resting
            for source, operation in self._sources.get(current, ()):
                if resting:
                    bits[source] |= resting
                    for key in members.operations.get(operation, ()):
                        found[key] |= resting
                left[source] -= 1
                if not left[source]:
                    ready.append(source)
        return found
