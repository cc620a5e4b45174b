"""Options and arguments that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

_WHERE = "Where"

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URI",
        help="sqlite:///path, neo4j://host:port or bolt://host:port. "
        "(env: MEMTRACE_STORE; default: sqlite:///memtrace.db)",
        show_default=False,
        rich_help_panel=_WHERE,
    ),
]
ValuesOption = Annotated[
    str | None,
    typer.Option(
        "--values",
        metavar="URI",
        help="Where values lie: file:///folder or s3://bucket/prefix. "
        "(env: MEMTRACE_VALUES; default: in the SQLite file, beside Neo4j a folder)",
        show_default=False,
        rich_help_panel=_WHERE,
    ),
]
ProjectOption = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="NAME",
        help="The project. (env: MEMTRACE_PROJECT; default: default)",
        show_default=False,
        rich_help_panel=_WHERE,
    ),
]
DebugOption = Annotated[
    bool,
    typer.Option("--debug", help="Show the traceback of an unexpected error.", rich_help_panel=_WHERE),
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
TraceOption = Annotated[
    str | None,
    typer.Option("--trace", metavar="TRACE", help="Only this trace: an id, a prefix of one, or an external id."),
]
IdHelp = "An id, a unique prefix of 8 or more characters, or an external id."
TraceArgument = Annotated[str, typer.Argument(metavar="TRACE", help=IdHelp, show_default=False)]
VariableArgument = Annotated[str, typer.Argument(metavar="ID", help=IdHelp, show_default=False)]

VERDICTS = "Verdicts"


class MethodName(StrEnum):
    """How verdicts are reached: ``attribution.verdict.Method``, without what that module brings along."""

    FLOW = "flow"
    LLM = "llm"
    AUTO = "auto"
    ONESHOT = "oneshot"


MethodOption = Annotated[
    MethodName,
    typer.Option(
        "--method",
        help="flow: rules over the graph, free; llm: a model explores the graph; auto: the model only where flow is "
        "unsure; oneshot: the model is told all at once. Models are set by MEMTRACE_LLM_BASE_URL, MEMTRACE_LLM_MODEL …",
        rich_help_panel=VERDICTS,
    ),
]
GoldFreeOption = Annotated[
    bool,
    typer.Option("--gold-free", help="Do not look at the gold answers.", rich_help_panel=VERDICTS),
]
NoEvidenceOption = Annotated[
    bool,
    typer.Option(
        "--no-evidence",
        help="Do not look at the evidence that is given: retrieve it.",
        rich_help_panel=VERDICTS,
    ),
]
ConcurrencyOption = Annotated[
    int,
    typer.Option("--concurrency", min=1, max=256, help="Cases at a time.", rich_help_panel=VERDICTS),
]
PathsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH",
        help="Files (.json, also .gz, .xz or .zst) or folders of them.",
        show_default=False,
    ),
]
SourceOption = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="NAME",
        help="Whose verdicts count: a method or an author. (default: the newest that is not a person's)",
        show_default=False,
    ),
]
