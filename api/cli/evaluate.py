"""`memtrace evaluate`: runs a memory system over a data set, records it, and judges its answers."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import Target, command
from api.cli.errors import ExitCode, UsageError, note
from api.cli.options import JsonOption
from api.cli.output import Output, print_json
from api.cli.pace import paced

if TYPE_CHECKING:
    from optimization.harness.judging import Judge
    from optimization.harness.plan import Limits, RunOutcome

commands = typer.Typer()


class JudgeName(StrEnum):
    """How answers are judged."""

    EXACT = "exact"
    F1 = "f1"
    LLM = "llm"


ProgramArgument = Annotated[
    str,
    typer.Argument(
        metavar="PROGRAM",
        help="The memory system, as module:name; memtrace.program describes the interface.",
        show_default=False,
    ),
]
DatasetOption = Annotated[
    Path,
    typer.Option(
        "--dataset",
        metavar="FILE",
        help="Conversations with questions: LoCoMo, LongMemEval, RealMem, MemTraceBench as published, or JSON lines.",
        show_default=False,
    ),
]
JudgeOption = Annotated[
    JudgeName,
    typer.Option("--judge", help="Who judges: equal words, F1 of at least 0.5, or a model (MEMTRACE_LLM_...)."),
]
PythonOption = Annotated[
    str,
    typer.Option("--python", metavar="PATH", help="The interpreter of the program's environment.", show_default=False),
]
InstrumentOption = Annotated[
    list[str] | None,
    typer.Option(
        "--instrument",
        metavar="NAME",
        help="Record a package that the program uses, such as mem0 or openai; may be repeated; all for all of them.",
        show_default=False,
    ),
]
ModelUrlOption = Annotated[
    list[str] | None,
    typer.Option(
        "--model-url",
        metavar="VARIABLE=URL",
        help="A model server, and the environment variable in which the program looks for it; may be repeated. "
        "[default: OPENAI_BASE_URL]",
        show_default=False,
    ),
]
MaxCallsOption = Annotated[
    int | None,
    typer.Option(
        "--max-calls", min=0, help="Live calls of models, at most; replies that are kept cost none.", show_default=False
    ),
]
MaxCostOption = Annotated[
    float | None,
    typer.Option("--max-cost", min=0, help="The most that may be spent on models; needs --price.", show_default=False),
]
PriceOption = Annotated[
    str | None,
    typer.Option(
        "--price", metavar="INPUT,OUTPUT", help="Price of a million tokens of the program's model.", show_default=False
    ),
]
ParallelOption = Annotated[int, typer.Option("--parallel", min=1, max=64, help="Users at a time, a process each.")]
SecondsOption = Annotated[
    float, typer.Option("--seconds", min=1, help="How long the program may take for one session or one answer.")
]


@command(commands)
async def evaluate(
    place: Target,
    program: ProgramArgument,
    dataset: DatasetOption,
    run: Annotated[
        Path,
        typer.Option(
            "--run", metavar="DIR", help="The folder of the run; the same again continues it.", show_default=False
        ),
    ],
    users: Annotated[
        list[str] | None,
        typer.Option(
            "--users", metavar="USER", help="Only this user; may be repeated, or given with commas.", show_default=False
        ),
    ] = None,
    judge: Annotated[
        JudgeName | None,
        typer.Option(
            "--judge",
            help="Who judges: equal words, F1 of at least 0.5, or a model (MEMTRACE_LLM_...). "
            "[default: llm if a model is set, else f1]",
            show_default=False,
        ),
    ] = None,
    prompts: Annotated[
        Path | None,
        typer.Option(
            "--prompts",
            metavar="DIR",
            help="Prompts in place of the program's own, a file NAME.txt each.",
            show_default=False,
        ),
    ] = None,
    python: PythonOption = sys.executable,
    instrument: InstrumentOption = None,
    model_url: ModelUrlOption = None,
    max_calls: MaxCallsOption = None,
    max_cost: MaxCostOption = None,
    price: PriceOption = None,
    parallel: ParallelOption = 4,
    seconds: SecondsOption = 600.0,
    as_json: JsonOption = False,
) -> None:
    """Run a memory system over conversations, record it, and judge its answers.

    Each user gets a process of its own. Wrong answers become failures, right ones are marked as right, and `memtrace
    attribute --all` then says why. Results are in the store after each question. A run that was stopped, or whose
    questions failed, continues with the same command, and pays for no reply twice.
    """
    from optimization.harness.datasets.registry import read_dataset
    from optimization.harness.plan import Plan
    from optimization.harness.prompts import read_prompts
    from optimization.harness.run import run as run_plan

    cases = read_dataset(dataset)
    if cases.unknown_evidence:
        note(
            f"{len(cases.unknown_evidence):,} references to evidence name no message, "
            f"such as {cases.unknown_evidence[0]}."
        )
    async with place.open(create=True) as store, judging(judge or usual_judge()) as judged:
        plan = Plan(
            program,
            cases,
            judged,
            run.absolute(),
            prompts=read_prompts(prompts) if prompts else {},
            users=_listed(users),
            python=python,
            directory=Path.cwd(),
            instruments=tuple(instrument or ()),
            models=model_urls(model_url),
            limits=limits_of(max_calls, max_cost, price, parallel, seconds),
        )
        chosen = [one for one in cases.conversations if plan.users is None or one.user in plan.users]
        with paced(chosen, parallel) as tell:
            outcome = await run_plan(plan, store, tell)
    if as_json:
        print_json(_document(outcome))
    else:
        _show(outcome)
    if any(one.problem is not None for one in outcome.users):
        raise typer.Exit(ExitCode.FAILED)


def usual_judge() -> JudgeName:
    """A model if one is set, else F1, with a warning."""
    from attribution.llm.transport.settings import is_set

    if is_set():
        return JudgeName.LLM
    note(
        "The judge is f1, because no model is set (MEMTRACE_LLM_BASE_URL and MEMTRACE_LLM_MODEL): f1 counts equal "
        "words, so a short right answer in other words counts as wrong."
    )
    return JudgeName.F1


@asynccontextmanager
async def judging(name: JudgeName) -> AsyncIterator[Judge]:
    """The judge of this name, usable inside the block.

    Raises:
        InputError: the judge is a model, and the environment names none.
    """
    from optimization.harness.judging import F1, Exact

    if name is JudgeName.LLM:
        from attribution.llm.transport.cache import FileCache, default_folder
        from attribution.llm.transport.client import LlmClient
        from attribution.llm.transport.settings import LlmSettings
        from optimization.harness.llm_judge import LlmJudge

        async with LlmClient(LlmSettings.load(), FileCache(default_folder())) as client:
            yield LlmJudge(client)
    else:
        yield Exact() if name is JudgeName.EXACT else F1()


def model_urls(said: list[str] | None) -> dict[str, str]:
    """Model servers by environment variable.

    Raises:
        UsageError: a value has not the form VARIABLE=URL.
    """
    from optimization.harness.plan import openai

    if not said:
        return openai()
    found = {}
    for one in said:
        name, equals, url = one.partition("=")
        if not equals or not name or not url.startswith(("http://", "https://")):
            raise UsageError(f"--model-url {one!r} is not VARIABLE=URL, such as OPENAI_BASE_URL=https://host/v1")
        found[name] = url
    return found


def limits_of(
    max_calls: int | None, max_cost: float | None, price: str | None, parallel: int, seconds: float
) -> Limits:
    """The budget of a run.

    Raises:
        UsageError: a cost is limited without a price, or the price is not two numbers.
    """
    from optimization.harness.plan import Limits

    prices = None
    if price is not None:
        try:
            given, got = (float(part) for part in price.split(","))
        except ValueError:
            raise UsageError(f"--price {price!r} is not INPUT,OUTPUT, such as 0.4,1.6") from None
        prices = {"input": given, "output": got}
    if max_cost is not None and prices is None:
        raise UsageError("--max-cost needs --price INPUT,OUTPUT")
    return Limits(max_calls, max_cost, prices, seconds, parallel)


def _listed(users: list[str] | None) -> list[str] | None:
    return [one.strip() for text in users for one in text.split(",") if one.strip()] if users else None


def _show(outcome: RunOutcome) -> None:
    from api.cli.render.text import counted

    out = Output()
    for one in outcome.users:
        right = sum(answer.judgement.right for answer in one.answers)
        if one.answers or one.error is None:
            out.lines(f"{one.user}: {right:,} of {counted(len(one.answers), 'answer')} right (trace {one.trace_id})")
        for failed in one.failed:
            out.lines(f"{one.user}: {failed.question.id} failed: {failed.error}")
        if one.error is not None:
            out.lines(f"{one.user}: failed: {one.error}")
    answers = outcome.answers
    right = sum(answer.judgement.right for answer in answers)
    cost = "" if outcome.cost is None else f", cost {outcome.cost:.4g}"
    note(
        f"{right:,} of {counted(len(answers), 'answer')} right; "
        f"{counted(outcome.calls, 'live call')} of models, {outcome.tokens:,} tokens{cost}."
    )
    unfinished = [one.user for one in outcome.users if one.problem is not None]
    if unfinished:
        named = ", ".join(unfinished[:5]) + (" and others" if unfinished[5:] else "")
        note(
            f"Not finished: {named}. All judged answers are in the store, and the same command goes on: it records "
            "these users again from the beginning, and kept replies of models cost nothing."
        )
    if right < len(answers):
        note("Find out why the others are wrong with `memtrace attribute --all`.")


def _document(outcome: RunOutcome) -> dict[str, Any]:
    return {
        "users": [
            {
                "user": one.user,
                "traceId": one.trace_id,
                "error": one.error,
                "answers": [
                    {
                        "question": answer.question.text,
                        "questionId": answer.question.id,
                        "kind": answer.question.kind,
                        "gold": list(answer.question.gold),
                        "answer": answer.text,
                        "right": answer.judgement.right,
                        "score": answer.judgement.score,
                        "reason": answer.judgement.reason,
                    }
                    for answer in one.answers
                ],
                "failed": [
                    {
                        "question": failed.question.text,
                        "questionId": failed.question.id,
                        "error": failed.error,
                        "answer": failed.text,
                    }
                    for failed in one.failed
                ],
            }
            for one in outcome.users
        ],
        "calls": outcome.calls,
        "tokens": outcome.tokens,
        "cost": outcome.cost,
    }
