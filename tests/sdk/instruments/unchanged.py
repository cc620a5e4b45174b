"""Runs an application twice, without and with the recorder, and answers questions about what was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.environments import params_of
from tests.sdk.instruments import scripted_openai
from tests.sdk.instruments.running import Run, run
from tests.sdk.instruments.scripted_openai import Script

EVERYTHING = "langchain,langgraph,langmem,llamaindex,everos,openai"
FAMILIES = params_of("langchain", "langchain-0.3")


def both(
    application: str, environment: str, script: Script, folder: Path, more: Mapping[str, str] | None = None
) -> tuple[Run, Run]:
    """The runs without and with the recorder; both have sent the same requests to the model."""
    settings = {"LANGSMITH_TRACING": "false", "OPENAI_API_BASE": "", **(more or {})}
    with scripted_openai.running(script) as model:
        settings["OPENAI_API_BASE"] = model.url
        without = run(
            application, environment, model=model.url, folder=folder / "without", instrument=None, more=settings
        )
        bodies = sorted(repr(body["messages"]) for path, body in model.requests if "messages" in body)
        model.requests.clear()
        recorded = run(
            application, environment, model=model.url, folder=folder / "with", instrument=EVERYTHING, more=settings
        )
        again = sorted(repr(body["messages"]) for path, body in model.requests if "messages" in body)
    assert len(again) == len(bodies)
    return without, recorded


def sources(run: Run, variable: dict[str, Any]) -> set[tuple[str, str]]:
    """(kind, value) of all from which the variable was made directly."""
    by_id = {event["variable"]: event for event in run.of("variable")}
    edges = [by_id[edge["source"]] for edge in run.of("derived") if edge["target"] == variable["variable"]]
    return {(event["kind"], event["value"]) for event in edges}


def past(run: Run, variable: dict[str, Any], kind: str) -> set[str]:
    """Values of this kind in the causal past; a value that grows is given as it was sent."""
    return {event["value"] for event in run.closure(variable) if event["kind"] == kind}


def considered(run: Run, query: str) -> list[tuple[str, float | None, bool]]:
    """Candidates of the searches for this query: value, score to two places, whether returned."""
    by_id = {event["variable"]: event for event in run.of("variable")}
    return [
        (
            by_id[event["variable"]]["value"],
            None if event.get("score") is None else round(event["score"], 2),
            event["returned"],
        )
        for event in run.of("considered")
        if by_id[event["query"]]["value"] == query
    ]


def names(run: Run) -> dict[str, int]:
    """How often each operation ran, by kind and name."""
    found = [f"{event['kind']} {event['name']}" for event in run.of("operationStarted")]
    return {name: found.count(name) for name in sorted(set(found))}


def complaints(without: Run, recorded: Run) -> set[str]:
    """What the program wrote to its log only with the recorder; that a package is not installed may be told."""
    more = set(recorded.errors.splitlines()) - set(without.errors.splitlines())
    return {line for line in more if "is not installed: it records nothing" not in line}
