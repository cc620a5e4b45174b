"""Command lines as people know them from other tools: git, docker, kubectl, SQL and data frames.

``memtrace head``, ``memtrace log -p ID``, ``memtrace list --type answer`` and ``memtrace stats --by day`` are read as
the commands that do what they ask for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from api.cli.aliases import COMMAND_OF
from api.cli.errors import note
from api.cli.kinds_meant import kind_meant
from schema.kinds import OperationKind, VariableKind

Words = list[str]

_SHOW = {"list", "ls", "show", "get", "find", "search"}
_TYPED = {"--type", "--kind", "-k", "--what", "--only"}
_STEPS = {"--op", "--operation", "--step", "--action", "--event"}
_LIST_OF: Mapping[str, str] = {
    noun: name
    for name, nouns in {
        "answers": "answer answers question questions reply replies response responses",
        "failures": "failure failures error errors mistake mistakes",
        "traces": "trace traces run runs recording recordings",
        "sessions": "session sessions conversation conversations",
        "operations": "operation operations op ops step steps",
        "units": "unit units memory memories fact facts memoryunit memory-unit",
        "messages": "message messages",
        "prompts": "prompt prompts",
    }.items()
    for noun in nouns.split()
}
_LOG = {"log", "logs"}
_PATCH = {"-p", "--patch", "--diff", "-u"}
_FOLLOW = {"-f", "--follow", "-w", "--watch", "--live"}
_LIVE = {"tail", "follow", "watch", "monitor"}
_OF_STEPS = {"operations", "traces"}
_STREAMS = _OF_STEPS | {"answers", "messages"}
_BY = {"--by", "--group-by", "--per"}
_CAUSES = {
    "cause",
    "causes",
    "fault",
    "faults",
    "type",
    "error",
    "errors",
    "error-type",
    "errortype",
    "verdict",
    "reason",
}
_STEP_WORDS = {"op", "ops", "operation", "operations", "step", "steps", "kind"}
_PEOPLE = {"user", "users", "team", "member", "members", "people", "person", "colleague", "colleagues"}
_ADD = {"add", "invite", "create", "new"}
_ROLES = {
    "viewer": "reader",
    "read": "reader",
    "guest": "reader",
    "member": "reader",
    "editor": "writer",
    "write": "writer",
    "owner": "admin",
    "administrator": "admin",
}
_CLEAN = {"prune", "purge", "clean", "clear", "gc", "cleanup", "expire"}
_JUDGE = {"set", "override", "classify", "attribute", "relabel", "resolve", "close", "correct"}
_RANGE = re.compile(r"[^./\\]+\.\.[^./\\]+")
_SCORES = {"0": "fail", "0.0": "fail", "bad": "fail", "down": "fail", "1": "right", "1.0": "right", "up": "right"}
_CAUSE_OPTIONS = {"--cause", "--type", "--error-type", "--fault", "--verdict"}


def as_elsewhere(words: Words) -> Words:
    """The command line of this tool that means the same as a command line of another tool."""
    for rule in _RULES:
        if words[:1] == ["run"]:
            break
        words = rule(words)
    return words


def _names(words: Sequence[str]) -> bool:
    """Whether a word follows the first one."""
    return len(words) > 1 and not words[1].startswith("-")


def _head(words: Words) -> Words:
    """``head``, ``head 20``, ``tail``, ``head answers``: the first or the last of a list."""
    if words[:1] not in (["head"], ["tail"]) or _FOLLOW & set(words):
        return words
    end, rest = words[0], words[1:]
    listed = _LIST_OF.get(rest[0], "") if rest else ""
    rest = rest[1:] if listed else rest
    option = "--limit" if end == "head" else "--last"
    number = "10"
    for at, word in enumerate(rest):
        if word in {"-n", "--limit", "--last", "--lines"} and rest[at + 1 : at + 2]:
            number, rest = rest[at + 1], [*rest[:at], *rest[at + 2 :]]
            break
        if match := re.fullmatch(r"-n?([0-9]+)|([0-9]{1,4})", word):
            number, rest = match[1] or match[2], [*rest[:at], *rest[at + 1 :]]
            break
    return [listed or ("traces" if end == "head" else "operations"), option, number, *rest]


def _log(words: Words) -> Words:
    """``log -p ID``: the versions of something, with what changed; ``logs ID``: the steps of a recording."""
    if words[:1] == [] or words[0] not in _LOG or _FOLLOW & set(words):
        return words
    if _names(words) and words[1] in _LIST_OF:
        return words
    rest = [one for one in words[1:] if one not in _PATCH]
    if len(rest) < len(words) - 1:
        return ["versions", *rest]
    return ["operations", *rest] if rest and not rest[0].startswith("-") else words


def _live(words: Words) -> Words:
    """``logs -f``, ``tail -f``, ``operations --follow``, ``get traces -w``: new steps as they are recorded."""
    if not words:
        return words
    rest = [one for one in words[1:] if one not in _FOLLOW]
    is_followed = len(rest) < len(words) - 1
    if words[0] in _LIVE - {"tail"} or (words[0] in _LOG | {"tail"} and is_followed):
        rest = ["--last" if one in {"-n", "--lines", "--tail", "--limit"} else one for one in rest]
        return ["follow", *(rest[1:] if rest[:1] and _is_stream(rest[0]) else rest)]
    # `-f` of a list is a format.
    if not (_FOLLOW - {"-f"}) & set(words) and words[-1:] != ["-f"]:
        return words
    if words[0] in _SHOW and _names(words):
        return ["follow", *rest[1:]] if _is_stream(words[1]) else words
    return ["follow", *rest] if words[0] in {"ls", "list"} or _is_stream(words[0]) else words


def _is_stream(noun: str) -> bool:
    """Whether steps are what shows that more of something is recorded; other lists have no form that grows."""
    listed = _LIST_OF.get(noun) or COMMAND_OF.get(noun)
    if listed in _STREAMS - _OF_STEPS:
        note(f"Followed are steps, each with what it made; a list of all {listed}: memtrace {listed}")
    return listed in _STREAMS


def _typed(words: Words) -> Words:
    """``list --type answer``, ``ls --op delete``: the list of one kind of thing."""
    if not words or words[0] not in _SHOW or _names(words):
        return words
    for at, word in enumerate(words[1:], 1):
        name, equals, value = word.partition("=")
        if name not in _TYPED | _STEPS:
            continue
        value = value if equals else next(iter(words[at + 1 :]), "")
        rest = [*words[1:at], *words[at + (1 if equals else 2) :]]
        if words[0] not in {"list", "ls"} and any(not one.startswith("-") for one in rest):
            return words  # `show --kind Prompt ID`
        if name in _TYPED and (listed := _LIST_OF.get(value.casefold())):
            return [listed, *rest]
        kind = kind_meant(value)
        if kind in set(OperationKind):
            return ["operations", "--kind", kind, *rest]
        if name in _TYPED and kind in set(VariableKind):
            return ["variables", "--kind", kind, *rest]
    return words


def _counts(words: Words) -> Words:
    """``stats --by cause``, ``count units --by day``: numbers of the list that is named, or has what is counted by."""
    if not words or words[0] not in {"count", "stats", "statistics"} | _named("stats"):
        return words
    for at, word in enumerate(words[1:], 1):
        name, equals, value = word.partition("=")
        said = value if equals else next(iter(words[at + 1 :]), "")
        if name not in _BY and not (word == "by" and said and words[0] != "count"):
            continue
        rest = [*words[1:at], *words[at + (1 if equals else 2) :]]
        if _names(words) and (listed := _LIST_OF.get(words[1])) and at > 1:
            return [listed, "--by", said, *rest[1:]]
        said = said.casefold()
        if said in _CAUSES:
            return ["failures", "--by", "errorType", *rest]
        if said in _STEP_WORDS:
            return ["operations", "--by", "kind", *rest]
        if said.rstrip("s") in {"prompt", "unit", "session"}:
            return ["blame", "--by", said.rstrip("s"), *rest]
        return ["answers", "--by", said, *rest]
    if words[0] in {"count", "statistics"} and len(words) > 1 and not _names(words):
        return ["stats", *words[1:]]
    return words


def _named(command: str) -> set[str]:
    return {name for name, of in COMMAND_OF.items() if of == command}


def _people(words: Words) -> Words:
    """``users add bob --role viewer``, ``invite bob``: a key for a colleague."""
    if words[:1] == ["invite"] and _names(words):
        rest = words[1:]
    elif len(words) > 2 and _names(words[1:]) and _is_adding(words[0], words[1]):
        rest = words[2:]
    elif words[:2] == ["keys", "create"]:
        return [*words[:2], *_roles(words[2:])]
    else:
        return words
    return ["keys", "create", rest[0], "--person", rest[0], *_roles(rest[1:])]


def _roles(rest: Words) -> Words:
    """The words, with the roles of keys in place of other words for them."""
    rest = [_ROLES.get(one, one) if before == "--role" else one for before, one in zip(["", *rest], rest, strict=False)]
    return [f"--role={_ROLES[one[7:]]}" if one.startswith("--role=") and one[7:] in _ROLES else one for one in rest]


def _is_adding(first: str, second: str) -> bool:
    """Whether two words, in either order, ask for a person more."""
    return (first in _PEOPLE and second in _ADD) or (first in _ADD and second in _PEOPLE - {"team"})


_OF_PROGRAM = {"users", "persons"}
_LISTS = {"list", "ls", "show", "get"}
_GOT = {"retrieved", "recalled", "hits"}


def _users(words: Words) -> Words:
    """``users``, ``list users``: a user of the program is a trace."""
    at = 1 if words[:1] and words[0] in _LISTS else 0
    if words[at : at + 1] and words[at] in _OF_PROGRAM and not _names(words[at:]):
        note("A user of the program is a trace, or a session of one: memtrace sessions. Keys of people: memtrace keys")
        return ["traces", *words[at + 1 :]]
    return words


def _retrieved(words: Words) -> Words:
    """``retrieved ANSWER``: the search behind an answer, with the found memory units."""
    if words[:1] and words[0] in _GOT and _names(words):
        return ["show", "--kind", "Retrieval", *words[1:]]
    return words


def _clean(words: Words) -> Words:
    """``prune --older-than 30d``: the traces from before a time are deleted, after a question."""
    is_clean = words[:1] != [] and words[0] in _CLEAN
    if is_clean and any(one.partition("=")[0] in {"--older-than", "--before", "--until"} for one in words[1:]):
        return ["delete", *(one for one in words[1:] if one not in {"traces", "trace"})]
    return words


def _verdicts(words: Words) -> Words:
    """``set FAILURE --cause judge --note TEXT``: a person's verdict."""
    if len(words) > 2 and words[0] in {"failure", "failures", "issue"} and words[1] in _JUDGE | {"edit", "change"}:
        words = [words[1] if words[1] in {"resolve", "close"} else "set", *words[2:]]
    # `rate ID 1` may be the worst of five stars.
    is_score = words[0:1] != [] and words[0] in {"score", "rate", "feedback"} and words[2:3] != []
    if is_score and words[2] in _SCORES and not (words[0] == "rate" and words[2][0].isdecimal()):
        return [_SCORES[words[2]], words[1], *words[3:]]
    options = {one.partition("=")[0] for one in words[2:]}
    if words[:1] != [] and words[0] in _JUDGE and _names(words) and _CAUSE_OPTIONS & options:
        if words[0] == "attribute" and not {"--reason", "--note", "--because", "-m", "--comment"} & options:
            return words
        return ["verdict", *words[1:]]
    return words


