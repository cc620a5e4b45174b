"""Options and arguments that several commands share."""

from __future__ import annotations

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
