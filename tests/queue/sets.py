"""Sets of events that refer only to each other, and a function that reads the graph of a trace."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import pairwise, repeat
from random import Random
from typing import Any

from schema.ids import trace_id
from schema.models import Derivation, Operation, Session, Trace, Variable
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.paging import elements

_LONG = "A memory that grows, message by message. " * 80


def event_line(type_: str, trace: str, microseconds: int = 0, /, **fields: Any) -> bytes:
    """An event as it is sent."""
    time = f"2026-01-01T00:00:00.{microseconds:06}Z"
    return json.dumps({"v": 1, "type": type_, "trace": trace, "time": time, **fields}).encode()


def closed_set(trace: str, steps: int, random: Random, *, is_timed: bool = True) -> list[bytes]:
    """Events of every type, with references to earlier events only; ``is_timed`` gives increasing times."""
    clock = iter(range(10**6)) if is_timed else repeat(0)

    def event(type_: str, **fields: Any) -> bytes:
        return event_line(type_, trace, next(clock), **fields)

    def variable(name: str, kind: str, value: str, **fields: Any) -> bytes:
        said = {"name": name, "kind": kind, "version": 0, "value": value, "mediaType": "text/plain"}
        return event("variable", variable=name, **(said | fields))

    events = [event("trace", name="an agent", attributes={"model": "m"}), event("session", session="s0", name="talk")]
    values = {"v0": "hello"}
    events.append(variable("v0", "Message", "hello", session="s0"))
    for number in range(1, steps + 1):
        step, made, before = f"o{number}", f"v{number}", random.choice(sorted(values))
        parent = {"parent": f"o{random.randrange(1, number)}"} if number > 1 and random.random() < 0.3 else {}
        events.append(event("operationStarted", operation=step, name="extract", kind="Extraction", **parent))
        sources = random.sample(sorted(values), min(len(values), random.randint(1, 3)))
        events += [event("used", operation=step, variable=one, position=place) for place, one in enumerate(sources)]
        match random.randrange(5):
            case 0:
                more = f"; {number}"
                whole = (values[before] if random.random() < 0.5 else _LONG) + more
                if whole.startswith(values[before]):
                    kept = len(values[before])
                    base = {"variable": before, "kept": kept, "size": len(whole)}
                    events.append(variable(made, "Buffer", whole[kept:], operation=step, base=base))
                else:
                    events.append(variable(made, "Buffer", whole, operation=step))
                values[made] = whole
            case 1:
                values[made] = f"{before} again"
                events.append(variable(made, "MemoryUnit", values[made], version=1, operation=step, revisionOf=before))
            case 2:
                values[made] = values[before]
                events.append(variable(made, "MemoryUnit", values[made], operation=step, reads=before, occurrence=1))
            case _:
                values[made] = f"value {number}"
                events.append(variable(made, "MemoryUnit", values[made], operation=step, session="s0"))
        events += [
            event("derived", derivation=f"d{number}-{one}", source=one, target=made, operation=step, kind="Derivation")
            for one in sources
        ]
        if random.random() < 0.2:
            events.append(event("invalidated", variable=before, operation=step))
        if random.random() < 0.2:
            query = random.choice(sources)
            events.append(
                event("considered", operation=step, query=query, variable=before, rank=100, score=0.5, returned=True)
            )
        events.append(event("operationEnded", operation=step, status="ok", attributes={"seconds": number}))
    return events


async def graph_of(store: GraphStore, trace: str) -> dict[str, Any]:
    """The graph of a trace without data that depends on the order of arrival: sequence numbers, begin of the trace."""
    id_ = trace_id(store.project_id, trace)
    (found,) = await store.get(Label.TRACE, [id_])
    assert isinstance(found, Trace)
    variables = await elements(store, Variable, id_)
    values = await store.values(variables)
    places = {one.id: one.sequence for one in variables}
    derivations = await elements(store, Derivation, id_)
    assert sorted(places.values()) == list(range(len(variables)))
    assert all(places[one.source] < places[one.target] for one in derivations)
    return {
        "trace": (found.name, json.loads(found.attributes)),
        "sessions": _without_places(await elements(store, Session, id_)),
        "operations": _without_places(await elements(store, Operation, id_)),
        "variables": _without_places(variables),
        "values": {one.external_id: values.get(one.value_hash) for one in variables},
        "derivations": _without_places(derivations),
        "usages": {tuple(asdict(one).values()) for one in await store.usages(id_)},
        "invalidations": {tuple(asdict(one).values()) for one in await store.invalidations(id_)},
    }


def cut(events: Sequence[bytes], at: Iterable[int]) -> list[list[bytes]]:
    """The events, divided into requests at some places."""
    places = [0, *sorted(at), len(events)]
    requests = [list(events[start:end]) for start, end in pairwise(places)]
    return [request for request in requests if request]


def _without_places(found: Iterable[Any]) -> dict[str, dict[str, Any]]:
    return {one.id: {name: value for name, value in asdict(one).items() if name != "sequence"} for one in found}
