"""`memtrace optimize`: finds better prompts from wrong answers, applies them, and restores the old ones."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from api.cli.context import Target, command
from api.cli.errors import ExitCode, UsageError, note
from api.cli.evaluate import (
    InstrumentOption,
    JudgeName,
    JudgeOption,
    MaxCallsOption,
    MaxCostOption,
    ModelUrlOption,
    ParallelOption,
    PriceOption,
    ProgramArgument,
    PythonOption,
    SecondsOption,
    judging,
    limits_of,
    model_urls,
)
from api.cli.option_names import Group
from api.cli.options import JsonOption
from api.cli.output import Output, print_json


class RunByDefault(Group):
    """A group that takes an unknown command as the program of ``run``: ``memtrace optimize PROGRAM`` is enough."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command, or take the first word as the program of ``run``."""
        if args and args[0] not in self.commands:
            args = ["run", *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=RunByDefault,
    no_args_is_help=True,
    help="Improve the prompts of a memory system: memtrace optimize PROGRAM --cases FILE --prompts DIR --run DIR.",
)

_PANEL = "Improve"
_OPTIONS = "options.json"

FolderArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder of the optimization.", show_default=False)
]
PromptsOption = Annotated[
    Path,
    typer.Option("--prompts", metavar="DIR", help="The prompts, a file NAME.txt each.", show_default=False),
]


