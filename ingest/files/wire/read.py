"""Reads files of wire events, which may belong to many traces."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from memtrace.events import Event, Feedback

from ingest.events.names import defined
from ingest.events.ordering import in_order, with_late_sources
from ingest.events.taking import take_events
from ingest.files.protocol import ImportReport, OpenFile, Rejected
from ingest.files.wire.lines import Lines
from schema.ids import trace_id
from store.contract.answers import Label
from store.contract.protocol import GraphStore

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
