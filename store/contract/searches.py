"""The methods of a ``GraphStore`` that find variables by name, by words, and by what their values contain."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from schema.models import Variable
from store.contract.answers import ALWAYS, ScanResult, SearchHit, Span


class Searches(Protocol):
    """Searches among the recorded variables of a project."""

    async def named(self, name: str, version: int | None, trace_id: str | None, limit: int) -> list[Variable]:
        """Recorded variables (occurrence 0) with exactly this name, by trace id and place; the name holds a word."""
        ...

    async def search(
        self,
        text: str,
        trace_id: str | None = None,
        limit: int = 20,
        kinds: Collection[str] = (),
        when: Span = ALWAYS,
    ) -> list[SearchHit]:
        """Recorded variables whose name, comment and preview contain all words of the text (see ``schema.words``).

        Args:
            text: the words.
            trace_id: only variables of this trace.
            limit: the largest number of hits.
            kinds: only variables of these kinds; empty for all.
            when: only variables made in this time.
        """
        ...

    async def scan(
        self,
        text: str,
        trace_id: str | None = None,
        limit: int = 20,
        max_bytes: int = 1 << 30,
        seconds: float = 30.0,
    ) -> ScanResult:
        """Recorded variables whose whole value contains the text, in any case of letters, by reading all values.

        Args:
            text: the text.
            trace_id: the trace to scan; None for all.
            limit: the largest number of hits.
            max_bytes: stop after this many bytes of values.
            seconds: stop after this time.
        """
        ...