@command(app, "run", panel=_PANEL)
async def run(
    place: Target,
    program: ProgramArgument,
    cases: Annotated[
        Path,
        typer.Option(
            "--cases",
            metavar="FILE",
            help="Conversations, as for `memtrace evaluate`.",
            show_default=False,
        ),
    ],
    prompts: PromptsOption,
    run: Annotated[
        Path, typer.Option("--run", metavar="DIR", help="The folder of the optimization.", show_default=False)
    ],
    judge: JudgeOption = JudgeName.F1,
    max_evaluations: Annotated[
        int, typer.Option("--max-evaluations", min=1, help="Conversations that the search may run, at most.")
    ] = 200,
    alpha: Annotated[
        float, typer.Option("--alpha", min=0.0001, max=0.5, help="The chance of accepting a useless change.")
    ] = 0.05,
    margin: Annotated[
        float,
        typer.Option("--margin", min=0.001, max=0.9, help="The largest share of right answers to harm."),
    ] = 0.10,
    attempts: Annotated[
        int,
        typer.Option("--attempts", min=1, help="How many changes you will try on these conversations, with one alpha."),
    ] = 1,
    cost_factor: Annotated[
        float,
        typer.Option(
            "--cost-factor", min=1.0, help="The most that new prompts may cost, as a multiple of the old ones."
        ),
    ] = 1.25,
    seed: Annotated[
        int, typer.Option("--seed", help="The seed for dividing the conversations and for the search.")
    ] = 0,
    in_turn: Annotated[
        bool, typer.Option("--in-turn", help="Change prompts in turn instead of following verdicts.")
    ] = False,
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
    """Search for better prompts, and let them pass a gate; nothing is changed before `memtrace optimize accept`.

    The model that writes new texts is that of MEMTRACE_LLM_BASE_URL and MEMTRACE_LLM_MODEL.
    """
    options = {
        "program": program, "cases": str(cases.absolute()), "prompts": str(prompts.absolute()), "judge": judge.value,
        "max_evaluations": max_evaluations, "alpha": alpha, "margin": margin, "attempts": attempts,
        "cost_factor": cost_factor, "seed": seed, "in_turn": in_turn, "python": python, "instrument": instrument,
        "model_url": model_url, "max_calls": max_calls, "max_cost": max_cost, "price": price, "parallel": parallel,
        "seconds": seconds, "directory": str(Path.cwd()),
    }  # fmt: skip
    await _run(place, run.absolute(), options, as_json)


@command(app, "resume", panel=_PANEL)
async def resume(place: Target, folder: FolderArgument, as_json: JsonOption = False) -> None:
    """Go on with an optimization that was stopped, with the options that it began with."""
    import json

    file = folder / _OPTIONS
    if not file.exists():
        raise UsageError(f"{folder} holds no optimization")
    await _run(place, folder.absolute(), json.loads(file.read_text("utf-8")), as_json)


@command(app, "show", panel=_PANEL)
async def show(place: Target, folder: FolderArgument, as_json: JsonOption = False) -> None:
    """Show what came of an optimization."""
    from optimization.loop.folder import found
    from optimization.loop.report import markdown

    said = found(folder)
    if as_json:
        print_json(said)
    else:
        Output().lines(markdown(said))


@command(app, "diff", panel=_PANEL)
async def diff(place: Target, folder: FolderArgument) -> None:
    """Show how the prompts would change."""
    from optimization.loop.folder import found
    from optimization.loop.report import diff as changes

    said = found(folder)
    Output().lines(changes(said["before"], said["after"]).rstrip("\n") or "No prompt changes.")


@command(app, "accept", panel=_PANEL)
async def accept(place: Target, folder: FolderArgument, prompts: PromptsOption) -> None:
    """Write the prompts that passed the gate into their folder."""
    from optimization.loop.folder import accept as accepted

    note(f"Changed: {', '.join(accepted(folder, prompts))}. Go back with `memtrace optimize rollback`.")


@command(app, "rollback", panel=_PANEL)
async def rollback(place: Target, folder: FolderArgument, prompts: PromptsOption) -> None:
    """Give the prompts back the bytes that they had before they were accepted."""
    from optimization.loop.folder import rollback as rolled_back

    note(f"As before: {', '.join(rolled_back(folder, prompts))}.")


async def _run(place: Target, folder: Path, options: dict[str, Any], as_json: bool) -> None:
    import asyncio

    from attribution.llm.transport.settings import LlmSettings
    from ingest.files.registry import import_path
    from optimization.gate.gate import Rules
    from optimization.harness.datasets.registry import read_dataset
    from optimization.harness.folder import write
    from optimization.harness.plan import Plan
    from optimization.harness.prompts import read_prompts
    from optimization.loop.folder import found
    from optimization.loop.optimize import Wanted, optimize
    from optimization.loop.recorded import write_events
    from optimization.loop.report import markdown

    llm = LlmSettings.load()
    prompts = read_prompts(Path(options["prompts"]))
    limits = limits_of(*(options[name] for name in ("max_calls", "max_cost", "price", "parallel", "seconds")))
    rules = Rules(*(options[name] for name in ("alpha", "margin", "attempts", "cost_factor")))
    wanted = Wanted(rules, options["max_evaluations"], options["seed"], by_blame=not options["in_turn"])
    dataset = await asyncio.to_thread(read_dataset, Path(options["cases"]))
    async with judging(JudgeName(options["judge"])) as judge:
        plan = Plan(
            options["program"],
            dataset,
            judge,
            folder,
            prompts=prompts,
            python=options["python"],
            directory=Path(options["directory"]),
            instruments=tuple(options["instrument"] or ()),
            models=model_urls(options["model_url"]),
            limits=limits,
        )
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        write(folder / _OPTIONS, options)
        outcome = await optimize(plan, prompts, llm, wanted, lambda said: note(f"{said} ..."))
    said = found(folder)
    (folder / "report.md").write_text(markdown(said), "utf-8")
    events = folder / "search.ndjson"
    write_events(folder, said, events)
    async with place.open(create=True) as store:
        await import_path(store, events)
    if as_json:
        print_json(said)
    else:
        Output().lines(markdown(said))
    if outcome.decision.accepted:
        note(f"Take it over with `memtrace optimize accept {folder} --prompts {options['prompts']}`.")
    else:
        raise typer.Exit(ExitCode.FAILED)
