"""The command that proves verdicts by running the recorded program again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from api.cli.context import Target, command
from api.cli.errors import UsageError, note
from api.cli.options import JsonOption, TraceOption
from api.cli.output import Output, print_json
from api.cli.progress import progress_bar

if TYPE_CHECKING:
    from optimization.proof.bench import Options
    from optimization.proof.run import ReplayedVerdict
    from schema.models import Attribution, Failure
    from store.contract.protocol import GraphStore

commands = typer.Typer()

_PRICES = "MEMTRACE_LLM_INPUT_PRICE", "MEMTRACE_LLM_OUTPUT_PRICE"


@command(commands)
async def replay(
    place: Target,
    failure: Annotated[
        str | None, typer.Argument(metavar="FAILURE", help="The failure; --all for all.", show_default=False)
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Replay the verdicts on all failures of the project.")] = False,
    trace: TraceOption = None,
    do: Annotated[
        list[str] | None,
        typer.Option(
            "--do",
            metavar="OP=FILE",
            help="What an operation should give back: a text, or JSON in a file that ends in .json. May be repeated.",
            show_default=False,
        ),
    ] = None,
    prompt: Annotated[
        list[str] | None,
        typer.Option(
            "--prompt",
            metavar="NAME=FILE",
            help="Another text for the prompt of this name, wherever it is used. May be repeated.",
            show_default=False,
        ),
    ] = None,
    body: Annotated[
        str | None,
        typer.Option(
            "--body",
            metavar="MODULE:FUNCTION",
            help="A function to run in place of the blamed operation's body: it gets that body and the arguments.",
            show_default=False,
        ),
    ] = None,
    draws: Annotated[int, typer.Option(min=1, max=1000, help="Runs with the correction, and as many without.")] = 5,
    max_cost: Annotated[
        float | None,
        typer.Option(
            min=0,
            help=f"No model is asked once this is spent on a failure; {_PRICES[0]} and {_PRICES[1]} say the prices.",
            show_default=False,
        ),
    ] = None,
    max_calls: Annotated[
        int | None, typer.Option(min=0, help="The most live calls of models in one run.", show_default=False)
    ] = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="The most seconds for one run.")] = 60.0,
    program: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:FUNCTION", help="The program to run, in place of the recorded one.", show_default=False
        ),
    ] = None,
    python: Annotated[
        str | None, typer.Option(metavar="PATH", help="The interpreter that runs it.", show_default=False)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Prove verdicts: run the recorded program again with the blamed operation corrected, and see if it answers right.

    The proof is stored beside the verdict. A refuted verdict is reopened, and its next candidate tried. With --do or
    --prompt a single failure is asked what would be if; nothing is stored then.
    """
    if (failure is None) == (not all_):
        raise UsageError("say which failures: FAILURE, or --all")
    changes = [*(do or []), *(prompt or [])]
    if changes and (all_ or body):
        raise UsageError("--do and --prompt ask about one FAILURE, without --body")
    options = _options(program, python, seconds, max_calls, max_cost, draws)
    async with place.open() as store:
        chosen = await _chosen(store, failure, trace)
        if changes:
            await _what_if(store, chosen[0][0], do or [], prompt or [], options, as_json)
            return
        await _prove(store, chosen, body, options, as_json)


async def _prove(
    store: GraphStore,
    chosen: list[tuple[Failure, Attribution | None]],
    body: str | None,
    options: Options,
    as_json: bool,
) -> None:
    from api.cli import documents
    from api.cli.render.proofs import proved
    from api.cli.render.text import counted
    from attribution.verdicts.stored import by_id, operations_at_fault
    from optimization.proof.correction import BodyCorrector, EvidenceCorrector
    from optimization.proof.run import prove_verdicts
    from schema.models import Variable

    corrector = EvidenceCorrector() if body is None else BodyCorrector(body)
    pairs = [(one, verdict) for one, verdict in chosen if verdict is not None]
    found: list[ReplayedVerdict] = []
    with progress_bar("replaying") as tell:
        async for outcome in prove_verdicts(store, pairs, corrector, options):
            found.append(outcome)
            if tell:
                tell(f"{len(found):,} of {len(pairs):,}", len(found), len(pairs))
    verdicts = [one.attribution for one in found]
    blamed = await operations_at_fault(store, verdicts)
    if as_json:
        questions = await by_id(store, Variable, (one.failure.question_id for one in found))
        print_json([documents.attribution(one.attribution, one.failure, questions, blamed) for one in found])
    else:
        out = Output()
        for one in found:
            out.show(proved(one, blamed))
            out.lines("")
    if len(pairs) < len(chosen):
        note(f"{counted(len(chosen) - len(pairs), 'failure')} without a verdict: run memtrace attribute first.")
    counts = {result: sum(one.proof.result == result for one in found) for result in ("proved", "refuted", "unsettled")}
    note(", ".join(f"{count:,} {result}" for result, count in counts.items()) + ".")


async def _what_if(
    store: GraphStore, failure: Failure, do: list[str], prompts: list[str], options: Options, as_json: bool
) -> None:
    from api.cli.find import find
    from api.cli.render.proofs import answered
    from optimization.proof.what_if import what_if
    from schema.models import Operation

    outputs: dict[str, Any] = {}
    for reference, path in map(_named, do):
        outputs[(await find(store, Operation, reference)).id] = _value(path)
    texts = {name: _text(path) for name, path in map(_named, prompts)}
    found = await what_if(store, failure, outputs, texts, options)
    if as_json:
        print_json(found.as_json())
    else:
        Output().show(answered(found))


async def _chosen(
    store: GraphStore, failure: str | None, trace: str | None
) -> list[tuple[Failure, Attribution | None]]:
    """Failures with the verdict that counts."""
    from api.cli.find import find_failures, find_trace_id
    from attribution.verdicts.stored import every_failure, word_on

    if failure is None:
        failures = await every_failure(store, await find_trace_id(store, trace))
    else:
        failures = await find_failures(store, [failure])
    counted = word_on(await store.attributions([one.id for one in failures]), failures)
    return [(one, counted.get(one.id)) for one in failures]


def _options(
    program: str | None,
    python: str | None,
    seconds: float,
    max_calls: int | None,
    max_cost: float | None,
    draws: int,
) -> Options:
    import os

    from optimization.proof.bench import Options

    prices = None
    said = [os.environ.get(name) for name in _PRICES]
    if all(said):
        try:
            prices = float(said[0] or ""), float(said[1] or "")
        except ValueError:
            raise UsageError(f"{_PRICES[0]} and {_PRICES[1]} must be numbers") from None
    elif max_cost is not None:
        raise UsageError(f"--max-cost needs prices: set {_PRICES[0]} and {_PRICES[1]}, of a million tokens")
    return Options(program, python, seconds, max_calls, max_cost, prices, draws)


def _named(said: str) -> tuple[str, Path]:
    name, separator, path = said.partition("=")
    if not name or not separator or not path:
        raise UsageError(f"{said!r}: write NAME=FILE")
    return name, Path(path)


def _text(path: Path) -> str:
    from schema.errors import InputError

    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise InputError(str(path), "", f"can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"byte {error.start}", "is not UTF-8") from error


def _value(path: Path) -> Any:
    """The value in a file: JSON if the name ends in .json, else a text without the newline at its end."""
    from schema.errors import InputError
    from schema.outside_json import JsonError, read_json

    text = _text(path)
    if path.suffix != ".json":
        return text.removesuffix("\n")
    try:
        return read_json(text)
    except JsonError as error:
        raise InputError(str(path), "", f"is no JSON: {error}") from error
