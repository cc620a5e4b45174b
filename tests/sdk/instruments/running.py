"""Runs applications in environments of their own, with and without the recorder; the application's file is the same."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.environments import python
from tests.sdk import platform
from tests.sdk.graph import check

APPLICATIONS = Path(__file__).parent / "applications"


@dataclass
class Run:
    """What came of a run: what the application printed, one JSON document, and what was recorded."""

    said: Any
    events: list[dict[str, Any]] = field(default_factory=list)
    errors: str = ""

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The events of a type, in their order."""
        return [event for event in self.events if event["type"] == kind]

    def operations(self) -> list[tuple[str, str]]:
        """Name and kind of each operation."""
        return [(event["name"], event["kind"]) for event in self.of("operationStarted")]

    def variables(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The variables, or those of a kind."""
        return [event for event in self.of("variable") if kind in {None, event["kind"]}]

    def only(self, value: str, kind: str | None = None) -> dict[str, Any]:
        """The only variable with that value."""
        (found,) = [event for event in self.variables(kind) if event["value"] == value]
        return found

    def closure(self, variable: dict[str, Any]) -> list[dict[str, Any]]:
        """All on which a variable depends, itself first."""
        sources: dict[str, list[str]] = {}
        for edge in self.of("derived"):
            sources.setdefault(edge["target"], []).append(edge["source"])
        by_id = {event["variable"]: event for event in self.of("variable")}
        found = [variable["variable"]]
        for one in found:
            found += [source for source in sources.get(one, ()) if source not in found]
        return [by_id[one] for one in found]


def run(
    application: str,
    environment: str,
    *,
    model: str,
    folder: Path,
    instrument: str | None = "all",
    more: Mapping[str, str] | None = None,
    arguments: tuple[str, ...] = (),
) -> Run:
    """Run an application to its end.

    Args:
        application: its file in ``applications/``.
        environment: the name of its environment.
        model: the base address of the model's server.
        folder: an empty folder for the application's files.
        instrument: what ``MEMTRACE_INSTRUMENT`` says; None: the recorder has no part in it.
        more: further variables of its environment.
        arguments: of its command line.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with platform.running() as receiver:
        settings = {name: value for name, value in os.environ.items() if not name.startswith(("MEMTRACE", "PYTHON"))}
        settings |= {
            "OPENAI_BASE_URL": model,
            "OPENAI_API_KEY": "scripted-key",
            "MEM0_TELEMETRY": "False",
            "MEM0_DIR": str(folder / "mem0"),
            "APPLICATION_FOLDER": str(folder),
            "HOME": str(folder),
        }
        if instrument is not None:
            settings |= {"MEMTRACE_INSTRUMENT": instrument, "MEMTRACE_ENDPOINT": receiver.endpoint}
            settings |= {"MEMTRACE_SPOOL": str(folder / "spool")}
        done = subprocess.run(
            [str(python(environment)), str(APPLICATIONS / application), *arguments],
            env=settings | dict(more or {}),
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]
        events = sorted(receiver.events, key=lambda event: 0)
    return Run(json.loads(done.stdout), events, done.stderr)


def check_whole(run: Run) -> None:
    """What every recording must be: a graph without cycles, no operation outside a trace, no edge between traces."""
    check(run.events)
    traces = {event["trace"] for event in run.of("trace")}
    assert {event["trace"] for event in run.events} == traces
    home = {event["variable"]: event["trace"] for event in run.of("variable")}
    for edge in run.of("derived"):
        assert home[edge["source"]] == home[edge["target"]] == edge["trace"]
    ended = {event["operation"] for event in run.of("operationEnded")}
    assert {event["operation"] for event in run.of("operationStarted")} == ended
    assert "failed at" not in run.errors
    assert "is not recorded" not in run.errors
