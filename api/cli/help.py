"""The groups of commands in the help, and an example of each command."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import cleandoc

import typer

from api.cli.aliases import ALIASES
from api.cli.option_names import Command, Group

PANELS: Mapping[str, tuple[str, ...]] = {
    "Record": ("run", "check", "import", "evaluate", "spool"),
    "Ask why an answer is wrong": (
        "answers",
        "why",
        "attribute",
        "failures",
        "why-not",
        "spine",
        "prompts",
        "blame",
        "report",
        "compare",
        "audit",
        "model",
    ),
    "Look at what was recorded": (
        "show",
        "follow",
        "search",
        "traces",
        "trace",
        "sessions",
        "units",
        "messages",
        "variables",
        "variable",
        "value",
        "versions",
        "diff",
        "operations",
        "operation",
        "closure",
        "path",
        "sql",
        "cypher",
        "query",
        "tables",
    ),
    "Judge": ("fail", "unfail", "right", "verdict", "annotate", "labels", "agreement", "benchmark"),
    "Improve": ("replay", "optimize"),
    "Serve": ("ui", "serve", "worker", "dev", "keys", "dlq"),
    "Keep": ("stats", "config", "export", "backup", "delete", "retention", "doctor", "migrate", "neo4j"),
    "Help": ("help", "version"),
}
"""The commands, in the order of the help."""

EXAMPLES: Mapping[str, str] = {
    "run": "memtrace run -- python app.py",
    "check": "memtrace check assistant-sample",
    "import": "memtrace import examples/sample/assistant.json",
    "evaluate": "memtrace evaluate my_agent:Agent --dataset locomo10.json --run runs/first",
    "answers": "memtrace answers --wrong",
    "why": "memtrace why 7a7b5616",
    "attribute": "memtrace attribute --all",
    "failures": "memtrace failures --type RetrievalError",
    "why-not": "memtrace why-not 7a7b5616",
    "spine": "memtrace spine 7a7b5616 --svg past.svg",
    "blame": "memtrace blame --by operation",
    "compare": "memtrace compare monday tuesday",
    "audit": "memtrace audit",
    "prompts": "memtrace prompts",
    "units": "memtrace units",
    "messages": "memtrace messages --trace assistant-sample",
    "variables": "memtrace variables --kind RetrievalResult",
    "diff": "memtrace diff memory-unit-12",
    "sql": 'memtrace sql "SELECT kind, count(*) FROM operation GROUP BY kind"',
    "query": "memtrace query query.sql",
    "tables": "memtrace tables",
    "help": "memtrace help why",
    "version": "memtrace version",
    "cypher": 'memtrace cypher "MATCH (f:Failure {projectId: $project}) RETURN f.question"',
    "show": "memtrace show 7a7b5616",
    "follow": "memtrace follow --trace assistant-sample",
    "backup": "memtrace backup saved.db",
    "search": 'memtrace search "pottery class" --kind MemoryUnit',
    "traces": "memtrace traces",
    "trace": "memtrace trace assistant-sample",
    "sessions": "memtrace sessions --trace assistant-sample",
    "operations": "memtrace operations --kind Retrieval",
    "operation": "memtrace operation 74199103",
    "variable": "memtrace variable memory-unit-12@1",
    "value": "memtrace value memory-unit-12@1",
    "versions": "memtrace versions memory-unit-12",
    "closure": "memtrace closure 7a7b5616",
    "path": "memtrace path memory-unit-12@2 U1:D4:1@1",
    "fail": 'memtrace fail 7a7b5616 "Thursday evenings"',
    "unfail": "memtrace unfail 7a7b5616",
    "right": "memtrace right 0dd053a0",
    "verdict": 'memtrace verdict 7a7b5616 --type UpdateError --operation 74199103 --reason "It lost the day."',
    "agreement": "memtrace agreement flow ann",
    "benchmark": "memtrace benchmark graphs/ --method flow",
    "replay": "memtrace replay 7a7b5616",
    "ui": "memtrace ui",
    "serve": "memtrace serve --port 8080",
    "worker": "memtrace worker",
    "dev": "memtrace dev",
    "stats": "memtrace stats --since monday",
    "config": "memtrace config",
    "export": "memtrace export assistant-sample -o again.json",
    "delete": "memtrace delete assistant-sample",
    "doctor": "memtrace doctor",
    "migrate": "memtrace migrate --store team.db",
}
"""An example of each command; groups of commands show theirs in their own help."""

_WHERE = (
    "--store, --values, --project and --debug may stand here, too: memtrace --help. "
    "-o FILE writes the result there; lists have --columns NAME,NAME and --jsonl. "
    "Options have other names, such as -n for --limit: memtrace help options"
)
_LEFT_ALONE = "run"
"""The command whose words belong to another program."""


def arrange(app: typer.Typer) -> None:
    """Give each command its panel, its other names and its example, and each group of commands its panel."""
    panel_of = {name: panel for panel, names in PANELS.items() for name in names}
    for inner in [
        one for group in app.registered_groups if group.typer_instance for one in group.typer_instance.registered_groups
    ]:
        for command in inner.typer_instance.registered_commands if inner.typer_instance else ():
            command.cls = Command
    for group in app.registered_groups:
        assert group.typer_instance is not None
        for command in group.typer_instance.registered_commands:
            if command.name != _LEFT_ALONE:
                command.cls = Command
        own = group.typer_instance.info.cls
        if group.name:
            group.cls = own if isinstance(own, type) and issubclass(own, Group) else Group
        if group.name in panel_of:
            group.rich_help_panel = panel_of[group.name]
            if group.name in ALIASES:
                group.short_help = _short(str(group.typer_instance.info.help), group.name)
            continue
        for command in group.typer_instance.registered_commands:
            assert command.callback is not None
            name = command.name or command.callback.__name__.rstrip("_").replace("_", "-")
            if name in panel_of:
                command.rich_help_panel = panel_of[name]
                command.epilog = f"Example: {EXAMPLES[name]}\n\n{_WHERE}"
                if name in ALIASES:
                    command.short_help = _short(cleandoc(command.callback.__doc__ or ""), name)


def _short(told: str, name: str) -> str:
    """The first paragraph of a help, with the other names of the command."""
    first = told.partition("\n\n")[0]
    return f"{first} (also: {', '.join(ALIASES[name])})"
