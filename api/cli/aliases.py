"""Other names of commands."""

from __future__ import annotations

from collections.abc import Mapping

ALIASES: Mapping[str, tuple[str, ...]] = {
    "run": ("record", "exec"),
    "import": ("load", "add", "ingest", "restore"),
    "check": ("validate",),
    "traces": ("list", "ls", "runs"),
    "answers": ("questions", "replies"),
    "why": ("explain", "diagnose", "analyze", "analyse", "cause", "root-cause", "evidence"),
    "failures": ("failure", "errors", "mistakes", "verdicts"),
    "fail": ("wrong", "mark"),
    "unfail": ("undo", "unmark"),
    "right": ("ok", "pass", "accept"),
    "annotate": ("review",),
    "sessions": ("stages",),
    "show": ("get", "view", "inspect", "describe", "details", "answer", "message", "unit"),
    "search": ("find", "grep"),
    "units": ("memory", "memories", "facts"),
    "operations": ("steps", "timeline", "events", "nodes", "calls"),
    "why-not": ("missing", "missed"),
    "tables": ("schema",),
    "value": ("raw", "cat", "content", "text"),
    "versions": ("history", "evolution", "changes"),
    "closure": ("graph", "lineage", "provenance", "sources", "tree", "origins", "ancestors"),
    "report": ("summary",),
    "config": ("settings", "configuration", "env"),
    "stats": ("status", "info", "where", "overview"),
    "replay": ("prove", "proof", "verify"),
    "ui": ("open", "web", "dashboard", "browser"),
    "serve": ("server",),
    "export": ("save", "dump"),
    "delete": ("rm", "remove"),
    "migrate": ("upgrade", "init", "setup"),
    "follow": ("watch", "monitor"),
    "evaluate": ("eval",),
}
"""The other names of each command. A name here means what nearly everybody means by the word."""

COMMAND_OF: Mapping[str, str] = {alias: name for name, aliases in ALIASES.items() for alias in aliases}
