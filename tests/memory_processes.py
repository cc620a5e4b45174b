"""Processes that share one memory and are recorded separately: a process reads what another wrote a week earlier."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from unittest.mock import patch

import memtrace
from memtrace import context
from memtrace.exporters.memory import MemoryExporter
from memtrace.exporters.prepare import encoded

from schema.ids import trace_id
from schema.kinds import VariableKind
from schema.models import Derivation, Variable
from store.contract.answers import NO_BUDGET, Direction
from store.contract.protocol import GraphStore
from store.shared.paging import elements

STORE = "mem0:/data/memory"
ALICE = memtrace.trace_id(STORE, "alice")
BOB = memtrace.trace_id(STORE, "bob")

Held = tuple[str, str]
"""What the store holds: the unit's id and its text."""

NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
WEEK = timedelta(days=7)


@contextmanager
def process(at: datetime = NOW) -> Iterator[list[bytes]]:
    """Record as a separate process would; the yielded list holds the events at the end."""
    context.forget()
    exporter, lines = MemoryExporter(), list[bytes]()
    memtrace.configure(exporter=exporter)
    faults = memtrace.fault_counts()
    start = int(at.timestamp()) * 10**9
    clock = iter(range(start, start + 10**9, 10**3))
    with patch("time.time_ns", lambda: next(clock)):
        yield lines
    assert memtrace.fault_counts() == faults
    lines += [encoded(event).strip() for event in exporter.events]
    memtrace.configure(exporter=MemoryExporter())


def tell(
    message: str, unit: str, id_: str = "u1", trace: str = ALICE, *, version: str | None = None, at: datetime = NOW
) -> list[bytes]:
    """A process that hears a message, and stores a version of a unit made of it."""
    with process(at) as lines, memtrace.trace(id=trace), memtrace.session("talk"):
        said = memtrace.variable(message, kind="Message", name="message")
        with memtrace.operation("extract", kind="Extraction") as step:
            step.input(said, "message")
            memtrace.store_unit(unit, store=STORE, id=id_, version=version)
    return lines


def update(message: str, before: Held, unit: str, trace: str = ALICE, *, at: datetime = NOW) -> list[bytes]:
    """A process that finds a unit in the store, and writes the next version of it."""
    id_, old = before
    with process(at) as lines, memtrace.trace(id=trace), memtrace.session("talk"):
        said = memtrace.variable(message, kind="Message", name="message")
        with memtrace.operation("update", kind="Update") as step:
            step.input(said, "message")
            memtrace.stored_unit(old, store=STORE, id=id_)
            memtrace.store_unit(unit, store=STORE, id=id_)
    return lines


def forget(held: Held, trace: str = ALICE, *, at: datetime = NOW) -> list[bytes]:
    """A process that deletes a unit from the store."""
    id_, text = held
    with process(at) as lines, memtrace.trace(id=trace), memtrace.operation("delete", kind="Deletion"):
        memtrace.deleted(memtrace.stored_unit(text, store=STORE, id=id_))
    return lines


def ask(
    question: str,
    found: Sequence[Held],
    said: str,
    trace: str = ALICE,
    *,
    considered: Sequence[Held] = (),
    version: str | None = None,
    gold: str | None = None,
    at: datetime = NOW + WEEK,
) -> list[bytes]:
    """A process that searches the store and answers; with ``gold``, the answer is marked as wrong."""
    with process(at) as lines, memtrace.trace(id=trace), memtrace.session("questions"):
        query = memtrace.variable(question, kind="Query", name="question")
        with memtrace.operation("search", kind="Retrieval") as step:
            step.input(query, "query")
            returned = [f"{text} "[:-1] for _, text in found]
            known = [memtrace.stored_unit(text, store=STORE, id=id_, version=version) for id_, text in found]
            others = [memtrace.stored_unit(text, store=STORE, id=id_, version=version) for id_, text in considered]
            memtrace.retrieved(query, [*known, *others], list(zip(returned, known, strict=True)))
        with memtrace.operation("answer", kind="Generation") as step:
            step.input(query, "query")
            for text in returned:
                step.input(text, "context")
            answer = step.output(said, "answer", kind="Answer")
        if gold is not None:
            memtrace.feedback(answer, gold=gold)
    return lines


async def variables(store: GraphStore, trace: str = ALICE) -> dict[str, Variable]:
    """All variables of a trace, by id."""
    return {one.id: one for one in await elements(store, Variable, trace_id(store.project_id, trace))}


async def unit(store: GraphStore, text: str, trace: str = ALICE) -> Variable:
    """The only recorded unit with this text."""
    (found,) = [
        one
        for one in (await variables(store, trace)).values()
        if one.preview == text and one.kind is VariableKind.MEMORY_UNIT and one.occurrence == 0
    ]
    return found


async def past(store: GraphStore, answer: str, trace: str = ALICE) -> list[str]:
    """What is recorded in the closure of the only answer with a text, which is what a walk along the edges reaches."""
    known = await variables(store, trace)
    (start,) = [id_ for id_, one in known.items() if one.preview == answer and one.kind is VariableKind.ANSWER]
    closure = await store.closure([start], Direction.BACKWARD, NO_BUDGET)
    edges = await elements(store, Derivation, trace_id(store.project_id, trace))
    assert all(known[edge.source].sequence < known[edge.target].sequence for edge in edges)
    reached, waiting = set[str](), [start]
    while waiting:
        here = waiting.pop()
        if here not in reached:
            reached.add(here)
            waiting += [edge.source for edge in edges if edge.target == here]
    assert reached == {one.id for one in closure.variables}
    return sorted(f"{one.kind}: {one.preview}" for one in closure.variables if one.occurrence == 0)