def _two(words: Words) -> Words:
    """``metrics diff A B``, ``metrics compare A B``."""
    if words[:1] and words[0] in {"compare", "diff"} and _names(words) and _RANGE.fullmatch(words[1]):
        before, _, after = words[1].partition("..")
        return [words[0], before, after, *words[2:]]
    if words[:1] in (["metrics"], ["accuracy"], ["scores"]) and words[1:2] in (["diff"], ["compare"], ["show"]):
        return ["compare", *words[2:]] if words[1] != "show" else ["report", *words[2:]]
    return words


def _bare(words: Words) -> Words:
    """``describe`` alone: numbers, as of a data frame; ``undo`` alone: the last judgement, after a question."""
    if not words or _names(words):
        return words
    if words[0] == "describe":
        return ["stats", *words[1:]]
    if words[0] == "undo" and not {"-h", "--help"} & set(words):
        return ["unfail", "last", *words[1:]]
    return words


def _services(words: Words) -> Words:
    """``server start``, ``queue status``, ``ui start``: a noun of a service, and what to do with it."""
    if len(words) < 2:
        return words
    first, second, rest = words[0], words[1], words[2:]
    if COMMAND_OF.get(first, first) in {"serve", "ui", "worker", "dev"} and second in {"start", "run", "up", "launch"}:
        return [first, *rest]
    if COMMAND_OF.get(first, first) == "serve" and second in {"stop", "restart", "kill", "down"}:
        return ["stop", *rest]
    if COMMAND_OF.get(first, first) == "serve" and second in {"status", "health", "check"}:
        return ["doctor", *rest]
    if first in {"start", "launch"} and COMMAND_OF.get(second, second) in {"serve", "ui", "worker", "dev"}:
        return [second, *rest]
    if first in {"queue", "queues"} and second in {"status", "stats", "state", "info", "show", "depth", "size"}:
        return ["stats", *rest]
    return words


def _dataset(words: Words) -> Words:
    """``eval questions.json --out DIR``: the file is the data set; the error then says that a program is missing."""
    if len(words) < 2 or COMMAND_OF.get(words[0], words[0]) != "evaluate" or "--dataset" in words:
        return words
    if not words[1].endswith((".json", ".jsonl", ".ndjson", ".csv")):
        return words
    rest = ["--run" if one in {"--out", "--output", "-o"} else one for one in words[2:]]
    return ["evaluate", "--dataset", words[1], *rest]


_RULES: tuple[Callable[[Words], Words], ...] = (
    _bare,
    _services,
    _people,
    _head,
    _log,
    _live,
    _typed,
    _counts,
    _clean,
    _verdicts,
    _two,
    _dataset,
    _users,
    _retrieved,
)
