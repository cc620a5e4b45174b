"""Faults in a program that uses mem0, recorded live: ``memtrace attribute`` names the operation that made each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import memtrace
import pytest
from memtrace.exporters.memory import MemoryExporter
from typer.testing import CliRunner

from api.cli.main import app
from tests.environments import only_in_full
from tests.sdk.instruments import scripted_openai
from tests.sdk.instruments.mem0_model import model
from tests.sdk.instruments.running import Run, check_whole, run

FACTS = {
    "My cat is called Luna": "The cat of the user is called Luna",
    "I keep my home tidy": "The user does keep a tidy home",
    "I drink green tea": "Likes to drink green tea",
}
EXPECTED = {
    "dropped": ("ExtractionError", "mem0 extract"),
    "overwritten": ("UpdateError", "mem0 update"),
    "deleted": ("DeletionError", "mem0 delete"),
    "missed": ("RetrievalError", "mem0 search"),
    "ignored": ("ResponseError", "openai chat"),
}


def answer(prompt: str) -> str:
    """What the memories say of the cat; for one user, nothing."""
    lines = [line[2:] for line in prompt.splitlines() if line.startswith("- ")]
    if "Please" in prompt:
        return "I can't say how it is called."
    return next((line for line in lines if "cat" in line), "That was never said.")


def feedback(recorded: Run) -> list[dict[str, Any]]:
    """What users said later: each answer was wrong."""
    exporter = MemoryExporter()
    memtrace.configure(exporter=exporter)
    names = {event["operation"]: event["name"] for event in recorded.of("operationStarted")}
    for event in recorded.of("variable"):
        if names.get(event.get("operation", "")) == "openai chat":
            (said,) = [
                other
                for other in recorded.variables("Message")
                if other["trace"] == event["trace"] and "Luna" in other["value"]
            ]
            question = next(other for other in recorded.closure(event) if other["kind"] == "Query")
            memtrace.feedback(
                event["variable"],
                gold="Luna",
                evidence=[said["variable"]],
                question=question["variable"],
                trace=event["trace"],
            )
    memtrace.configure(exporter=MemoryExporter())
    return exporter.events


@pytest.mark.parametrize(
    "environment", [pytest.param(name, marks=only_in_full(name)) for name in ("mem0-2.2.1", "mem0-1.0.11")]
)
def test_each_fault_is_found_in_what_was_recorded_live(environment: str, tmp_path: Path) -> None:
    with scripted_openai.running(model(facts=FACTS, answer=answer)) as server:
        recorded = run(
            "mem0_story.py", environment, model=server.url, folder=tmp_path / "application", arguments=("faults",)
        )
    check_whole(recorded)
    assert set(recorded.said) == set(EXPECTED)
    events = [*recorded.events, *feedback(recorded)]
    assert len(events) == len(recorded.events) + len(EXPECTED)
    file = tmp_path / "recorded.ndjson"
    file.write_text("".join(f"{json.dumps(event)}\n" for event in events))

    def command(*arguments: str) -> str:
        done = CliRunner().invoke(app, [*arguments, "--store", f"sqlite:///{tmp_path / 'test.db'}"])
        assert done.exit_code == 0, done.output
        return done.stdout

    command("import", str(file))
    verdicts = json.loads(command("attribute", "--all", "--json"))
    assert found(verdicts, recorded) == EXPECTED, json.dumps(verdicts, indent=1)


def found(verdicts: list[dict[str, Any]], recorded: Run) -> dict[str, tuple[str, str]]:
    """Error type and name of the operation that is blamed, by user."""
    users = {event["trace"]: event["name"].partition("=")[2] for event in recorded.of("trace")}
    started = {event["operation"]: event for event in recorded.of("operationStarted")}
    blamed = [(one["errorType"], started[one["operationExternalId"]]) for one in verdicts if one["operationExternalId"]]
    return {users[operation["trace"]]: (error, operation["name"]) for error, operation in blamed}
