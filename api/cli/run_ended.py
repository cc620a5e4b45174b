"""What `memtrace run` does when the program has ended: it imports the recording, and says what to do next."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from api.cli.context import Target
from api.cli.errors import complain, note
from api.cli.render.text import counted, short, text_on_line
from schema.errors import MemTraceError
from schema.kinds import VariableKind
from schema.models import Trace, Variable
from schema.outside_json import read_json
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from store.shared.paging import in_trace

_WIDTH = 100
_FEWEST_APART = 2
_MOST_READ = 2_000
"""The number of operations of a run up to which its traces are read for what they lack."""
_OWN = {"program"}
"""The attributes of a trace that the recorder opened for a call without a memory, user or conversation."""


async def put_in_store(place: Target, files: Sequence[Path], command: Sequence[str] = ()) -> None:
    """Import the files of a recording, and tell what was recorded. A failure is told; the files stay as they are.

    Args:
        place: the store and project.
        files: of the recording.
        command: the program with its arguments, for the line that says how to record it in one trace.
    """
    from ingest.files.registry import import_path

    if not files:
        note(
            "MemTrace recorded nothing: the program called no package that is recorded (docs/instruments.md), and no "
            "function of its own that is decorated (docs/recording.md)."
        )
        return
    made: Counter[str] = Counter()
    trace_ids: dict[str, None] = {}
    try:
        async with place.open(create=True) as store:
            for file in files:
                report = await import_path(store, file, "UTC")
                made.update(report.created)
                trace_ids.update(dict.fromkeys(report.trace_ids))
                for line in report.rejected[:1]:
                    complain(f"{file}: line {line.line}: {line.reason}; what else is in the file is stored")
            answers = [answer for trace_id in trace_ids for answer in await _answers(store, trace_id)]
            apart = await _apart(store, list(trace_ids)) if command else 0
            keeping = await _keeping(store, list(trace_ids)) if made["Operation"] <= _MOST_READ else []
    except MemTraceError as error:
        complain(str(error))
        again = f"memtrace{_options(place)} import {shlex.join(map(str, files))}"
        note(f"The recording is kept; once this is mended: {again}")
        return
    _tell(place, made, list(trace_ids), answers)
    if keeping:
        note(
            "The program keeps a memory that is not recorded. Where a fact was lost there, a verdict abstains; what to "
            f"decorate: memtrace{_options(place)} check {short(keeping[-1])}"
        )
    if apart >= _FEWEST_APART:
        again = f"memtrace{_options(place)} run --one-trace -- {shlex.join(command)}"
        note(
            f"{apart:,} of the {counted(len(trace_ids), 'trace')} hold calls that nothing ties to the others, so a "
            f"verdict sees no earlier call. If the program serves one user, record it in one trace: {again}"
        )


def _tell(place: Target, made: Counter[str], trace_ids: Sequence[str], answers: Sequence[Variable]) -> None:
    counts = ", ".join(
        (
            counted(len(trace_ids), "trace"),
            counted(made["Operation"], "operation"),
            counted(made["Variable"], "variable"),
            counted(len(answers), "answer"),
        )
    )
    where = _options(place)
    note(f"MemTrace recorded {counts} in {place.store_uri}.")
    if answers:
        # Several users have a trace each: the newest answer may be in any of them.
        last = max(reversed(answers), key=lambda one: one.created_at.timestamp() if one.created_at else 0.0)
        note(f"The last answer is {short(last.id)}: {text_on_line(last.preview, _WIDTH)}")
        mark = f'memtrace{where} fail {short(last.id)} "the right answer"'
        note(f"Is it wrong? {mark}; all answers: memtrace{where} answers")
    else:
        first = short(trace_ids[0])
        note(f"No answer to a question is marked. What the recording lacks: memtrace{where} check {first}")
        note(f"What was recorded: memtrace{where} trace {first}")


def _options(place: Target) -> str:
    """The options that lead a command to the same store, values and project."""
    given = (("--store", place.store), ("--values", place.values), ("--project", place.project))
    return "".join(f" {name} {shlex.quote(value)}" for name, value in given if value)


async def _apart(store: GraphStore, trace_ids: Sequence[str]) -> int:
    """The number of traces that the recorder opened because nothing tied their first call to a trace."""
    found = await store.get(Label.TRACE, trace_ids)
    return sum(isinstance(one, Trace) and read_json(one.attributes).keys() == _OWN for one in found)


async def _keeping(store: GraphStore, trace_ids: Sequence[str]) -> list[str]:
    """The traces in whose later prompts replies came back that no recorded step stored."""
    from attribution.trace.graph import TraceGraph
    from attribution.trace.kept_unseen import kept_unseen

    return [one for one in trace_ids if kept_unseen(await TraceGraph.load(store, one)) is not None]


async def _answers(store: GraphStore, trace_id: str) -> list[Variable]:
    read = in_trace(store, Label.VARIABLE, trace_id, [VariableKind.ANSWER.value])
    return [one async for one in read if isinstance(one, Variable)]
