"""Whether verdicts help the search for better prompts: evaluations and reflections until all answers are right.

The peer is the same search with prompts in turn, without verdicts, as gepa does it by itself.
"""

from __future__ import annotations

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from attribution.model.settings import LlmSettings
from benchmarks.context import ROOT, Context, say
from benchmarks.optimization_program import FAULTS, improved, prompts_of, reply
from benchmarks.report import Section, Table, at_least
from examples.better_prompts import conversations
from ingest.harness.datasets.registry import read_dataset
from ingest.harness.judging import Exact
from ingest.harness.plan import Plan
from optimization.gate.gate import Rules
from optimization.loop.optimize import Wanted, optimize
from optimization.loop.search import Found

_REFLECTING = "reflecting"
_MOST = 60
_GOAL = 3


async def run(context: Context) -> Section:
    """Optimize each program twice."""
    section = Section("Optimization of prompts")
    table = Table(("at fault", "by blame: evaluations", "reflections", "in turn: evaluations", "reflections"))
    won = 0
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Model)
    Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        for fault in FAULTS:
            by_blame = await _searched(context, server, fault, by_blame=True)
            in_turn = await _searched(context, server, fault, by_blame=False)
            won += by_blame.evaluations < in_turn.evaluations and by_blame.reflections < in_turn.reflections
            table.add(fault, *(f"{n:,}" for one in (by_blame, in_turn) for n in (one.evaluations, one.reflections)))
    finally:
        server.shutdown()
        server.server_close()
    section.tables.append(table)
    section.goals.append(
        at_least("programs of 4 for which blame takes fewer evaluations and reflections", _GOAL, won, "{:.0f}".format)
    )
    section.notes.append(
        "An evaluation is one conversation under one candidate; a search ends when all answers of the validation "
        f"conversations are right, or after {_MOST} evaluations. Models are rules behind a local server; the programs "
        "are constructed, so the figures compare the two ways, and say nothing of real models."
    )
    return section


async def _searched(context: Context, server: ThreadingHTTPServer, fault: str, *, by_blame: bool) -> Found:
    say(f"optimization: {fault}, {'by blame' if by_blame else 'in turn'}")
    url = f"http://127.0.0.1:{server.server_port}/v1"
    os.environ["FAULT"] = fault
    with context.scratch() as folder:
        cases = Path(folder) / "cases.jsonl"
        conversations.write(cases)
        prompts = prompts_of(fault)
        plan = Plan(
            "benchmarks.optimization_program:Agent",
            read_dataset(cases),
            Exact(),
            Path(folder) / "run",
            prompts=prompts,
            directory=ROOT,
            models={"OPENAI_BASE_URL": url},
        )
        wanted = Wanted(Rules(margin=0.35), max_evaluations=_MOST, by_blame=by_blame)
        outcome = await optimize(plan, prompts, LlmSettings(base_url=url, model=_REFLECTING), wanted)
    assert outcome.found is not None, outcome.decision
    return outcome.found


class _Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name of the base class)
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer as a server of chat completions does."""
        asked: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        prompt = asked["messages"][-1]["content"]
        text = improved(prompt) if asked["model"] == _REFLECTING else reply(prompt)
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        said = {"id": "1", "object": "chat.completion", "created": 0, "model": asked["model"], "choices": [choice]}
        body = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
