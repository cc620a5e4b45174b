"""A verb and a noun, in either order: what they mean together, for every verb and every noun.

``memtrace describe traces``, ``memtrace traces describe`` and ``memtrace get trace ID`` are all read here. A pair that
no command does leads to the command that does something like it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from api.cli.aliases import COMMAND_OF

Words = list[str]

_VERBS: Mapping[str, str] = {
    "list": "list ls",
    "show": "show get view describe inspect details see print",
    "delete": "delete rm remove drop purge destroy del",
    "export": "export dump save download",
    "import": "import load upload ingest",
    "compare": "compare diff",
    "find": "search find grep",
    "count": "count",
    "open": "open browse web",
    "history": "history log versions changes",
    "change": "rename edit update change modify move",
    "make": "create new make add",
}
VERB_OF: Mapping[str, str] = {word: verb for verb, words in _VERBS.items() for word in words.split()}
"""What each word for doing something means."""

_NOUNS: Mapping[str, tuple[str, str]] = {
    "traces": ("trace", "traces"),
    "sessions": ("session stage", "sessions stages"),
    "operations": ("operation step", "operations steps"),
    "variables": ("variable", "variables"),
    "units": ("unit memory fact", "units memories facts"),
    "messages": ("message", "messages"),
    "prompts": ("prompt", "prompts"),
    "answers": ("answer question reply", "answers questions replies"),
    "failures": ("failure error mistake", "failures errors mistakes"),
    "verdicts": ("verdict judgement judgment", "verdicts judgements judgments"),
    "projects": ("project", "projects"),
    "keys": ("key token", "keys tokens"),
    "reports": ("report", "reports"),
}
"""The words for one thing and for several things of each kind."""
ONE = {word: noun for noun, (words, _) in _NOUNS.items() for word in words.split()}
SEVERAL = {word: noun for noun, (_, words) in _NOUNS.items() for word in words.split()}
_NOUN_OF = ONE | SEVERAL

RECORDED = {"traces", "sessions", "operations", "variables", "units", "messages", "prompts", "answers"}
"""Things that a program made: they are never changed, and go only with their trace."""
_WITH_VERSIONS = {"variables", "units", "messages", "prompts", "answers"}
_NAME = re.compile(r"\b(?:ID|NAME)\b")
_ID = re.compile(r"[0-9a-f]{8,32}|last|latest|newest|.*[-:@/_.0-9].*")
_SHOWN = {"traces": "trace", "failures": "failures", "verdicts": "failures", "reports": "report"}
_LISTED = {"verdicts": "failures", "reports": "report"}

_DONE: Mapping[tuple[str, str], Words] = {
    ("list", "keys"): ["keys", "list"],
    ("show", "keys"): ["keys", "list"],
    ("count", "keys"): ["keys", "list", "--count"],
    ("find", "keys"): ["keys", "list"],
    ("history", "keys"): ["keys", "list"],
    ("export", "keys"): ["keys", "list", "--csv"],
    ("make", "keys"): ["keys", "create"],
    ("delete", "keys"): ["keys", "revoke"],
    ("make", "reports"): ["report"],
    ("export", "reports"): ["report"],
    ("export", "verdicts"): ["failures", "--csv"],
    ("history", "verdicts"): ["labels", "history"],
    ("history", "failures"): ["labels", "history"],
    ("make", "failures"): ["fail"],
    ("compare", "verdicts"): ["agreement"],
    ("compare", "reports"): ["report", "compare"],
    ("open", "reports"): ["ui"],
}
"""Command lines of pairs that are no list and no view of a recorded thing."""

_UNCHANGED = "what was recorded is not changed; a comment on a wrong answer: `memtrace fail ID --comment TEXT`"
_WITH_TRACE = "what was recorded goes only with its trace: `memtrace delete TRACE`"
_BY_RECORDING = "a program makes it: `memtrace run -- python app.py`; from a file: `memtrace import FILE`"
_AS_FILES = "traces are imported, and bring what they hold: `memtrace import FILE`"
_PROJECTS = (
    "a project is named with --project NAME, and begins with its first trace: "
    "`memtrace --project NAME run -- python app.py`"
)
_ADVICE: Mapping[tuple[str, str], str] = {
    **{("change", noun): _UNCHANGED for noun in RECORDED},
    **{("delete", noun): _WITH_TRACE for noun in RECORDED - {"traces"}},
    **{("make", noun): _BY_RECORDING for noun in RECORDED},
    **{("import", noun): _AS_FILES for noun in (RECORDED | {"reports"}) - {"traces"}},
    ("delete", "failures"): "a failure is withdrawn: `memtrace unfail ID`",
    ("delete", "verdicts"): "your verdict is taken back: `memtrace verdict ID --undo`; a failure: `memtrace unfail ID`",
    ("delete", "reports"): "a report is made anew each time, and not stored",
    (
        "change",
        "failures",
    ): "a right answer or a comment is added by `memtrace fail ID`; withdrawn: `memtrace unfail ID`",
    ("change", "verdicts"): "a new verdict takes the place of yours: `memtrace verdict ID --type TYPE --reason TEXT`",
    (
        "change",
        "keys",
    ): "a key is not changed: `memtrace keys create` makes another, `memtrace keys revoke ID` ends one",
    ("change", "projects"): f"a project keeps its name; {_PROJECTS}",
    ("make", "verdicts"): "say why an answer is wrong: `memtrace verdict ID --type TYPE --reason TEXT`",
    ("make", "projects"): _PROJECTS,
    ("import", "failures"): "many wrong answers at once: `memtrace fail --file gold.csv`",
    ("import", "verdicts"): "verdicts of people come from a file of labels: `memtrace labels import FILE`",
    ("compare", "failures"): "two runs are compared: `memtrace compare TRACE TRACE`; two texts: `memtrace diff ID ID`",
    ("compare", "projects"): "two runs are compared: `memtrace compare TRACE TRACE`",
}
"""What to type in place of a pair that no command does."""


def paired(words: Words) -> Words:
    """The command line that a verb and a noun mean; other words are left as they are.

    A pair that no command does becomes one word with a space, which is no command: ``advice_on`` knows it.
    """
    if len(words) < 2 or words[0].startswith("-") or words[1].startswith("-"):
        return words
    first, second, rest = words[0], words[1], words[2:]
    named = bool(rest) and not rest[0].startswith("-")
    if first in VERB_OF and second in _NOUN_OF and (named or VERB_OF[first] != "find"):
        verb, noun, is_one = VERB_OF[first], _NOUN_OF[second], second in ONE
    elif first in _NOUN_OF and second in VERB_OF and _is_verb(first, VERB_OF[second], rest, named):
        verb, noun = VERB_OF[second], _NOUN_OF[first]
        # `answers show ID` shows one answer, `show answers WORDS` lists those with the words.
        is_one = first in ONE or (verb == "show" and named)
    else:
        return words
    if (verb, noun) in _ADVICE:
        return [f"{first} {second}", *rest]
    said = _project(verb, named, rest) if noun == "projects" else _said(verb, noun, is_one, named, rest)
    return [f"{first} {second}", *rest] if said is None and noun == "projects" else said or words


def _is_verb(noun: str, verb: str, rest: Words, named: bool) -> bool:
    """Whether a word behind a noun is a verb, and no word to look for in the list: ``messages create account``."""
    if noun not in SEVERAL or SEVERAL[noun] in {"keys", "projects", "reports"}:
        return named or verb in {"list", "show"} or noun not in COMMAND_OF.keys() | _COMMANDS_OF_ONE
    if verb in {"list", "count", "show", "export"}:
        return True
    return named and (verb == "find" or _ID.fullmatch(rest[0]) is not None or verb == "import")


_COMMANDS_OF_ONE = {"trace", "operation", "variable", "verdict", "report"}
"""Commands with the name of one thing: the word behind them may be the thing's own name."""


