"""What to type in place of an option or a word that a command does not take."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from difflib import get_close_matches
from io import StringIO
from itertools import pairwise
from typing import Any

import typer

from api.cli.aliases import COMMAND_OF
from api.cli.errors import UsageError
from api.cli.help import EXAMPLES, PANELS
from api.cli.option_names import TRIES, options_of
from api.cli.other_names import OTHER_NAMES
from api.cli.selection import COLUMNS

FORMATS = ("table", "json", "jsonl", "csv", "markdown")
"""How a list can be printed."""
_ADVICE: Mapping[str, str] = {
    "--gold": "Right answers from a file mark what was answered wrong: `memtrace fail --file gold.csv`; one: "
    '`memtrace fail ID "the right answer"`; answers are judged while a program runs by `memtrace evaluate`',
    "--k": "How many a search should return is in `memtrace report`, under what to change first",
    "--model": "A model is named by MEMTRACE_LLM_BASE_URL and MEMTRACE_LLM_MODEL, and asked by "
    "`memtrace why ID --method walk`",
    "--provider": "A server is named by MEMTRACE_LLM_BASE_URL, a model by --model NAME",
    "--fail-under": "The share of wrong answers is in `memtrace report --json`; a worse run fails: "
    "`memtrace compare BEFORE AFTER --fail-on-regression`",
    "--html": "A page of one failure is `memtrace report ID -o report.html`",
    "--csv": "Lists can be CSV: `memtrace answers --format csv`, `memtrace failures --format csv`",
    **dict.fromkeys(
        ("--follow", "--watch", "--live", "--tail", "-w"),
        "Steps as they are recorded: `memtrace follow`; the same as web pages: `memtrace ui`",
    ),
    **dict.fromkeys(
        ("--offset", "--skip", "--page", "--start-at"),
        "A list is cut with --limit N, the first, or --last N; --limit 0 lists all",
    ),
    **dict.fromkeys(
        ("--team", "--group"),
        "A key opens one project, --project NAME; what it is for: --name NAME; whose: --person NAME",
    ),
    **dict.fromkeys(("--yaml", "--tsv", "--xml"), f"The formats are {', '.join(FORMATS)}: `memtrace answers --json`"),
    **dict.fromkeys(
        ("--no-header", "--no-headers", "--noheader", "--no-header-row"),
        "Only the ids, without a header: --ids; an object a line: --format jsonl",
    ),
    **dict.fromkeys(
        ("-d", "--detach", "--daemon", "--background"), "What runs until Ctrl-C runs behind with & at the end"
    ),
    **dict.fromkeys(
        ("--tag", "--tags", "--label", "--labels"), "Nothing has tags: a part of a text or name is found by --search"
    ),
    **dict.fromkeys(COLUMNS, "Lists have it: `memtrace answers --columns id,question,verdict`"),
}
"""What to do in place of options that no command has."""
_BESIDES: Mapping[str, str] = {
    "benchmark": (
        ". How far a method agrees with the people who judged this project: `memtrace agreement flow ann`; how many of "
        "its answers are wrong, and why: `memtrace report`"
    ),
}
"""What else may be meant by a command whose argument is missing."""
_LEFT_OUT = ("--not-", "--exclude", "--except", "--without-", "--ignore", "--invert")
_LIKE = 0.85
_MOST_LINES = 2
_READS = {*PANELS["Ask why an answer is wrong"], *PANELS["Look at what was recorded"]}
"""The commands that show something and change nothing but verdicts."""
_OF_VALUES = {"search", "show", "trace", "why", "versions", "closure"}
"""The commands that an option with a value may mean: what they do with the value is clear."""
_LISTED = {"csv", "jsonl", "ndjson", "markdown"}
"""The formats that lists have."""
_EXTRA = "unexpected extra argument"


def say_more(command: Any, context: Any, error: Exception, words: Sequence[str]) -> None:
    """Raise a clearer error than the parser's, if one is known.

    Args:
        command: the command that was called.
        context: of the call.
        error: of the parser.
        words: what followed the command.
    """
    # Typer does not export the classes of these errors.
    if hasattr(error, "option_name") and hasattr(error, "possibilities"):
        _tell_options(command, context, error, words)
    elif isinstance(error, typer.BadParameter) and error.param is not None and error.message:
        if "--format" in error.param.opts and _LISTED & set(words):
            line = shlex.join(["memtrace", "answers", *words])
            raise UsageError(
                f"tables are made of lists, such as: `{line}`; failures, units and others are, too"
            ) from None
        if "--format" in error.param.opts:
            known = ", ".join(FORMATS) if "--ids" in options_of(command, context) else "those of `--help`"
            raise UsageError(f"--format: there is no such format; there is {known}") from None
    elif isinstance(error, typer.BadParameter) and error.param is not None:
        _tell_ids(command, error.param.metavar or "")
        _tell_missing(command, context, error.param)
    elif _EXTRA in str(getattr(error, "message", "")) and context.parent is not None:
        _tell_words(command, context, error)


def _tell_options(command: Any, context: Any, error: Any, words: Sequence[str]) -> None:
    """Say which option may be meant, which there are, or behind which command the option stands."""
    names = _names(command, context)
    near = get_close_matches(error.option_name, names, 1, _LIKE)
    error.possibilities = []
    if context.parent is not None:
        here = context.command_path.split(" ", 1)[-1]
        told = f"Did you mean {near[0]}? " if near else ""
        if not near and (more := _instead(command, context, error.option_name, words)):
            told = f"{more}. "
        raise UsageError(
            f"`memtrace {here}` has no option {error.option_name}. {told}It has {_listed(names)}"
        ) from None
    having = _having(error.option_name, context)
    error.message += f". It belongs behind a command: {having}" if having else ""


def _instead(command: Any, context: Any, option: str, words: Sequence[str]) -> str:
    """What to type in place of an option: the line with a command that takes it, or a command of that name."""
    if option in _ADVICE:
        return _ADVICE[option]
    if said := _other_store(option, words):
        return said
    if option.startswith(_LEFT_OUT):
        return "No filter leaves something out; SQL can: `memtrace sql QUERY`, over what `memtrace tables` lists"
    among = _READS if command.name in _READS else None
    alike = among or next((set(names) for names in PANELS.values() if command.name in names), set())
    for some in (alike, _READS):
        if lines := _lines(option, context.find_root(), some, words):
            return f"{' or '.join(lines)} has it"
    if line := _command_of(option, context, words):
        return f"That is a command: `{line}`"
    having = _having(option, context.find_root(), among)
    if having:
        return f"Others have it: {having}"
    return "No command that lists or shows has it" if among else "No command has it"


def _command_of(option: str, context: Any, words: Sequence[str]) -> str:
    """The line of the command that is called like an option, if it changes nothing and takes the words beside it."""
    name = COMMAND_OF.get(option.lstrip("-"), option.lstrip("-"))
    after = list(words[words.index(option) + 1 :][:1]) if option in words else []
    is_valued = bool(after) and not after[0].startswith("-")
    if name not in (_OF_VALUES if is_valued else _READS | {"ui", "config", "version", "stats", "doctor", "help"}):
        return ""
    from typer.main import get_command

    from api.cli.main import command_line

    root: Any = get_command(command_line())
    rest = [word for word in words if not word.startswith("-")]
    takes = _takes(root.get_command(context.find_root(), name), context.find_root(), name, rest)
    return shlex.join(["memtrace", name, *rest]) if takes else ""


def _other_store(option: str, words: Sequence[str]) -> str:
    """How to name a store, or to copy a trace there, in place of an option whose value is the URI of one."""
    after = words[words.index(option) + 1 :] if option in words else ()
    value = next(iter(after), "") or next((one.partition("=")[2] for one in words if one.startswith(f"{option}=")), "")
    if "://" not in value:
        return ""
    uri = shlex.quote(value)
    return (
        f"A store is named with --store {uri}; a trace goes there as a file: `memtrace export TRACE -o trace.json`, "
        f"then `memtrace import trace.json --store {uri}`"
    )


def _lines(option: str, context: Any, among: set[str], words: Sequence[str]) -> list[str]:
    """The whole command lines that have an option and take all words beside it as they are."""
    from typer.main import get_command

    from api.cli.main import command_line

    root: Any = get_command(command_line())
    found: list[str] = []
    for name in root.list_commands(context) if "-" not in words else ():
        one = root.get_command(context, name)
        is_meant = name in among and not hasattr(one, "commands")
        if (
            is_meant
            and _has(one, context, option)
            and _takes(one, context, name, words)
            and _names_columns(name, words)
        ):
            found.append(f"`{shlex.join(['memtrace', name, *words])}`")
    return found[:_MOST_LINES]


def _names_columns(name: str, words: Sequence[str]) -> bool:
    """Whether the columns in ``--by`` and ``--sort`` are columns of the list that a command prints, as far as known."""
    from api.cli.columns import is_column

    return all(is_column(name, value, option) for option, value in pairwise(words) if option in {"--by", "--sort"})


def _has(command: Any, context: Any, option: str) -> bool:
    names = options_of(command, context).keys()
    return any(one in names for one in (option, *(name for name, others in OTHER_NAMES.items() if option in others)))


def _takes(command: Any, context: Any, name: str, words: Sequence[str]) -> bool:
    """Whether a command can be called with these words."""
    context.meta[TRIES] = True
    try:
        with redirect_stderr(StringIO()), command.make_context(name, list(words), parent=context):
            return True
    except Exception:  # the parser's own errors, whose classes Typer does not export
        return False
    finally:
        del context.meta[TRIES]


def _names(command: Any, context: Any) -> list[str]:
    shown = [one for one in command.get_params(context) if one.param_type_name == "option" and not one.hidden]
    return [name for one in shown for name in (*one.opts, *one.secondary_opts) if name.startswith("--")]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(name for name in names if name != "--help") or "no options of its own"


def _having(option: str, context: Any, among: set[str] | None = None) -> str:
    """Some commands that have this option, with the option.

    Args:
        option: the option.
        context: of the whole command line.
        among: the commands that may be named; None for all.
    """
    from typer.main import get_command

    from api.cli.main import command_line

    root: Any = get_command(command_line())
    meant = {option, *(name for name, others in OTHER_NAMES.items() if option in others)}
    found: list[str] = []
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        inner = [(f"{name} {sub}", one) for sub, one in getattr(command, "commands", {}).items()]
        for line, one in [(name, command), *inner]:
            if among is None or name in among:
                found += [f"`memtrace {line} {option}`" for option in meant & options_of(one, context).keys()]
    return ", ".join(found[:3])


def _tell_ids(command: Any, wanted: str) -> None:
    """Say where the missing id is to be found."""
    name = command.name
    for words, where in (("TRACE", "traces"), ("ID", "answers"), ("ANSWER", "answers"), ("FAILURE", "failures")):
        if words in wanted:
            several = sum(words in (one.metavar or "") for one in command.params if one.param_type_name == "argument")
            if several > 1:
                told = f"needs two {where}: `memtrace {where}` lists them; more: `memtrace help {name}`"
                raise UsageError(f"`memtrace {name}` {told}") from None
            told = f"`memtrace {where}` lists them; the newest: memtrace {name} last"
            raise UsageError(f"`memtrace {name}` needs the id of one: {told}") from None


def _tell_missing(command: Any, context: Any, missing: Any) -> None:
    """Say what a missing argument is, with an example of the command."""
    here = context.command_path.split(" ", 1)[-1]
    wanted = (missing.metavar or missing.name or "").strip("[]{}.… ")
    here = COMMAND_OF.get(here, here)
    such_as = f", such as: {EXAMPLES[here]}" if here in EXAMPLES else f"; more: `memtrace help {here}`"
    told = (missing.help or "").split(". ")[0].rstrip(".")
    more = _BESIDES.get(here, "")
    raise UsageError(f"`memtrace {here}` needs {wanted}{f' ({told})' if told else ''}{such_as}{more}") from None


def _tell_words(command: Any, context: Any, error: Any) -> None:
    """Say that a command takes fewer words, and what it has instead."""
    here = context.command_path.split(" ", 1)[-1]
    extra = error.message.partition("(")[2].partition(")")[2].strip().strip("()") or error.message
    has_words = any(one.param_type_name == "argument" for one in command.params)
    takes = f"takes fewer words: {extra!r} is too much" if has_words else f"takes no words such as {extra!r}"
    raise UsageError(f"`memtrace {here}` {takes}. It has {_listed(_names(command, context))}") from None
