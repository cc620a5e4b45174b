"""What programs with a fault have in common: the user's complaint, the import, and the verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import memtrace
from memtrace.exporters.memory import MemoryExporter
from typer.testing import CliRunner

from api.cli.main import command_line
from tests.sdk.instruments.running import Run


@contextmanager
def complaining() -> Iterator[list[dict[str, Any]]]:
    """What the recorder is told inside; the events are there when it ends."""
    exporter = MemoryExporter()
    events: list[dict[str, Any]] = []
    memtrace.configure(exporter=exporter)
    yield events
    memtrace.configure(exporter=MemoryExporter())
    events += exporter.events


def complain(recorded: Run, answer: dict[str, Any], question: dict[str, Any]) -> None:
    """Say that an answer was wrong: it should have been Luna, as the message of its trace says that names her."""
    (said,) = [
        one for one in recorded.variables("Message") if one["trace"] == answer["trace"] and "Luna" in one["value"]
    ]
    memtrace.feedback(
        answer["variable"],
        gold="Luna",
        evidence=[said["variable"]],
        question=question["variable"],
        trace=answer["trace"],
    )


def blamed(
    recorded: Run, complaints: list[dict[str, Any]], folder: Path, user: Callable[[str], str]
) -> dict[str, tuple[str, str]]:
    """Error type and name of the operation that ``memtrace attribute`` blames, by user; see ``blamed_operations``."""
    found = blamed_operations(recorded, complaints, folder, user)
    return {one: (error, operation["name"]) for one, (error, operation) in found.items()}


def blamed_operations(
    recorded: Run, complaints: list[dict[str, Any]], folder: Path, user: Callable[[str], str]
) -> dict[str, tuple[str, dict[str, Any]]]:
    """Error type and beginning of the operation that ``memtrace attribute`` blames, by user.

    Args:
        recorded: what was recorded live.
        complaints: what users said later.
        folder: for the store.
        user: the user of a trace, by the trace's name.
    """
    file = folder / "recorded.ndjson"
    file.write_text("".join(f"{json.dumps(event)}\n" for event in [*recorded.events, *complaints]))
    store = f"sqlite:///{folder / 'test.db'}"

    def command(*arguments: str) -> str:
        done = CliRunner().invoke(command_line(), [*arguments, "--store", store])
        assert done.exit_code == 0, done.output
        return done.stdout

    command("import", str(file))
    verdicts = json.loads(command("attribute", "--all", "--json"))
    users = {event["trace"]: user(event["name"]) for event in recorded.of("trace")}
    started = {event["operation"]: event for event in recorded.of("operationStarted")}
    found = [(one["errorType"], started[one["operationExternalId"]]) for one in verdicts if one["operationExternalId"]]
    return {users[operation["trace"]]: (error, operation) for error, operation in found}
