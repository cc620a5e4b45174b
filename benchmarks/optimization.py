"""Whether verdicts help the search for better prompts: evaluations and reflections until all answers are right.

The peer is the same search with prompts in turn, without verdicts, as gepa does it by itself.
"""

from __future__ import annotations

import os
from pathlib import Path

from attribution.llm.transport.settings import LlmSettings
from benchmarks.context import ROOT, Context, say
from benchmarks.optimization_program import FAULTS, improved, prompts_of, reply
from benchmarks.report import Section, Table, at_least
from examples.better_prompts import conversations
from examples.better_prompts.model import REFLECTING, serve
from optimization.gate.gate import Rules
from optimization.harness.datasets.registry import read_dataset
from optimization.harness.judging import Exact
from optimization.harness.plan import Plan
from optimization.loop.optimize import Wanted, optimize
from optimization.loop.search import Found

_MOST = 60
_GOAL = 3


async def run(context: Context) -> Section:
    """Optimize each program twice."""
    section = Section("Optimization of prompts")
    table = Table(("at fault", "by blame: evaluations", "reflections", "in turn: evaluations", "reflections"))
    won = 0
    with serve(_says) as url:
        for fault in FAULTS:
            by_blame = await _searched(context, url, fault, by_blame=True)
            in_turn = await _searched(context, url, fault, by_blame=False)
            won += by_blame.evaluations < in_turn.evaluations and by_blame.reflections < in_turn.reflections
            table.add(fault, *(f"{n:,}" for one in (by_blame, in_turn) for n in (one.evaluations, one.reflections)))
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


async def _searched(context: Context, url: str, fault: str, *, by_blame: bool) -> Found:
    say(f"optimization: {fault}, {'by blame' if by_blame else 'in turn'}")
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
        outcome = await optimize(plan, prompts, LlmSettings(base_url=url, model=REFLECTING), wanted)
    assert outcome.found is not None, outcome.decision
    return outcome.found


def _says(model: str, prompt: str) -> str:
    return improved(prompt) if model == REFLECTING else reply(prompt)
