"""Options and arguments that several commands share."""

from __future__ import annotations

from copy import copy
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from api.cli.errors import UsageError
from api.settings.store_uri import store_uri

_WHERE = "Where"


def _store_uri(named: str | None) -> str | None:
    return store_uri(named) if named else None


StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="STORE",
        callback=_store_uri,
        help="The store of the graph: the path of a SQLite file, sqlite:///path, neo4j://host:port or "
        "bolt://host:port. (env: MEMTRACE_STORE; default: sqlite:///memtrace.db)",
        show_default=False,
        rich_help_panel=_WHERE,
    ),
]
ValuesOption = Annotated[
    str | None,
    typer.Option(
        "--values",
        metavar="URI",
        help="Where values (full texts) are stored: file:///folder or s3://bucket/prefix. "
        "(env: MEMTRACE_VALUES; default: in the SQLite file; with Neo4j, in a folder)",
        show_default=False,
        rich_help_panel=_WHERE,
    ),
]
ProjectOption = Annotated[
    str | None,
    typer.Option(
        "--project",
        metavar="NAME",
        help="The project to work on. (env: MEMTRACE_PROJECT; default: default)",
        show_default=False,
        rich_help_panel=_WHERE,
    ),
]
DebugOption = Annotated[
    bool,
    typer.Option("--debug", help="If an unexpected error occurs, show its traceback.", rich_help_panel=_WHERE),
]


def after_command(option: Any) -> Any:
    """An option under Where as it stands after a command: the help of each command leaves it out."""
    type_, info = get_args(option)
    hidden = copy(info)
    hidden.hidden = True
    return Annotated[type_, hidden]


def in_panel(option: Any, panel: str) -> Any:
    """An option in a panel of the help."""
    type_, info = get_args(option)
    placed = copy(info)
    placed.rich_help_panel = panel
    return Annotated[type_, placed]


JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as one JSON document.")]


class Format(StrEnum):
    """How a list is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"


FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        help="How to print the list: as a table, as one JSON document, as CSV with a header row, or as a table in "
        "Markdown; jsonl is JSON with an object a line. (default: table)",
        show_default=False,
    ),
]
JsonFormatOption = Annotated[bool, typer.Option("--json", help="Short for --format json.")]


def chosen_format(named: Format | None, as_json: bool) -> Format:
    """The format according to ``--format`` and ``--json``.

    Raises:
        UsageError: the two options contradict each other.
    """
    if as_json and named not in {None, Format.JSON}:
        raise UsageError(f"--json is short for --format json: leave out one of --json and --format {named}")
    return Format.JSON if as_json else named or Format.TABLE


TraceOption = Annotated[
    str | None,
    typer.Option("--trace", metavar="TRACE", help="Only this trace: an id, a prefix of one, or an external id."),
]
IdHelp = "An id, a unique prefix of 8 or more characters, or an external id."
FailureHelp = "A failure, or its answer or question. " + IdHelp
FailureArgument = Annotated[str, typer.Argument(metavar="ID", help=FailureHelp, show_default=False)]
TraceArgument = Annotated[str, typer.Argument(metavar="TRACE", help=IdHelp, show_default=False)]
VariableHelp = f"{IdHelp[:-1]}; else the only variable of that name, or of name@version."
VariableArgument = Annotated[str, typer.Argument(metavar="ID", help=VariableHelp, show_default=False)]

VERDICTS = "Verdicts"


class MethodName(StrEnum):
    """The methods of attribution: ``attribution.verdicts.verdict.Method`` without the imports of its module."""

    FLOW = "flow"
    WALK = "walk"
    LLM = "llm"
    AUTO = "auto"
    ONESHOT = "oneshot"


ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="The language model to ask, in place of MEMTRACE_LLM_MODEL; without --method, by the method walk. "
        "ollama/NAME is a model of Ollama: at MEMTRACE_LLM_BASE_URL if this is set, else on this machine.",
        show_default=False,
        rich_help_panel=VERDICTS,
    ),
]
_METHOD = typer.Option(
    "--method",
    help="How to find the cause. flow: rules over the graph, free; walk: flow, with small judgements by a language "
    "model where flow is unsure; llm: a model explores the graph; auto: walk, and then llm where walk is unsure "
    "and the model is good enough; oneshot: the model gets everything at once. Choose a "
    "model with MEMTRACE_LLM_BASE_URL, MEMTRACE_LLM_MODEL …",
    show_default="flow",
    rich_help_panel=VERDICTS,
)
MethodOption = Annotated[MethodName, _METHOD]
MethodOrModelOption = Annotated[MethodName | None, _METHOD]
"""For commands with ``--model``, which chooses a method, too."""
GoldFreeOption = Annotated[
    bool,
    typer.Option(
        "--gold-free", help="Work without the gold answers (the known right answers).", rich_help_panel=VERDICTS
    ),
]
MinConfidenceOption = Annotated[
    float | None,
    typer.Option(
        "--min-confidence",
        min=0.0,
        max=1.0,
        help="Abstain, and show the candidates, if a verdict's confidence is lower. For flow with gold answers the "
        "default is the fitted threshold (docs/attribution.md), else 0.",
        show_default=False,
        rich_help_panel=VERDICTS,
    ),
]
NoEvidenceOption = Annotated[
    bool,
    typer.Option(
        "--no-evidence",
        help="Ignore the evidence messages that the failures name, and search for them.",
        rich_help_panel=VERDICTS,
    ),
]
ConcurrencyOption = Annotated[
    int,
    typer.Option(
        "--concurrency", min=1, max=256, help="How many failures to work on at the same time.", rich_help_panel=VERDICTS
    ),
]
PathsArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="PATH",
        help="Files (.json, plain or packed as .gz, .xz or .zst) or folders of them.",
        show_default=False,
    ),
]
SourceOption = Annotated[
    str | None,
    typer.Option(
        "--source",
        metavar="NAME",
        help="Whose verdicts to use: a method or a person. (default: the method with the newest verdict)",
        show_default=False,
    ),
]
