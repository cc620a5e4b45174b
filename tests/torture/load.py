"""Senders that never give up, and the check of what must be in the graph afterwards."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx

from schema.ids import trace_id
from schema.models import Derivation, Operation, Variable
from store.contract.protocol import GraphStore
from store.shared.paging import elements

_STEPS_A_REQUEST = 5
_SECONDS_A_REQUEST = 10.0


def step(trace: str, number: int) -> list[dict[str, Any]]:
    """A step that reads a message and makes a unit of it."""

    def event(type_: str, **fields: Any) -> dict[str, Any]:
        return {"v": 1, "type": type_, "trace": trace, "time": "2026-01-01T00:00:00.000000Z", **fields}

    def variable(name: str, kind: str, **fields: Any) -> dict[str, Any]:
        value = f"{name} of {trace}" * (200 if number % 10 == 0 else 1)
        said = {"name": name, "kind": kind, "version": 0, "value": value, "mediaType": "text/plain"}
        return event("variable", variable=name, **said, **fields)

    message, unit, step = f"m{number}", f"u{number}", f"o{number}"
    return [
        variable(message, "Message"),
        event("operationStarted", operation=step, name="extract", kind="Extraction"),
        event("used", operation=step, variable=message, position=0),
        variable(unit, "MemoryUnit", operation=step),
        event("derived", derivation=f"d{number}", source=message, target=unit, operation=step, kind="Derivation"),
        event("operationEnded", operation=step, status="ok"),
    ]


@dataclass
class Sender:
    """Sends the steps of one trace, each batch until it is acknowledged."""

    url: str
    key: str
    trace: str = field(default_factory=lambda: uuid4().hex)
    steps: int = 0
    """Acknowledged."""
    tries: int = 0

    async def run(self, stopping: asyncio.Event, pause: float) -> None:
        """Send until told to stop; the last batch, too, until it is acknowledged."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/x-ndjson"}
        async with httpx.AsyncClient(headers=headers, timeout=_SECONDS_A_REQUEST) as client:
            while not stopping.is_set():
                numbers = range(self.steps, self.steps + _STEPS_A_REQUEST)
                events = [event for number in numbers for event in step(self.trace, number)]
                body = b"".join(json.dumps(event).encode() + b"\n" for event in events)
                while not await self._send(client, body, len(events)):
                    await asyncio.sleep(0.2)
                self.steps += _STEPS_A_REQUEST
                await asyncio.sleep(pause)

    async def _send(self, client: httpx.AsyncClient, body: bytes, events: int) -> bool:
        self.tries += 1
        try:
            answer = await client.post(f"{self.url}/v1/events", content=body)
        except httpx.HTTPError:
            return False
        if answer.status_code in {500, 502, 503, 504}:
            assert answer.status_code != 500, answer.text
            return False
        assert answer.status_code == 200, answer.text
        assert answer.json() == {"accepted": events, "rejected": []}
        return True

    async def check(self, store: GraphStore) -> None:
        """All that was acknowledged is in the graph, once, whole and in order."""
        trace = trace_id(store.project_id, self.trace)
        variables = await elements(store, Variable, trace)
        operations = await elements(store, Operation, trace)
        derivations = await elements(store, Derivation, trace)
        steps = range(self.steps)
        assert [one.name for one in variables] == [name for number in steps for name in (f"m{number}", f"u{number}")]
        assert {one.status.value for one in operations} == {"ok"}
        for found, count in ((variables, 2), (operations, 1), (derivations, 1)):
            assert [one.sequence for one in found] == list(range(count * self.steps))
        used = await store.usages(trace)
        assert len({(one.operation_id, one.variable_id) for one in used}) == len(used) == self.steps
        assert any(one.value is None for one in variables), "no value was longer than what a node holds"
