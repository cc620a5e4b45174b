"""What an instrument of a package is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Instrument(Protocol):
    """Records one package, whose code and users' code stay as they are.

    While it is installed, results, exceptions, types and the timing of streams are what they would be without it. What
    it can't record is reported by ``memtrace.faults`` and never raised.
    """

    distribution: str
    """The package's name in a registry; its metadata tell the version."""

    modules: Sequence[str]
    """The importable packages that it patches; it is installed when the first of them has been imported."""

    tested: tuple[str, str]
    """The oldest and the newest version with which it was tested."""

    def install(self) -> None:
        """Begin to record. It is called once until ``remove``, when one of ``modules`` is imported.

        Where a part of the package does not exist in this version, the other parts are recorded.
        """

    def remove(self) -> None:
        """Leave the package as it was. Calls that are under way end as they began."""
