"""How quickly abusive documents are refused, and whether they make the server's memory grow."""

from __future__ import annotations

import json
import time
import uuid
from statistics import median

import httpx
import psutil

from benchmarks.context import Context, say
from benchmarks.report import Section, Table, at_most, megabytes, milliseconds
from benchmarks.serving import Place, serving

_MOST_SECONDS = 0.05
_MOST_GROWTH = 32e6
_TIMES, _QUICK_TIMES = 40, 2


def _bodies() -> dict[str, bytes]:
    def document(text: str) -> bytes:
        return json.dumps({"query": text}).encode()

    doubling = " ".join(f"fragment F{i} on Query {{ ...F{i - 1} ...F{i - 1} }}" for i in range(1, 40))
    return {
        "depth 50": document("{" + "project{" * 50 + "name" + "}" * 50 + "}"),
        "10,000 aliases": document("{" + " ".join(f"a{i}: projects {{ name }}" for i in range(10_000)) + "}"),
        "a document of 1 MB": document("{ viewer { actor } } #" + "x" * 1_000_000),
        "a body beyond the limit": document("{ viewer { actor } } #" + "x" * 1_200_000),
        "fragments that contain each other": document(
            "fragment A on Query { ...B } fragment B on Query { ...A } { ...A }"
        ),
        "fragments that double 39 times": document(
            f"fragment F0 on Query {{ viewer {{ actor }} }} {doubling} {{ ...F39 }}"
        ),
        "a page of 10^9": document("{ project { traces(first: 1000000000) { nodes { id } } } }"),
        "pages inside pages": document(
            "{ project { traces(first: 500) { nodes { variables(first: 500) { nodes { versions { id } } } } } } }"
        ),
        "a field 240 times": document("{" + "projects { name } " * 240 + "}"),
        "2,000 tokens and more": document("{" + "projects { name } " * 2000 + "}"),
        "a directive 200 times": document("{ viewer " + "@include(if: true) " * 200 + "{ actor } }"),
        "450 unknown fields": document("{" + " ".join(f"nope{i}" for i in range(450)) + "}"),
        "types of types of types": document(
            "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }"
        ),
        "a batch": b"[" + b",".join([document("{ viewer { actor } }")] * 50) + b"]",
        "no JSON": b"{" * 1000,
    }


async def run(context: Context) -> Section:
    """Send each body many times, one after the other."""
    section = Section("Abuse of GraphQL")
    say("abuse of GraphQL")
    times = _QUICK_TIMES if context.quick else _TIMES
    taken: dict[str, list[float]] = {}
    with context.scratch() as folder:
        async with serving(Place(f"sqlite:///{folder / 'abuse.db'}"), f"abuse-{uuid.uuid4().hex}") as server:
            process = psutil.Process(server.pid)
            headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}
            async with httpx.AsyncClient(base_url=server.url, headers=headers, timeout=60) as client:
                for _ in range(2):
                    for body in _bodies().values():
                        await client.post("/graphql", content=body)
                before = process.memory_info().rss
                for name, body in _bodies().items():
                    for _ in range(times):
                        began = time.perf_counter()
                        response = await client.post("/graphql", content=body)
                        taken.setdefault(name, []).append(time.perf_counter() - began)
                    if response.status_code == 200 and not response.json().get("errors"):
                        raise RuntimeError(f"not refused: {name}")
                growth = process.memory_info().rss - before
    table = Table(("what", f"median of {times}", "most"))
    for name, values in taken.items():
        table.add(name, milliseconds(median(values)), milliseconds(max(values)))
    section.tables.append(table)
    section.numbers |= {"seconds": taken, "grownBytes": growth}
    section.notes.append(
        f"Each is refused {times} times over real HTTP on this machine, one after the other; the time is the client's, "
        f"so that it has the sending in it. The server then held {megabytes(growth)} more than after the first rounds."
    )
    worst = max(median(values) for values in taken.values())
    section.goals.append(at_most("slowest refusal of an abusive document, median", _MOST_SECONDS, worst, milliseconds))
    section.goals.append(at_most("growth of the server by all of them", _MOST_GROWTH, max(growth, 0), megabytes))
    return section