def _said(verb: str, noun: str, is_one: bool, named: bool, rest: Words) -> Words | None:
    """The command line of a verb and a noun; None if the words mean it as they are.

    Args:
        verb: what to do.
        noun: the kind of thing.
        is_one: whether the noun stands in the singular.
        named: whether a word follows, which names the thing.
        rest: what follows.
    """
    if done := _DONE.get((verb, noun)):
        return [*done, *rest]
    if verb == "count" and rest[:1] in (["by"], ["per"]):
        return None
    listed = _LISTED.get(noun, noun)
    if verb in {"list", "find"} or (verb == "show" and not named):
        return [listed, *rest]
    if verb == "show":
        return [_SHOWN.get(noun, "show") if is_one else listed, *rest]
    if verb == "count":
        return [listed, *rest, "--count"] if rest or noun in _LISTED else ["stats"]
    if verb == "export":
        return [listed, *rest] if not is_one else ["export", *rest] if named else None
    if verb == "open":
        return ["ui", *rest]
    if verb == "compare":
        return ["diff" if noun in _WITH_VERSIONS else "compare", *rest]
    if verb == "history":
        view = "show" if noun == "operations" and named else "operations"
        return ["versions" if noun in _WITH_VERSIONS else view, *rest]
    return [verb, *rest] if noun == "traces" and verb in {"delete", "import"} else None


def _project(verb: str, named: bool, rest: Words) -> Words | None:
    """The command line of a verb and a project, which every command names with ``--project``; None if there is none."""
    command = {"show": ["stats"], "count": ["stats"], "open": ["ui"], "delete": ["delete", "--all"]}.get(verb)
    if command is None or (verb == "delete" and not named):
        return None
    return [*command, *(["--project", *rest] if named else rest)]


def advice_on(pair: str, rest: Sequence[str]) -> str | None:
    """What to type in place of a pair that no command does; None if the words are no such pair.

    Args:
        pair: a verb and a noun, in either order.
        rest: what followed; the name of a thing in it is put into the advice, so that the advice can be copied.
    """
    first, _, second = pair.partition(" ")
    verb = VERB_OF.get(first) or VERB_OF.get(second)
    noun = _NOUN_OF.get(second) or _NOUN_OF.get(first)
    told = _ADVICE.get((verb or "", noun or ""))
    if told is None and verb and noun == "projects":
        told = f"{_PROJECTS}; `memtrace stats --project NAME` counts what it has"
    named = next((one for one in rest if not one.startswith("-")), None)
    return told if told is None or named is None else _NAME.sub(lambda _: shlex.quote(named), told)
