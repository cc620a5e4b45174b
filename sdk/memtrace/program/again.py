"""Runs a conversation that ``memtrace evaluate`` recorded again, in a replay."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from memtrace.program.running import Running
from memtrace.replay.seams import model_url, place, same_source

SETTINGS = (
    "MEMTRACE_PROGRAM_MODEL", "MEMTRACE_PROGRAM_EMBEDDER", "MEMTRACE_PROGRAM_DIMENSIONS", "MEMTRACE_PROGRAM_PLAIN",
    "MEMTRACE_PROGRAM_TOP", "MEMTRACE_PROGRAM_REPLY_TOKENS",
)  # fmt: skip
"""Environment variables of the ready-made programs; a replay uses the values of the recording."""


def conversation(
    program: str,
    user: str,
    trace: str,
    prompts: dict[str, str],
    instruments: list[str],
    models: dict[str, str],
    settings: dict[str, str],
    acts: list[dict[str, Any]],
    source: str | None,
) -> None:
    """Give the program the recorded messages and questions again; answers are not judged.

    Args:
        program: as ``module:name``.
        user: the owner of the memory.
        trace: the id of the trace.
        prompts: texts in place of the program's own, by name.
        instruments: the recorder's instruments to switch on.
        models: base URLs of model servers, by the environment variable for the URL.
        settings: environment variables.
        acts: the steps in order, each with the arguments of ``Running.add`` or ``Running.ask``.
        source: the recorded hash of the source of the program's module.
    """
    os.environ.update(settings)
    os.environ.update({name: model_url(url) for name, url in models.items()})
    folder = place(Path("files"))
    folder.mkdir(parents=True, exist_ok=True)
    with asyncio.Runner() as runner, ExitStack() as stack:
        running = Running(program, runner, stack)
        again = {"models": models, "settings": settings, "acts": acts}
        running.begin(user, trace, prompts, folder, instruments, again)
        same_source(program.partition(":")[0], source)
        try:
            for act in acts:
                _done(running, act)
        finally:
            running.leave()


def _done(running: Running, act: Mapping[str, Any]) -> None:
    said = {name: value for name, value in act.items() if name != "do"}
    if act["do"] == "add":
        running.add(**said)
    else:
        running.ask(**said)


def settings_here() -> dict[str, str]:
    """The values of ``SETTINGS`` in this process."""
    return {name: os.environ[name] for name in SETTINGS if name in os.environ}
