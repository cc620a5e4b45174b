"""Other orders of words: a verb before a noun, a noun before a verb, an id or an option first.

``memtrace list answers``, ``memtrace answers list`` and ``memtrace answers`` mean the same. Only words that no command
would take are put into another order, so a command line that is right keeps its meaning.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from api.cli.aliases import COMMAND_OF
from api.cli.errors import note
from api.cli.habits import as_elsewhere
from api.cli.help import PANELS
from api.cli.kinds_meant import kind_meant
from api.cli.option_names import PLACES
from api.cli.other_names import OTHER_NAMES
from api.cli.pairs import paired
from api.cli.unknown_words import ADVICE
from schema.kinds import OperationKind, VariableKind

Words = list[str]

LISTS: Mapping[str, tuple[str, ...]] = {
    "answers": ("answer", "question", "questions", "reply", "replies"),
    "failures": ("failure", "error", "errors", "mistake", "mistakes"),
    "traces": ("trace", "run", "runs"),
    "sessions": ("session", "stage", "stages"),
    "operations": ("operation", "step", "steps", "node", "nodes", "call", "calls"),
    "units": ("unit", "memory", "memories", "fact", "facts"),
    "messages": ("message",),
    "variables": ("variable",),
    "prompts": ("prompt",),
}
"""The commands that list things, and what else these things are called."""

_LIST_OF = {noun: name for name, nouns in LISTS.items() for noun in (name, *nouns)}
_SINGULAR = {nouns[0] for nouns in LISTS.values()} | {
    *("question", "error", "reply", "step", "memory", "run", "node", "call"),
}
_SHOWN_BY = {"traces": "trace", "failures": "failures"}
"""Commands that show one thing of a list; all else is shown by ``show``."""
_SHOW = {"list", "ls", "show", "get", "view", "inspect", "see", "print"}
_LOG = {"log", "logs"}
_FOLLOW = {"-f", "--follow", "--tail", "-w", "--watch", "--live"}
_IN_BROWSER = {"--web", "--browser"}
_LAST = {"last", "latest", "newest"}
_HAS_LAST = {"answers", "failures", "traces"}
"""Lists whose commands understand ``last`` themselves. Of any other kind, ``last`` is the last line of the list."""
_TABLES = {".csv", ".json", ".jsonl"}
_ALL = {"list", "ls", "all"}
_HAVE_LISTS = {"keys", "dlq"}
_SHOWN_WHOLE = [["list"], ["show"], ["ls"], ["view"], ["get"], ["print"]]
_ASIDE = {"me", "the", "my", "all", "a", "an", "please", "of"}
_TELL = {"tell", "give", "please"}
_BLAMED = {"operation": "operation", "step": "operation", "prompt": "prompt", "unit": "unit", "session": "session"}
_FIND = {"search", "find", "grep"}
_MARK = {"mark", "judge", "label", "rate", "set", "flag"}
_WRONG = {"wrong", "incorrect", "bad", "false", "failed"}
_RIGHT = {"right", "correct", "ok", "good", "true"}
_TAKEN_BACK = {"--undo", "--withdraw"}
_WITHDRAW = {"undo", "withdraw", "revert", "revoke", "retract", "unset"}
_IMPACT = {"impact", "effect", "effects", "downstream"}
_TAKE_IDS = {"why", "attribute", "failures", "why-not", "spine", "fail", "unfail", "right", "verdict", "replay"} | {
    *("show", "closure", "versions", "diff", "value", "export", "delete", "check", "ui", "operation", "variable"),
}
_COMMANDS = {name for names in PANELS.values() for name in names} | COMMAND_OF.keys()
_SHOWING = {"show", "trace", "operation", "variable", "why"}
"""Commands that show one thing. Behind them, an option may name what else to show of it."""
_VIEWS = {"versions", "closure", "why", "why-not", "spine", "value", "ui", *LISTS}
_OF_ANSWERS = {name for option in ("--wrong", "--right", "--unjudged") for name in (option, *OTHER_NAMES[option])}
"""Options of a list that only answers have."""
_PYTHON = re.compile(r"python[0-9.]*")
_ID = re.compile(r"[0-9a-f]{8,32}|last|latest|newest|.*[-:@/_.0-9].*")


def understood(words: Sequence[str]) -> Words:
    """The words in the order that the command line expects; the words of a program are left alone."""
    place, rest = _split(words)
    rest = _program(_in_known_number(rest))
    for rule in _RULES:
        if rest[:1] == ["run"]:
            break
        rest = rule(rest)
    return [*place, *rest]


def _split(words: Sequence[str]) -> tuple[Words, Words]:
    """The options that say where to work, and all else with the command in front."""
    place: Words = []
    options: Words = []
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] not in {"-", "--"}:
        name, given, _ = rest[0].partition("=")
        if name in PLACES:
            width = 1 if given or not PLACES[name] else 2
            place += rest[:width]
            rest = rest[width:]
        else:
            until = next((at for at, word in enumerate(rest) if at and word in _COMMANDS), None)
            if until is None:
                break
            options += rest[:until]
            rest = rest[until:]
    return place, [*rest[:1], *options, *rest[1:]]


def _in_known_number(words: Words) -> Words:
    """``source ID`` is ``sources ID``: a command is known in the singular and in the plural."""
    word = words[0] if words else ""
    if not word or word in _COMMANDS | ADVICE.keys() | _LIST_OF.keys() | _MARK or _kind(word):
        return words
    return next(([one, *words[1:]] for one in (f"{word}s", word.removesuffix("s")) if one in _COMMANDS), words)


def _is_word(words: Words, place: int) -> bool:
    return len(words) > place and not words[place].startswith("-")


def _program(words: Words) -> Words:
    """``python app.py`` and ``app.py`` are programs to run and record."""
    if words[:1] in (["record"], ["exec"]):
        words = ["run", *words[1:]]
    given = words[1:] if words[:1] == ["run"] else words
    given = given[1:] if given[:1] == ["--"] else given
    if not given:
        return words
    if given[0].endswith(".py") and Path(given[0]).is_file() and not os.access(given[0], os.X_OK):
        return ["run", "--", "python" if shutil.which("python") else "python3", *given]
    if words[0] != "run" and len(given) > 1 and _PYTHON.fullmatch(Path(given[0]).name):
        return ["run", "--", *given]
    return words


def _said_politely(words: Words) -> Words:
    """``show me the answers``, ``tell me why ID``."""
    if words and words[0] in _TELL:
        words = words[1:]
        while words and words[0] in _ASIDE:
            words = words[1:]
    if len(words) > 2 and words[0] in _SHOW:
        while len(words) > 2 and words[1] in _ASIDE:
            words = [words[0], *words[2:]]
    return words


def _counted(words: Words) -> Words:
    """``failures by type``, ``count failures by operation``, ``report ID``."""
    if words and COMMAND_OF.get(words[0], words[0]) == "report" and _is_word(words, 1) and words[1] != "compare":
        if words[1] in {"of", "for", "on", "open"}:
            return ["report", "--open", *words[2:]] if words[1] == "open" else _counted(["report", *words[2:]])
        ids = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
        return ["report", *(part for word in words[1:ids] for part in ("--failure", word)), *words[ids:]]
    if words[:1] == ["blame"] and _is_word(words, 1) and words[1].rstrip("s") in _BLAMED:
        return ["blame", "--by", _BLAMED[words[1].rstrip("s")], *words[2:]]
    if words and words[0] in {"count", "group"}:
        words = words[1:] if "by" in words or "per" in words else words
    if len(words) > 2 and _LIST_OF.get(words[0]) == "failures" and words[1] in {"by", "per"}:
        by = next((name for noun, name in _BLAMED.items() if words[2].startswith(noun)), None)
        return ["blame", "--by", by, *words[3:]] if by else ["report", *words[3:]]
    return words


def _verb_first(words: Words) -> Words:
    """``list answers``, ``show trace ID``, ``find units TEXT``, ``delete trace ID``, ``wrong answers``."""
    if not _is_word(words, 1):
        return words
    verb, noun, rest = words[0], words[1], words[2:]
    listed = _LIST_OF.get(noun)
    if noun == "help" and not rest and verb in _COMMANDS:
        return ["help", verb]
    if verb in _FIND and listed and _is_word(rest, 0):
        return [listed, *rest]
    if verb in _WRONG | _RIGHT | _LAST and listed and noun not in _SINGULAR:
        if verb in _WRONG and listed == "failures":
            return [listed, *rest]
        return [listed, verb, *rest]
    if verb in _LAST and listed:
        return [*_last_of(listed), *rest]
    if verb in _SHOW and noun in _WRONG | _RIGHT | {"all", "last"} and _is_word(rest, 0) and _LIST_OF.get(rest[0]):
        return _verb_first([rest[0], *rest[1:]] if noun == "all" else [noun, *rest])
    if verb in {"top", "worst"} and noun.rstrip("s") in _BLAMED:
        by = _BLAMED[noun.rstrip("s")]
        return ["prompts", *rest] if by == "prompt" else ["blame", "--by", by, *rest]
    if verb in _SHOW and listed:
        return [_SHOWN_BY.get(listed, "show"), *rest] if noun in _SINGULAR and _is_word(rest, 0) else [listed, *rest]
    if verb in {"list", "ls"} and noun in _COMMANDS | ADVICE.keys() | {"all"}:
        return [noun, "list", *rest] if noun in _HAVE_LISTS else [verb if noun == "all" else noun, *rest]
    if COMMAND_OF.get(verb, verb) in _TAKE_IDS and noun in _SINGULAR and _is_word(rest, 0):
        return [verb, *rest]
    return words


def _last_of(listed: str) -> Words:
    """The command that shows the last of some things."""
    if listed in _HAS_LAST:
        return [_SHOWN_BY.get(listed, "show"), "last"]
    # `memtrace prompts` ranks prompts, and has no last one; the newest prompt may be that of a judge.
    of_answer = ["show", "--kind", "Prompt", "last"]
    return of_answer if listed == "prompts" else [listed, "--last", "1"]


def _all_of(words: Words) -> Words:
    """``export answers``, ``export failures.csv``, ``export -o failures.csv``, ``why all``."""
    if words and COMMAND_OF.get(words[0], words[0]) == "export" and {"-o", "--output"} & set(words[1:-1]):
        file = Path(words[next(at for at, word in enumerate(words) if word in {"-o", "--output"}) + 1])
        if file.stem in LISTS and file.suffix in _TABLES:
            return [file.stem, *words[1:]]
    if not _is_word(words, 1):
        return words
    verb, noun, rest = COMMAND_OF.get(words[0], words[0]), words[1], words[2:]
    if verb == "why" and noun in {"all", "everything"}:
        return ["attribute", "--all", *rest]
    if verb == "export" and noun in LISTS:
        return [noun, *rest]
    if verb == "export" and Path(noun).stem in LISTS and Path(noun).suffix in _TABLES:
        return [Path(noun).stem, "-o", noun, *rest]
    return words


def _noun_first(words: Words) -> Words:
    """``trace list``, ``answers wrong``, ``trace delete ID``, ``units search TEXT``, ``answers last 3``."""
    listed = _LIST_OF.get(words[0]) if words else None
    if listed is None or not _is_word(words, 1):
        return words
    word, rest = words[1], words[2:]
    if words[0] in _SINGULAR and word in _LAST and listed not in _HAS_LAST:
        return [*_last_of(listed), *rest]
    if _is_word(rest, 0) and len(rest) == 1 and rest[0] in _COMMANDS and _ID.fullmatch(word):
        return [rest[0], word]
    if words[0] in _SINGULAR and words[0] not in _COMMANDS and _ID.fullmatch(word):
        kind = _kind(words[0])
        return ["show", *(["--kind", kind] if kind else []), word, *rest]
    if word in _ALL and not _is_word(rest, 0):
        return [listed, *rest]
    if listed == "answers" and word in _WRONG | _RIGHT and not _is_word(rest, 0):
        return [listed, "--wrong" if word in _WRONG else "--right", *rest]
    if word in _LAST and _is_word(rest, 0) and rest[0].isdecimal():
        return [listed, "--last", *rest]
    if word in _FIND and _is_word(rest, 0):
        return [listed, *rest]
    if word in _SHOW and not _is_word(rest, 0):
        return [listed, *rest]
    return [word, *rest] if word in _COMMANDS and _is_word(rest, 0) else words


def _id_first(words: Words) -> Words:
    """``ID``, ``ID show`` and ``ID why --json``."""
    if not _is_word(words, 0) or words[0] in _COMMANDS | ADVICE.keys() or not _ID.fullmatch(words[0]):
        return words
    if _is_word(words, 1) and words[1] in _COMMANDS:
        return [words[1], words[0], *words[2:]]
    is_whole = re.fullmatch(r"[0-9a-f]{8,32}|last|latest|newest", words[0]) is not None
    return ["show", *words] if is_whole and not _is_word(words, 1) else words


def _kind_first(words: Words) -> Words:
    """``retrievals``, ``queries TEXT``, ``extraction ID``: a kind of operation or variable."""
    kind = _kind(words[0]) if words else None
    if kind and COMMAND_OF.get(words[0]) == "show" and _is_word(words, 1) and "--kind" not in words:
        return ["show", "--kind", kind, *words[1:]]
    if kind is None or words[0] in _COMMANDS or words[0] in _LIST_OF:
        return words
    of = "operations" if kind in set(OperationKind) else "variables"
    is_plural = words[0].casefold().endswith("s")
    if _is_word(words, 1) and words[1] in _LAST:
        return [of, "--kind", kind, *([] if is_plural else ["--last", "1"]), *words[1 if is_plural else 2 :]]
    if _is_word(words, 1) and _ID.fullmatch(words[1]):
        return ["show", "--kind", kind, *words[1:]]
    return [of, "--kind", kind, *words[1:]] if is_plural else words


def _kind(word: str) -> str | None:
    """The kind of operation or variable that a word names; None if it names none, or no certain one."""
    kind = kind_meant(word)
    known = {*OperationKind, *VariableKind} - {OperationKind.OTHER, VariableKind.OTHER}
    return str(kind) if kind in known else None


def _another_view(words: Words) -> Words:
    """``show ID --history``, ``why ID --evidence``, ``trace ID --steps``, ``show ID --context``."""
    command = COMMAND_OF.get(words[0], words[0]) if words else ""
    if command not in _SHOWING or not _is_word(words, 1):
        return words
    for at, word in enumerate(words[1:], 1):
        name = word.removeprefix("--")
        meant = COMMAND_OF.get(name, name)
        rest = [*words[1:at], *words[at + 1 :]]
        if not word.startswith("--") or word in {"--trace", "--type", "--search"}:
            continue
        if meant == command:
            return [words[0], *rest]
        if meant in _VIEWS and (command != "why" or meant != "value"):
            return [meant, *rest]
        if kind := _kind(name):
            return ["show", "--kind", kind, *rest]
    return words


def _list_elsewhere(words: Words) -> Words:
    """``log -n 5``: the newest steps; ``list --wrong``: answers; ``failures --web``: the page of failures."""
    if words[:1] and words[0] in _LOG and not _is_word(words, 1) and not _FOLLOW & set(words):
        if words[0] == "log":
            note("Listed are steps, the newest first; recordings: memtrace traces --descending")
        return ["operations", "--descending", *words[1:]]
    if words and words[0] in _COMMANDS and words[-1] == "--version":
        return ["version"]
    if words[:1] in (["list"], ["ls"]) and not _is_word(words, 1) and _OF_ANSWERS & set(words[1:]):
        return ["answers", *words[1:]]
    if words and words[0] in LISTS and _IN_BROWSER & set(words[1:]):
        return ["ui", *([words[0]] if words[0] in {"answers", "failures"} else [])]
    return words


def _picture(words: Words) -> Words:
    """``graph ID -o past.svg``, ``show ID --svg past.svg``: a picture is drawn of the few boxes of a spine."""
    is_of_one = bool(words) and COMMAND_OF.get(words[0], words[0]) in {"closure", *_SHOWING} and _is_word(words, 1)
    for at, word in enumerate(words[:-1] if is_of_one else ()):
        if word in {"-o", "--output", "--svg", "--image", "--picture"} and words[at + 1].casefold().endswith(".svg"):
            return ["spine", *words[1:at], "--svg", *words[at + 1 :]]
    return words


def _impact(words: Words) -> Words:
    """``impact ID``: all that came from something."""
    if words and words[0] in _IMPACT and _is_word(words, 1):
        return ["closure", *words[1:], "--direction", "forward"]
    return words


def _lists_of_groups(words: Words) -> Words:
    """``keys``, ``dlq --json``, ``verdict ID --history``: lists of things that belong to no trace."""
    if len(words) > 2 and words[0] in {"verdict", "verdicts"} and words[1] in _WITHDRAW and _is_word(words, 2):
        return ["verdict", *words[2:], "--undo"]
    if len(words) > 2 and words[0] in _WITHDRAW and words[1] == "verdict" and _is_word(words, 2):
        return ["verdict", *words[2:], "--undo"]
    if len(words) > 2 and words[0] == "verdict" and words[1] in {"history", "log"} and _is_word(words, 2):
        return ["labels", "history", *words[2:]]
    if words and words[0] in _HAVE_LISTS and (len(words) == 1 or words[1] not in {"-h", "--help"}):
        return words if _is_word(words, 1) else [words[0], "list", *words[1:]]
    if words and COMMAND_OF.get(words[0], words[0]) == "config" and words[1:2] in _SHOWN_WHOLE:
        return ["config", *words[2:]]
    if words[:1] == ["verdict"] and "--history" in words:
        return ["labels", "history", *(word for word in words[1:] if word != "--history")]
    return words


def _judgement(words: Words) -> Words:
    """``mark ID wrong TEXT``, ``mark ID as right``, ``mark ID --wrong``, ``correct ID TEXT``, ``fail --undo ID``."""
    if words and COMMAND_OF.get(words[0], words[0]) == "fail" and _TAKEN_BACK & set(words):
        return ["unfail", *(word for word in words[1:] if word not in _TAKEN_BACK)]
    if words[:1] == ["correct"] and _is_word(words, 1) and _is_word(words, 2):
        return ["fail", *words[1:]]
    if not words or words[0] not in _MARK:
        return words
    for at, word in enumerate(words[1:4], 1):
        said = word.removeprefix("--")
        if said in _WRONG | _RIGHT:
            rest = [one for one in words[1:at] if one != "as"] + words[at + 1 :]
            return ["fail" if said in _WRONG else "right", *rest]
    return words


_RULES: tuple[Callable[[Words], Words], ...] = (
    _said_politely,
    as_elsewhere,
    _list_elsewhere,
    _lists_of_groups,
    _judgement,
    _impact,
    _picture,
    _another_view,
    paired,
    _counted,
    _all_of,
    _verb_first,
    _noun_first,
    _kind_first,
    _id_first,
)
