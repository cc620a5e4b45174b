"""Other names of commands, and words that are no command but lead to one."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

ALIASES: Mapping[str, tuple[str, ...]] = {
    "run": ("record",),
    "import": ("load", "add"),
    "check": ("validate",),
    "traces": ("list", "ls", "runs"),
    "answers": ("questions", "replies"),
    "why": ("explain", "diagnose", "analyze", "analyse", "cause", "root-cause"),
    "failures": ("errors", "mistakes"),
    "fail": ("wrong", "mark"),
    "unfail": ("undo", "unmark"),
    "right": ("ok",),
    "annotate": ("review",),
    "show": ("get", "view", "inspect", "details", "answer", "failure", "message", "unit"),
    "search": ("find", "grep"),
    "units": ("memory", "memories"),
    "versions": ("history",),
    "closure": ("graph", "lineage"),
    "report": ("summary",),
    "stats": ("status", "info", "where"),
    "replay": ("prove",),
    "ui": ("open", "web"),
    "serve": ("server",),
    "export": ("save", "dump"),
    "delete": ("rm", "remove"),
    "migrate": ("upgrade",),
}
"""The other names of each command. A name here means what nearly everybody means by the word."""

COMMAND_OF: Mapping[str, str] = {alias: name for name, aliases in ALIASES.items() for alias in aliases}

ADVICE: Mapping[str, str] = {
    "judge": 'mark an answer with `memtrace fail ID "the right answer"` or `memtrace right ID`; as a team: '
    "`memtrace annotate`",
    "correct": 'if the answer is right: `memtrace right ID`; if not: `memtrace fail ID "the right answer"`',
    "start": "the web pages: `memtrace ui`; a server for a team: `memtrace serve`; record a program: `memtrace run`",
    "init": "nothing has to be set up: `memtrace run -- python app.py` and `memtrace import FILE` make the store",
    "setup": "nothing has to be set up: `memtrace run -- python app.py` and `memtrace import FILE` make the store",
    "config": "`memtrace stats` shows the store in use; more: `memtrace --help`, docs/server.md",
    "settings": "`memtrace stats` shows the store in use; more: `memtrace --help`, docs/server.md",
    "login": "a local store needs no key: `memtrace ui`; a key for a server: `memtrace keys create`",
    "users": "people sign in with keys: `memtrace keys list`",
    "sessions": "`memtrace trace TRACE` lists the sessions of a trace; `memtrace traces` lists traces",
    "session": "`memtrace trace TRACE` lists the sessions of a trace; `memtrace traces` lists traces",
    "retrievals": "`memtrace operations --kind Retrieval`",
    "retrieval": "`memtrace operations --kind Retrieval`; what a search missed: `memtrace why-not ID`",
    "extractions": "`memtrace operations --kind Extraction`",
    "updates": "`memtrace operations --kind Update`",
    "steps": "`memtrace operations`",
    "logs": "recorded steps: `memtrace operations`; traces while they grow: `memtrace ui`",
    "log": "recorded steps: `memtrace operations`; traces while they grow: `memtrace ui`",
    "watch": "traces while they grow: `memtrace ui`",
    "tail": "traces while they grow: `memtrace ui`",
    "backup": "`memtrace export TRACE -o FILE` writes a trace as a file",
    "clear": "`memtrace delete TRACE` deletes a trace; `memtrace retention` deletes old ones",
    "reset": "`memtrace delete TRACE` deletes a trace; `memtrace retention` deletes old ones",
    "fix": "`memtrace report` says what to change first; `memtrace replay ID` tries a correction",
    "improve": "`memtrace report` says what to change first; `memtrace optimize` improves prompts",
    "reasons": "`memtrace failures` lists wrong answers with their verdicts; `memtrace why ID` says more of one",
    "score": "`memtrace report` says how many answers are wrong; `memtrace benchmark` measures a method",
    "accuracy": "`memtrace report` says how many answers are wrong; `memtrace benchmark` measures a method",
    "top": "`memtrace prompts` and `memtrace blame` rank what did most harm",
    "levers": "`memtrace report` says what to change first, `memtrace prompts` which prompt lost most",
    "test": "run a system over questions: `memtrace evaluate`; measure a method: `memtrace benchmark`",
    "eval": "run a system over questions: `memtrace evaluate`; measure a method: `memtrace benchmark`",
    "demo": "`make demo` in a checkout, or: `memtrace import examples/sample/assistant.json`",
    "projects": "a project is named with --project NAME; `memtrace stats` counts what it has",
}
"""Words with several meanings, or without a command of their own, and what to type."""

_LIKE = 0.8
"""How alike (0 to 1) a mistyped word and a command are. Less alike words, such as explain and replay, would mislead."""


def advice(word: str, known: list[str]) -> str:
    """What to type in place of a word that is no command."""
    told = ADVICE.get(word.casefold())
    if told is None:
        near = get_close_matches(word, [*known, *COMMAND_OF], 2, _LIKE)
        told = f"did you mean {' or '.join(near)}?" if near else "`memtrace help` lists all commands"
    return f"there is no command '{word}': {told}"
