"""`memtrace model`: tries out the language model that the settings name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from api.cli.context import Target, command
from api.cli.errors import ExitCode, complain, note
from api.cli.options import JsonOption
from api.cli.output import Output, print_json
from schema.errors import StoreError

if TYPE_CHECKING:
    from attribution.llm.transport.settings import LlmSettings
    from attribution.llm.trial.check import ModelCheck
    from attribution.llm.trial.costs import FailureCost
    from schema.models import Attribution

app = typer.Typer(help="Try out the language model that MEMTRACE_LLM_BASE_URL and _MODEL name.", no_args_is_help=True)

_FAILURES = 1_000
"""Failures whose verdicts tell what a failure takes, at most."""


@command(app, panel="Commands")
async def check(place: Target, as_json: JsonOption = False) -> None:
    """Say what works with the model, how fast it is, and what a failure will take with each method.

    Sends up to six short requests, which are paid like any other. The result is remembered for this server and this
    model, and later runs use it. The cost of a failure is the median of this model's verdicts in the project; without
    such verdicts, it is estimated from the usual numbers of tokens and the measured speed.

    Exit codes: 0 if failures can be attributed with this model; 1 if not, or if the trial did not come to its end.
    """
    from api.cli.render import model
    from attribution.llm.transport.cache import FileCache, default_folder
    from attribution.llm.transport.settings import LlmSettings
    from attribution.llm.trial.check import check_model
    from attribution.llm.trial.costs import costs_of

    settings = LlmSettings.load()
    found = await check_model(settings, FileCache(default_folder()))
    costs = costs_of(settings, found.speed, await _verdicts(place)) if found.is_usable else []
    if as_json:
        print_json(_document(settings, found, costs))
    else:
        Output().show(*model.parts(settings, found, costs))
        for one in found.notes:
            note(one)
    if found.error is not None:
        complain(found.error)
    elif not found.is_usable:
        complain("no form of replies works with this model")
    if found.error is not None or not found.is_usable:
        raise typer.Exit(ExitCode.FAILED)


async def _verdicts(place: Target) -> list[Attribution]:
    """Verdicts of the project; none without a store, because a model can be checked before anything is recorded."""
    try:
        async with place.open() as store:
            failures = await store.failures(None, _FAILURES)
            return await store.attributions([one.id for one in failures.items])
    except StoreError as error:
        note(f"What a failure takes is estimated without verdicts of the project: {error}")
        return []


def _document(settings: LlmSettings, found: ModelCheck, costs: list[FailureCost]) -> dict[str, Any]:
    speed, spent = found.speed, found.spent
    return {
        "server": settings.base_url,
        "model": settings.model,
        "listed": None if found.listed is None else [one.names[0] for one in found.listed],
        "usable": found.is_usable,
        "thinks": found.thinks,
        "forms": [
            {
                "form": one.form,
                "works": one.works,
                "how": one.how,
                "inputTokens": one.timed.tokens.input if one.timed else None,
                "outputTokens": one.timed.tokens.output if one.timed else None,
                "seconds": one.timed.seconds if one.timed else None,
            }
            for one in found.forms
        ],
        "tokensPerSecond": None if speed is None else {"input": speed.input, "output": speed.output},
        "failure": [
            {
                "method": one.method.value,
                "tokens": one.tokens,
                "seconds": one.seconds,
                "cost": one.cost,
                "verdicts": one.verdicts,
            }
            for one in costs
        ],
        "notes": found.notes,
        "error": found.error,
        "spent": {
            "calls": spent.calls,
            "inputTokens": spent.input_tokens,
            "outputTokens": spent.output_tokens,
            "cost": spent.cost,
        },
    }
