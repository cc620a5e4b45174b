"""Which answers rest on what: all walks back from the answers of a trace at once, instead of a closure for each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from schema.models import Derivation

K = TypeVar("K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Members(Generic[K]):
    """What to look for in a trace: by the ids of variables and of operations, of what each is a part."""

    variables: dict[str, list[K]] = field(default_factory=lambda: defaultdict(list))
    operations: dict[str, list[K]] = field(default_factory=lambda: defaultdict(list))


class Links:
    """The derivations of one trace, for walks from many answers at once."""

    def __init__(self) -> None:
        self._sources: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._uses: dict[str, int] = defaultdict(int)
        self._ids: dict[str, str] = {}

    def add(self, derivation: Derivation) -> None:
        """Add one."""
        target, source, operation = (
            self._ids.setdefault(id_, id_) for id_ in (derivation.target, derivation.source, derivation.operation_id)
        )
        self._sources[target].append((source, operation))
        self._uses[source] += 1

    def resting(self, answers: Sequence[str], members: Members[K]) -> dict[K, int]:
        """The answers that rest on each member, a bit an answer.

        The graph has no cycles: a variable is looked at when all that was made from it has been, and then forgotten.
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
