"""Other names of commands, and words that are no command but lead to one."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

ALIASES: Mapping[str, tuple[str, ...]] = {
    "run": ("record",),
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
    "show": ("get", "view", "inspect", "details", "answer", "message", "unit"),
    "search": ("find", "grep"),
    "units": ("memory", "memories", "facts"),
    "operations": ("steps", "timeline", "events"),
    "why-not": ("missing", "missed"),
    "tables": ("schema",),
    "versions": ("history", "evolution"),
    "closure": ("graph", "lineage", "provenance", "sources"),
    "report": ("summary",),
    "stats": ("status", "info", "where", "overview"),
    "replay": ("prove", "proof", "verify"),
    "ui": ("open", "web", "dashboard", "browser"),
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
    "invite": "judge as a team: `memtrace annotate`; a key for a colleague: `memtrace keys create`",
    "share": "a file for others: `memtrace report -o report.html`; a server for a team: `memtrace serve`",
    "effect": "all that came from something: `memtrace closure ID --direction forward`",
    "impact": "all that came from something: `memtrace closure ID --direction forward`",
    "cost": "`memtrace operation ID` shows what an operation used; `memtrace operations` lists them",
    "users": "people sign in with keys: `memtrace keys list`",
    "sessions": "`memtrace trace TRACE` lists the sessions of a trace; `memtrace traces` lists traces",
    "session": "`memtrace trace TRACE` lists the sessions of a trace; `memtrace traces` lists traces",
    "retrievals": "`memtrace operations --kind Retrieval`",
    "retrieval": "`memtrace operations --kind Retrieval`; what a search missed: `memtrace why-not ID`",
    "extractions": "`memtrace operations --kind Extraction`",
    "updates": "`memtrace operations --kind Update`",
    "logs": "recorded steps: `memtrace operations`; versions of a memory unit: `memtrace versions ID`",
    "log": "recorded steps: `memtrace operations`; versions of a memory unit: `memtrace versions ID`",
    "retrieved": "what a search returned and missed: `memtrace why-not ID`; all searches: `memtrace operations --kind "
    "Retrieval`",
    "tree": "all that an answer came from: `memtrace closure ID`; as a few boxes: `memtrace spine ID`",
    "suggest": "`memtrace report` says what to change first; `memtrace optimize` improves prompts",
    "count": "`memtrace stats` counts what is stored; `memtrace report` counts failures by type",
    "group": "`memtrace report` counts failures by type; `memtrace blame --by operation`",
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
_PLACEHOLDER = re.compile(r"\b(?:ID|TRACE)\b")
_ID = re.compile(r"[0-9a-f]{8,32}")


def advice(word: str, known: list[str], rest: Sequence[str] = ()) -> str:
    """What to type in place of a word that is no command.

    Args:
        word: the word.
        known: the names of the commands.
        rest: what follows; an id in it is put into the advice, so that the advice can be copied.
    """
    told = ADVICE.get(word.casefold())
    named = next((one for one in rest if not one.startswith("-")), None)
    if told is not None:
        told = told if named is None else _PLACEHOLDER.sub(shlex.quote(named), told)
    elif " " in word.strip():
        text = shlex.quote(word)
        told = f"a question that was answered wrong: `memtrace why {text}`; any text: `memtrace search {text}`"
    elif _ID.fullmatch(word):
        told = f"say what to do with it: `memtrace show {word}`, `memtrace why {word}`"
    else:
        near = get_close_matches(word, [*known, *COMMAND_OF], 2, _LIKE)
        lines = [f"`{shlex.join(['memtrace', one, *rest])}`" for one in near]
        told = f"did you mean {' or '.join(lines)}?" if near else "`memtrace help` lists all commands"
    return f"there is no command '{word}': {told}"
