"""Reads files of wire events, which may belong to many traces.

First all lines are checked, and later read again in portions.
"""

from __future__ import annotations

import asyncio
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence

from memtrace.events import Event, EventError, Feedback

from ingest.events.names import defined
from ingest.events.ordering import in_order, with_late_sources
from ingest.events.reading import checked, read
from ingest.events.taking import take_events
from ingest.events.values import rebuilt_bytes
from ingest.files.opening import UnpacksTooMuchError
from ingest.files.protocol import ImportReport, OpenFile, Rejected
from schema.errors import InputError
from schema.ids import trace_id
from store.contract.answers import Label
from store.contract.protocol import GraphStore
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


MOST_PASSES = 20
"""Number of passes over events that refer to events more than a portion of the file ahead."""

_FAR_AHEAD = "; it may come later in the file, but too much there is in no order"


async def read_events(file: OpenFile, store: GraphStore) -> ImportReport:
    """Check all lines, and write their events, trace by trace.

    Events that the graph can't accept don't keep others out; the report lists the refused events.

    Raises:
        InputError: a line is not an event; nothing was written.
    """
    lines = await asyncio.to_thread(Lines, file)
    file.tell("write", 0, len(lines))
    traces: list[_Writing] = []
    done = 0
    for external_id, places in lines.of_traces.items():
        writing = _Writing(store, lines, trace_id(store.project_id, external_id))
        await writing.write(places)
        traces.append(writing)
        done += len(places)
        file.tell("write", done, len(lines))
    created = sum((one.created for one in traces), Counter[str]())
    found = sum((one.found for one in traces), Counter[str]())
    return ImportReport(
        file=file.name,
        trace_id=traces[0].trace_id,
        created=dict(created),
        existing=dict(found - created),
        variables=found[Label.VARIABLE.value],
        occurrences=0,
        operations=found[Label.OPERATION.value],
        derivations=found[Label.DERIVATION.value],
        reads=0,
        sessions=found[Label.SESSION.value],
        failures=found[Label.FAILURE.value],
        seconds=file.seconds(),
        trace_ids=tuple(one.trace_id for one in traces),
        rejected=tuple(sorted((bad for one in traces for bad in one.rejected), key=lambda bad: bad.line)),
    )


def _made_by(event: Event) -> tuple[Label, str] | None:
    """Label and name of the element that an accepted event made; a failure for feedback on a wrong answer."""
    if isinstance(event, Feedback) and not event.right:
        return Label.FAILURE, f"{event.answer}\0{event.question or ''}"
    return defined(event)


class _Writing:
    """One trace of a file while it is written to the graph.

    Attributes:
        created: number of elements that are new in the store, by label.
        found: number of elements of the file that are in the store now, by label.
        rejected: the events that the graph could not accept.
    """

    def __init__(self, store: GraphStore, lines: Lines, id_: str) -> None:
        self.trace_id = id_
        self.created: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.rejected: list[Rejected] = []
        self._store = store
        self._lines = lines
        self._made: set[tuple[Label, str]] = set()

    async def write(self, places: Sequence[int]) -> None:
        """Write the events at some places, in their order.

        Events that refer to later events are tried again after all others, as long as a pass makes progress.
        """
        before = await self._counts()
        waiting: list[int] = list(places)
        tries = 0
        while waiting and tries < MOST_PASSES:
            tries += 1
            early: dict[int, str] = {}
            for portion in self._lines.portions(waiting):
                early |= await self._take(portion)
            if len(early) == len(waiting):
                break
            waiting = sorted(early)
        for place in waiting:
            self._reject(place, early[place] + (_FAR_AHEAD if tries == MOST_PASSES else ""))
        after = await self._counts()
        self.created = after - before
        self.found.update(label.value for label, _ in self._made)
        self.found[Label.TRACE.value] = after[Label.TRACE.value]
        # Two feedback events of one failure may differ: one names the question, the other leaves the question out.
        failures = Label.FAILURE.value
        self.found[failures] = min(self.found[failures], after[failures])
        self._made.clear()

    async def _take(self, portion: Sequence[int]) -> dict[int, str]:
        """Write events; returns, by place, the reasons of the events that refer to later events."""
        events = await asyncio.to_thread(self._lines.events, portion)
        order = await asyncio.to_thread(in_order, events)
        if order is not None:
            portion, events = [portion[place] for place in order], [events[place] for place in order]
        refused = {
            one.index: one
            for one in await with_late_sources(self._store, events, await take_events(self._store, events))
        }
        early = {}
        for index, (place, event) in enumerate(zip(portion, events, strict=True)):
            one = refused.get(index)
            if one is None:
                made = _made_by(event)
                if made is not None:
                    self._made.add(made)
            elif one.is_early:
                early[place] = one.reason
            else:
                self._reject(place, one.reason)
        return early

    def _reject(self, place: int, reason: str) -> None:
        self.rejected.append(Rejected(self._lines.number(place), reason))

    async def _counts(self) -> Counter[str]:
        return Counter((await self._store.counts([self.trace_id])).get(self.trace_id, {}))
