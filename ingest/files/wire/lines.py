"""The lines of a file of events: first all lines are checked, and later read again in portions."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

from memtrace.events import Event, EventError

from ingest.events.reading import checked, read
from ingest.events.values import rebuilt_bytes
from ingest.files.opening import UnpacksTooMuchError
from ingest.files.protocol import OpenFile
from schema.errors import InputError
from store.runtime.processor_share import ProcessorShare

MOST_EVENTS, MOST_BYTES = 4_000, 8 << 20
"""Largest portion of events that is read and written at a time; one event may be larger."""

_TOLD_EVERY = 1_000
_REBUILT = ", with the values of which its events say only what is new"


class Lines:
    """The events of a file, addressed by place (0, 1, ...); only their offsets in the file are kept in memory.

    Attributes:
        of_traces: the places of each trace's events, by the trace's id in the source.
    """

    def __init__(self, file: OpenFile) -> None:
        """Check all lines; empty ones are skipped.

        Raises:
            InputError: a line is not an event, or the rebuilt values of all events are too large together.
        """
        self.of_traces: dict[str, array[int]] = {}
        self._file = file
        self._starts, self._numbers = array("Q"), array("Q")
        share = ProcessorShare()
        total, rebuilt = len(file.data), 0
        for number, start, line in _lines(file):
            share.step()
            try:
                event = checked(line)
            except EventError as error:
                raise InputError(file.name, f"line {number}", str(error)) from None
            rebuilt += rebuilt_bytes(event)
            if file.max_bytes is not None and rebuilt > file.max_bytes:
                raise UnpacksTooMuchError(file.name, file.max_bytes, _REBUILT)
            self.of_traces.setdefault(event.trace, array("Q")).append(len(self._starts))
            self._starts.append(start)
            self._numbers.append(number)
            if len(self._starts) % _TOLD_EVERY == 0:
                file.tell("read", start, total)
        file.tell("read", total, total)

    def __len__(self) -> int:
        """The number of events."""
        return len(self._starts)

    def number(self, place: int) -> int:
        """The line number of an event, from 1."""
        return self._numbers[place]

    def portions(self, places: Sequence[int]) -> Iterator[list[int]]:
        """The places in portions of at most ``MOST_EVENTS`` and ``MOST_BYTES``."""
        portion: list[int] = []
        size = 0
        for place in places:
            start, end = self._bounds(place)
            if portion and (len(portion) == MOST_EVENTS or size + end - start > MOST_BYTES):
                yield portion
                portion, size = [], 0
            portion.append(place)
            size += end - start
        if portion:
            yield portion

    def events(self, places: Sequence[int]) -> list[Event]:
        """The events at some places."""
        found = []
        for event in read([self._file.data[slice(*self._bounds(place))] for place in places]):
            if isinstance(event, EventError):  # the file has changed meanwhile
                raise InputError(self._file.name, "", str(event))
            found.append(event)
        return found

    def _bounds(self, place: int) -> tuple[int, int]:
        start = self._starts[place]
        end = self._file.data.find(b"\n", start)
        return start, len(self._file.data) if end < 0 else end


def _lines(file: OpenFile) -> Iterator[tuple[int, int, bytes]]:
    """Number, offset and bytes of each line that is not empty."""
    file.data.seek(0)
    number = start = 0
    while line := file.data.readline():
        number += 1
        if stripped := line.rstrip():
            yield number, start, stripped
        start += len(line)
