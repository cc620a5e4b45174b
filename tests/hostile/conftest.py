"""One server with hostile texts in its store, and a process that asks for `/healthz` all the time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

import httpx
import pytest

from api.auth.browsers import COOKIE
from schema.kinds import OperationKind, VariableKind
from schema.models import Failure
from store.open import open_database
from tests.factory import TraceBuilder
from tests.hostile.lag import Watch, watching
from tests.hostile.payloads import STORED
from tests.server.running import Place, RunningServer, running, sqlite_place
from tests.server.watchdog import new_findings

PROJECT, CHAIN = "hostile", 1_500


@pytest.fixture(autouse=True)
def loops_are_free() -> Iterator[None]:
    """The waits of others are measured here, and their limits are those of the whole machine, not of one callback."""
    yield
    new_findings()


@dataclass
class Hostile:
    """The server, and what is in its store.

    Attributes:
        failures: a failure for each hostile text, by the text's name.
        last: the last variable of a long chain. first: its first variable.
        traces: two traces with the same questions and long answers.
    """

    server: RunningServer
    watch: Watch
    failures: dict[str, Failure]
    first: str
    last: str
    traces: tuple[str, str]
    problems: dict[str, str] = field(default_factory=dict)

    def client(self, role: str | None = "admin") -> httpx.Client:
        """A client with a key of the project; None for a client without a key."""
        return self.server.client(role, PROJECT)

    def page_headers(self) -> dict[str, str]:
        """Headers of a browser that is signed in."""
        return {"Cookie": f"{COOKIE}={self.server.key('admin', PROJECT)}", "sec-fetch-site": "same-origin"}


@pytest.fixture(scope="package")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    """The server. Nobody else uses it, and it has no limit of requests."""
    folder = tmp_path_factory.mktemp("hostile")
    place = sqlite_place(folder)
    failures, ends, traces = asyncio.run(_written(place))
    settings = {"rate_limit": "1000000/minute", "job_projects": PROJECT, "explain_seconds": 5}
    with running(place, folder, **settings) as server, watching(server) as watch:
        found = Hostile(server, watch, failures, *ends, traces)
        with found.client() as client:  # each door loads what it needs at its first request
            for path in ("/graphql", "/v1/events", "/v1/traces", "/v1/attributions", "/v1/reports"):
                client.post(path, content=b"{}", headers={"Content-Type": "application/json"})
            client.get(f"/ui/projects/{PROJECT}/compare", headers=found.page_headers())
        yield found
        server.held.new()


async def _written(place: Place) -> tuple[dict[str, Failure], tuple[str, str], tuple[str, str]]:
    failures: dict[str, Failure] = {}
    async with await open_database(place.store) as database:
        store = database.project(PROJECT)
        for name, text in STORED.items():
            trace = TraceBuilder(PROJECT, name)
            trace.session("talk")
            said = trace.variable("message", text, kind=VariableKind.MESSAGE)
            keep = trace.operation("keep", kind=OperationKind.EXTRACTION)
            unit = trace.variable("unit", text[: len(text) // 2], by=keep)
            trace.use(keep, said)
            trace.derive(unit, said, by=keep)
            failures[name] = trace.wrong_answer(
                "it", question=text[-300:] or "?", read=unit, context=text, answer=text, gold_answers=(text,)
            )
            await trace.write(store)
        for name in ("before", "after"):
            trace = TraceBuilder(PROJECT, name)
            trace.session("talk")
            unit = trace.variable("unit", "x")
            for number in range(25):
                text = " ".join(f"{'.' if name == 'before' else ','} {place % 7}" for place in range(500))
                trace.wrong_answer(str(number), question=f"q {number}", read=unit, context=text, answer=text)
            await trace.write(store)
        long = TraceBuilder(PROJECT, "long")
        long.variable("long", "parrot " * 900_000)
        await long.write(store)
        chain = TraceBuilder(PROJECT, "chain")
        step = chain.operation("step")
        before = chain.variable("first", "\0" * 600)
        attributes = '{"a":[' + "[]," * 300 + "[]]}"
        for number in range(CHAIN):
            after = chain.variable(f"next-{number}", "\0" * 600, by=step, attributes=attributes)
            chain.derive(after, before, by=step)
            before = after
        await chain.write(store)
        ids = [TraceBuilder(PROJECT, name).trace.id for name in ("before", "after")]
        return failures, (chain.variables[0].id, chain.variables[-1].id), (ids[0], ids[1])
