"""Words that are no command, and what to type in place of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from api.cli.aliases import COMMAND_OF
from api.cli.pairs import advice_on

_NO_SETUP = "nothing has to be set up: `memtrace run -- python app.py` and `memtrace import FILE` make the store"
_STEPS = (
    "recorded steps, of a trace too: `memtrace operations TRACE`; versions of a memory unit: `memtrace versions ID`"
)
_STORES = (
    "a store is named with each command, or once: `memtrace traces --store neo4j://host:7687`, or "
    "MEMTRACE_STORE=neo4j://host:7687; a new one is made by `memtrace migrate --store neo4j://host:7687`"
)
_COPIES = (
    "a trace goes to another store as a file: `memtrace export TRACE -o trace.json`, then "
    "`memtrace import trace.json --store neo4j://host:7687`; a server takes the file at POST /v1/import: docs/jobs.md"
)
_PEOPLE = (
    "a key for a colleague, as reader, writer or admin: `memtrace keys create --role reader`; all keys: "
    "`memtrace keys list`"
)
_LIVE = "steps as they are recorded: `memtrace follow`; traces while they grow: `memtrace ui`"
_PROJECT_GONE = (
    "a project is gone with its last trace: `memtrace delete --all --project TEXT` deletes all, and asks first"
)
_NO_PROJECTS = (
    "a project is named with --project NAME, and begins with its first trace: "
    "`memtrace --project NAME run -- python app.py`; `memtrace stats --project NAME` counts what it has"
)
_PICTURE = "the past of a wrong answer as a picture: `memtrace spine ID --svg past.svg`; as web pages: `memtrace ui`"

_ADVICE: Mapping[str, str] = {
    "judge": (
        'mark an answer with `memtrace fail ID "the right answer"` or `memtrace right ID`; as a team: '
        "`memtrace annotate`"
    ),
    "correct": 'if the answer is right: `memtrace right ID`; if not: `memtrace fail ID "the right answer"`',
    "gold golds truth expected": (
        'the right answer is recorded with the wrong one: `memtrace fail ID "the right answer"`'
    ),
    "note comment tag": (
        "a comment on a wrong answer: `memtrace fail ID --comment TEXT`; why it is wrong, in your words: "
        "`memtrace verdict ID --type UpdateError --reason TEXT`"
    ),
    "assign": "a queue for one person: `memtrace annotate queue create for-TEXT --failure ID --person TEXT`",
    "ps processes running": "a server's health: `memtrace doctor`; what is recorded: `memtrace traces`",
    "start stop restart": (
        "the web pages: `memtrace ui`; a server for a team: `memtrace serve`; record a program: `memtrace run`; "
        "each ends with Ctrl-C"
    ),
    "install new": _NO_SETUP,
    "login logout whoami account token": (
        "a local store needs no key: `memtrace ui`; a key for a server: `memtrace keys create`"
    ),
    "invite colleagues team share": (
        "a file for others: `memtrace report -o report.html`, of one failure: `memtrace report ID -o report.html`; "
        "a server for a team: `memtrace serve`, with a key "
        "for each: `memtrace keys create`; judge together: `memtrace annotate`"
    ),
    "effect effects impact downstream": "all that came from something: `memtrace closure ID --direction forward`",
    "cost tokens": "`memtrace operation ID` shows what an operation used; `memtrace operations` lists them",
    "users user threads thread conversations conversation chats chat agents": (
        "a user or conversation of the program is a trace, or a session of one: `memtrace traces`, "
        "`memtrace sessions`; people who sign in have keys: `memtrace keys list`"
    ),
    "state": "what the memory holds: `memtrace units`; all that an answer came from: `memtrace closure ID`",
    "retrieval retrieved ranks rank hits candidates": (
        "what a search returned and missed: `memtrace why-not ID`; all searches: `memtrace operations --kind Retrieval`"
    ),
    "logs log": _STEPS,
    "rerun re-run retry again redo recompute reattribute re-attribute reanalyze recheck": (
        "a verdict again: `memtrace attribute ID`, by a language model: `memtrace attribute ID --method llm`; the "
        "recorded program again, with a correction: `memtrace replay ID`"
    ),
    "queue queues backlog": (
        "how many events wait: `memtrace stats`; those that could not be written: `memtrace dlq list`; what people "
        "have to judge: `memtrace annotate queue list`; the state of the queue's file: `memtrace doctor`"
    ),
    "jobs job": "jobs of a server are on its pages and in GraphQL: docs/jobs.md; waiting events: `memtrace stats`",
    "connect remote link neo4j-connect": _STORES,
    "copy clone sync push pull mirror upload send publish": _COPIES,
    "members member permissions roles role access": _PEOPLE,
    "picture image svg png draw plot chart visualize visualise": _PICTURE,
    "suggest advice": "`memtrace report` says what to change first; `memtrace optimize` improves prompts",
    "count": "`memtrace stats` counts what is stored; `memtrace report` counts failures by type",
    "group": "`memtrace report` counts failures by type; `memtrace blame --by operation`",
    "live stream": _LIVE,
    "clear reset purge wipe clean prune erase drop forget gc": (
        "`memtrace delete TRACE` deletes a trace; `memtrace retention` deletes old ones"
    ),
    "fix": "`memtrace report` says what to change first; `memtrace replay ID` tries a correction",
    "improve": "`memtrace report` says what to change first; `memtrace optimize` improves prompts",
    "reasons": "`memtrace failures` lists wrong answers with their verdicts; `memtrace why ID` says more of one",
    "score accuracy metrics quality precision": (
        "`memtrace report` says how many answers are wrong; `memtrace benchmark` measures a method"
    ),
    "top worst": "`memtrace prompts` and `memtrace blame` rank what did most harm",
    "levers": "`memtrace report` says what to change first, `memtrace prompts` which prompt lost most",
    "test": "run a system over questions: `memtrace evaluate`; measure a method: `memtrace benchmark`",
    "trend trends progress": "what became rarer between two runs: `memtrace compare TRACE TRACE`",
    "resolve close done resolved archive": (
        "nothing is closed: a failure that was none is withdrawn: `memtrace unfail ID`; your own word on why it is "
        "wrong: `memtrace verdict ID --type UpdateError --reason TEXT`"
    ),
    "datasets dataset data": (
        "conversations with questions are files, such as LoCoMo and LongMemEval as published, which nothing downloads: "
        "`memtrace evaluate my_agent:Agent --dataset FILE --run DIR`"
    ),
    "notebook jupyter python shell repl pandas": "data frames: `memtrace.notebook`, docs/notebook.md",
    "demo example examples tutorial quickstart docs manual guide": (
        "`make demo` in a checkout, or: `memtrace import examples/sample/assistant.json`; README.md leads to docs/"
    ),
    "projects project": _NO_PROJECTS,
}

_DELETE = {"delete", "rm", "remove", "drop", "purge", "destroy"}
_ADD = {"add", "create", "invite", "new", "grant"}
_FOLLOW = {"-f", "--follow", "--tail", "-w", "--watch", "--live"}
_LISTEN = {"log", "logs", "events", "trace", "traces"}
_USERS = {"user", "users", "member", "members", "account", "team"}

ADVICE: Mapping[str, str] = {word: told for words, told in _ADVICE.items() for word in words.split()}
"""Words with several meanings, or without a command of their own, and what to type."""

_LIKE = 0.8
"""How alike (0 to 1) a mistyped word and a command are. Less alike words, such as explain and replay, would mislead."""
_PLACEHOLDER = re.compile(r"\b(?:ID|TRACE)\b")
_TEXT = re.compile(r"\bTEXT\b")
_ID = re.compile(r"[0-9a-f]{8,32}")
_FILE = re.compile(r"\.[a-z]{2,5}$")
_WORD = re.compile(r"[a-z]{3,}")
_ENDING = re.compile(r"(?:ings?|ed|es|s|e)$")
_MOST = 3
_PLAIN = frozenset(
    (
        "all",
        "and",
        "are",
        "for",
        "from",
        "has",
        "have",
        "how",
        "its",
        "new",
        "not",
        "one",
        "that",
        "the",
        "their",
        "them",
        "they",
        "this",
        "use",
        "what",
        "which",
        "who",
        "with",
    )
)
"""Words of a help that say nothing of what a command does."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of a command.

    Attributes:
        help: what the command does.
        takes_words: whether words may follow the command.
    """

    help: str
    takes_words: bool


def advice(word: str, known: Mapping[str, Told], rest: Sequence[str] = ()) -> str:
    """What to type in place of a word that is no command.

    Args:
        word: the word.
        known: the commands.
        rest: what follows; an id in it is put into the advice, so that the advice can be copied.
    """
    told = ADVICE.get(word.casefold())
    named = next(
        (
            one
            for before, one in zip(["", *rest], rest, strict=False)
            if not one.startswith("-")
            and "://" not in one
            and not (before.startswith("-") and one.isdecimal())
            and not _FILE.search(one)
        ),
        None,
    )
    if sure := _of_two(word.casefold(), rest):
        told, named = sure, None
    if told is not None:
        told = told if named is None else _PLACEHOLDER.sub(lambda _: shlex.quote(named), told)
        said = " ".join(one for one in rest[1:] if not one.startswith("-"))
        told = _TEXT.sub(lambda _: shlex.quote(said), told) if said else told
    elif " " in word.strip():
        text = shlex.quote(word)
        told = f"a question that was answered wrong: `memtrace why {text}`; any text: `memtrace search {text}`"
    elif _ID.fullmatch(word):
        told = f"say what to do with it: `memtrace show {word}`, `memtrace why {word}`"
    elif near := get_close_matches(word, [*known, *COMMAND_OF], 2, _LIKE):
        lines = [f"`{_line(one, known.get(COMMAND_OF.get(one, one)), rest)}`" for one in near]
        told = f"did you mean {' or '.join(lines)}?"
    elif named is not None and _ID.fullmatch(named):
        told = f"`memtrace show {named}` shows what it is; why an answer is wrong: `memtrace why {named}`"
    elif speak := _speak_of(word, known):
        told = "; ".join(f"`memtrace {one}`: {_sentence(known[one].help)}" for one in speak)
    else:
        told = "`memtrace help` lists all commands"
    return f"there is no command '{word}': {told}"


def _of_two(word: str, rest: Sequence[str]) -> str | None:
    """What to type in place of a noun and a verb, or of a word with an option, that say together what is meant."""
    if pair := advice_on(word, rest):
        return pair
    verb = rest[0].casefold() if rest else ""
    if word in _LISTEN and _FOLLOW & set(rest):
        return _LIVE
    if word in _USERS and verb in _ADD:
        return _PEOPLE
    if word in {"project", "projects"} and verb in _DELETE:
        return _PROJECT_GONE
    return None


def _line(command: str, told: Told | None, rest: Sequence[str]) -> str:
    """The command with the words that followed the mistyped one, if the command takes any."""
    takes = told is None or told.takes_words
    return shlex.join(["memtrace", command, *(one for one in rest if takes or one.startswith("-"))])


def _speak_of(word: str, known: Mapping[str, Told]) -> list[str]:
    """The commands whose help has the word; the earlier the word comes, the earlier the command."""
    wanted = _stem(word.casefold())
    found: list[tuple[int, str]] = []
    for command, told in known.items():
        stems = [_stem(one) for one in _WORD.findall(told.help.casefold()) if one not in _PLAIN]
        if wanted in stems:
            found.append((stems.index(wanted), command))
    return [command for _, command in sorted(found)[:_MOST]]


def _stem(word: str) -> str:
    return _ENDING.sub("", word) if len(word) > 4 else word


def _sentence(text: str) -> str:
    """The first sentence of a help, as a part of a longer sentence."""
    first = re.split(r"[.:]\s|\.$", text.strip(), maxsplit=1)[0]
    return first[:1].lower() + first[1:]
