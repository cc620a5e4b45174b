"""Which stored units of a trace this process has read or written, and which version of each is the newest."""

from __future__ import annotations

from memtrace.identity import Variable
from memtrace.recent import Recent

MAX_KNOWN = 50_000

Place = tuple[str, str]
"""The store of a unit and the unit's id in it."""


class KnownUnits:
    """The stored units of one trace, as far as this process knows; those not used for long are forgotten."""

    __slots__ = ("_newest", "_versions")

    def __init__(self) -> None:
        self._versions: Recent[str, Variable] = Recent(MAX_KNOWN)
        self._newest: Recent[Place, tuple[Variable, str]] = Recent(MAX_KNOWN)

    def version(self, id_: str) -> Variable | None:
        """The variable that stands for a version, by the id that all processes compute for it."""
        return self._versions.get(id_)

    def newest(self, place: Place) -> Variable | None:
        """The newest version that is not deleted."""
        found = self._newest.get(place)
        return None if found is None or found[1] == "" else found[0]

    def holds(self, place: Place, id_: str) -> bool:
        """Whether the newest version is the one with this id."""
        found = self._newest.get(place)
        return found is not None and found[1] == id_

    def set(self, place: Place, id_: str, variable: Variable) -> None:
        """From now on this is the newest version, and the one that this id means."""
        self._versions.get(id_)
        self._versions.set(id_, variable)
        self._newest.get(place)
        self._newest.set(place, (variable, id_))

    def end(self, place: Place) -> None:
        """The unit is deleted: what is written next is a new version, even if it is the same."""
        found = self._newest.get(place)
        if found is not None:
            self._newest.set(place, (found[0], ""))
