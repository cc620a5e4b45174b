"""Reads a command line with the other names of options, which every command understands that has the option."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup

from api.cli.brought_along import both_named, brought_along
from api.cli.errors import UsageError, note
from api.cli.files import whole_file
from api.cli.ids_on_input import ids_in
from api.cli.kinds_meant import kind_meant
from api.cli.other_names import OTHER_NAMES
from api.cli.output_values import formats_of_output
from api.cli.said_filters import TAKE_VALUES, said_filter
from api.cli.selection import EVERYTHING, selection, taken

PLACES: Mapping[str, bool] = {
    name: has_value
    for option, has_value in (
        ("--store", True),
        ("--values", True),
        ("--project", True),
        ("--debug", False),
        ("--version", False),
        ("--help", False),
        ("-h", False),
        ("--install-completion", False),
        ("--show-completion", False),
    )
    for name in (option, *OTHER_NAMES.get(option, ()))
    if name != "-p"  # before `ui` it is the port
}
"""The options before the command, and whether each has a value."""

_NO_MODEL = {"--no-llm", "--no-model", "--without-llm", "--free", "--offline", "--local"}
_BY_MODEL = {"--llm", "--with-llm", "--use-llm", "--ai"}
_NAMES_ID = {"--id", "--ids", "--failure", "--answer", "--variable", "--unit"}
"""Options that name what a command takes as an argument."""
_COUNTS = {"--limit", "--count", *OTHER_NAMES["--limit"]}
_FAILED = {"--wrong", *OTHER_NAMES["--wrong"]}
"""Options of a list of operations that ask for operations with an error."""
_WAYS = {"--forward", "--backward"}
_TIMES = {"--today", "--yesterday"}
_DAYS = {"--on", "--day", "--date"}
_PLAIN = {"table", "text", "plain"}
"""How results are shown without an option."""
_LISTED = {"csv", "jsonl", "ndjson", "md", "markdown"}
"""The endings of files that say the format of a list."""
_FORMATS = {"md": "markdown", "markdown": "md", "text": "table", "plain": "table", "ndjson": "jsonl"}
"""Other names of formats."""
_PICTURES = {"svg", "png", "jpg", "jpeg", "pdf"}
_DRAWN = {f"--{one}" for one in _PICTURES} | {"--image", "--picture"}
_OUTPUT = ("-o", "--output", *OTHER_NAMES["--output"])
_TAKES_ID = re.compile(r"\b(?:ID|ANSWER|FAILURE|TRACE|WORDS)\b")
TRIES = "memtrace.tries"
"""In a context's ``meta`` while another command is tried with the same words, whose errors nobody reads."""
_ABOUT_THE_NEWEST = {"why", "why-not", "spine", "closure", "show", "trace", "check"}
"""Commands that show one thing, and without an id the newest of its kind."""
_CHOOSES = {
    *("--all", "--trace", "--search", "--type", "--operation", "--since", "--until", "--last"),
    *("--decided", "--undecided", "--labelled", "--unlabelled"),
}
"""Options of `memtrace why` that choose failures."""
_FILE = "memtrace.output"
_SELECTION = "memtrace.selection"
_STATES = ("wrong", "right", "unjudged", "decided", "undecided", "labelled", "unlabelled", "ended")
_FLAGS = {"--count", *(f"--{one}" for one in _STATES)}
_SAID = {"--since", "--until", "--by", "--sort", "--kind", "--type", "--trace"}
"""Options of listings that may be said without dashes: flags, and options with a value."""
_AGO = re.compile(r"[0-9]+[a-z]+")
_STATUSES = dict.fromkeys(("failed", "failure", "errors", "wrong", "bad"), "error") | dict.fromkeys(
    ("success", "succeeded", "done", "good", "passed"), "ok"
)
_DIGITS = 5
_SHOWN = 3
"""So many other names of an option stand in the help of a command."""
_LIKE = 0.85
_NUMBER = re.compile(r"-([a-z]?)([0-9]+)")
_SEVERAL = -1


def spelled(
    words: Sequence[str],
    options: Mapping[str, bool],
    formats: Sequence[str] = (),
    *,
    stop: bool = False,
    takes_id: bool = False,
) -> list[str]:
    """The words, with each other name of an option replaced by the name that the command knows.

    Args:
        words: the words after the command.
        options: the names of the command's options, and whether each has a value.
        formats: the values of the command's option ``--format``.
        stop: whether the options end at the first word that is none, as before a command.
        takes_id: whether an id may follow the command without the name of an option.
    """
    result: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--" or (stop and not word.startswith("-")):
            return [*result, word, *rest]
        if not word.startswith("-") or word == "-":
            result.append(word)
            continue
        number = _NUMBER.fullmatch(word)
        if number and "--limit" in options and number[1] in {"", "n"}:
            result += ["--limit", number[2]]
            continue
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name not in options and (found := said_filter(name, value, rest, options)) is not None:
            result += [kind_meant(one) if before == "--kind" else one for before, one in pairwise(["", *found])]
            continue
        known = name if name in options else _known(name, options)
        if name == "--last" and "--since" in options and _AGO.fullmatch(value or next(iter(rest), "")):
            known = "--since"  # `--last 7d`
        if known is None and takes_id and name in _NAMES_ID and (equals or rest):
            result.append(value if equals else rest.pop(0))
            continue
        if known is None:
            meant = _flag(name, value, rest, options, formats)
            result += [word] if meant is None else meant
        elif known == "--count" and "--limit" in options and (value or (rest[:1] and rest[0].isdecimal())):
            result += ["--limit", value or rest.pop(0)]
        elif options[known]:
            value = value if equals else rest.pop(0) if rest else ""
            has_value = bool(equals or value)
            value = kind_meant(value) if known == "--kind" else value
            value = _STATUSES.get(value.casefold(), value) if known == "--status" else value
            if known == "--format" and value not in formats and _FORMATS.get(value) in formats:
                value = _FORMATS[value]
            result += [known, value] if has_value else [known]
        else:
            result.append(known + equals + value)
    return result


def options_in_words(words: Sequence[str], options: Mapping[str, bool]) -> list[str]:
    """The words of a listing, with its filters as options: ``today``, ``undecided``, ``since 2h``, ``5``.

    ``--search`` looks for such a word.
    """
    result: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name = f"--{word.casefold()}"
        known = name if name in options else _known(name, options)
        if word == "--":
            return [*result, word, *rest]
        if word.startswith("-"):
            result.append(word)
            has_value = options.get(word if word in options else _known(word, options) or "") or word in TAKE_VALUES
            if has_value and rest:
                result.append(rest.pop(0))
        elif known in _FLAGS or name in _TIMES or (name in _FAILED and "--status" in options):
            result.append(name)
        elif known in _SAID and options[known] and rest and not rest[0].startswith("-"):
            result += [name, rest.pop(0)]
        elif word.isdecimal() and len(word) < _DIGITS and not result and not rest:
            result += ["--limit", word]
        else:
            result.append(word)
    return result


def _known(name: str, options: Mapping[str, bool]) -> str | None:
    """The option of a command that a word names by another name."""
    return next((option for option, names in OTHER_NAMES.items() if name in names and option in options), None)


def _flag(
    name: str, value: str, rest: list[str], options: Mapping[str, bool], formats: Sequence[str]
) -> list[str] | None:
    """A format as a flag or as a value, the last so many, or more to see; None for any other option."""
    if (brought := brought_along(name, value, rest, options)) is not None:
        return brought
    if name in _COUNTS and name not in options and "--json" in options and (value or (rest[:1] and rest[0].isdigit())):
        del rest[: 0 if value else 1]
        note(f"{name} is not needed: everything is shown.")
        return []
    if name == "-k" and "--search" in options and rest:
        return [rest.pop(0)]  # as with -k of pytest, the value is read like a plain word
    if name in _FAILED and "--status" in options:
        return ["--status", "error"]
    if name in _WAYS and "--direction" in options:
        return ["--direction", name.removeprefix("--")]
    if name in _TIMES and "--since" in options:
        day = name.removeprefix("--")
        return ["--since", day, "--until", day]
    if name in _DAYS and "--since" in options and (value or rest):
        day = value or rest.pop(0)
        return ["--since", day, "--until", day]
    if name in _NO_MODEL and "--method" in options:
        return ["--method", "flow"]
    if name in _BY_MODEL and "--method" in options:
        return ["--method", "llm"]
    if (name == "--all" or (name in {"-a", "-A"} and "--count" in options)) and "--limit" in options:
        return ["--limit", "0"]
    if (said := _format_said(name, value, rest, options, formats)) is not None:
        return said
    given = value or (rest[0] if rest else "")
    if name in {"--format", "-f"} and (f"--{given}" in options or (given in _PLAIN and "--json" in options)):
        del rest[: 0 if value else 1]
        return [f"--{given}"] if f"--{given}" in options else []
    return None


def _format_said(
    name: str, value: str, rest: list[str], options: Mapping[str, bool], formats: Sequence[str]
) -> list[str] | None:
    """A format as an option, with the file that may follow: ``--csv``, ``--html report.html``."""
    form = name.removeprefix("--")
    form = form if form in formats else _FORMATS.get(form, form)
    if form not in formats:
        return None
    file = value or (rest[0] if rest and "--output" in options else "")
    if file and Path(file).suffix.removeprefix(".") in {form, name.removeprefix("--")}:
        del rest[: 0 if value else 1]
        return ["--format", form, "--output", file]
    return ["--format", form]


def options_of(command: Any, context: Any) -> dict[str, bool]:
    """The options of a command, and whether each has a value."""
    return {
        name: not (one.is_flag or one.count)
        for one in command.get_params(context)
        if one.param_type_name == "option"
        for name in (*one.opts, *one.secondary_opts)
    }


def _formats(command: Any, context: Any) -> list[str]:
    """The values of the command's option ``--format``."""
    kinds = [one.type_descriptor.annotation for one in command.get_params(context) if "--format" in one.opts]
    return [str(form) for kind in kinds if isinstance(kind, type) and issubclass(kind, StrEnum) for form in kind]


class Command(TyperCommand):
    """A command that knows other names of its options, reads ids from standard input, and says what it has."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        own = {name for one in self.params for name in one.opts}
        for one in self.params:
            others = [other for name in one.opts for other in OTHER_NAMES.get(name, ()) if other not in own]
            help_ = getattr(one, "help", None)
            if others and help_ and not getattr(one, "hidden", False):
                one.help = f"{help_} (also {', '.join(others[:_SHOWN])})"  # type: ignore[attr-defined]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words after the command."""
        options = options_of(self, ctx)
        args = formats_of_output(self.name or "", args, options)
        is_top = ctx.parent is not None and ctx.parent.parent is None
        args = both_named(self.name or "", args, options) if is_top else args
        if "--json" in options and "--output" not in options:
            args = self._to_file(ctx, args, options)
        if "csv" in _formats(self, ctx):
            args, ctx.meta[_SELECTION] = taken(args)
        parameters = self.get_params(ctx)
        if "--count" in options and not any(one.param_type_name == "argument" and one.required for one in parameters):
            args = options_in_words(args, options)
        takes_id = any(_is_id(one) for one in parameters)
        args = spelled(args, options, _formats(self, ctx), takes_id=takes_id)
        args = _with_ids(parameters, args, options)
        if is_top and self.name in _ABOUT_THE_NEWEST and not ctx.resilient_parsing:
            args = _with_newest(self.name or "", args, options)
        return _parsed(self, ctx, super().parse_args, args)

    def _to_file(self, ctx: Any, args: list[str], options: Mapping[str, bool]) -> list[str]:
        """The words without ``-o FILE``; the ending of the file says the format."""
        for at, word in enumerate(args):
            if word == "--":
                break
            if (
                (word in _OUTPUT or word in _DRAWN)
                and word not in options
                and at + 1 < len(args)
                and not (at and options.get(args[at - 1]))
            ):
                file = Path(args[at + 1])
                form = file.suffix.lower().removeprefix(".")
                if form in _PICTURES or word in _DRAWN:
                    return [*args[:at], *self._picture(file, args, options), *args[at + 2 :]]
                is_said = any(one.startswith(("--format", "--json", "--csv", "--m", "-f")) for one in args)
                ctx.meta[_FILE] = file
                is_known = not is_said and (form == "json" or (form in _LISTED and "--format" in options))
                return [*args[:at], *([f"--{form}"] if is_known else []), *args[at + 2 :]]
        return args

    def _picture(self, file: Path, args: Sequence[str], options: Mapping[str, bool]) -> list[str]:
        """The option that draws into a file; a command without it would write a text into a file of pictures."""
        if "--svg" in options and file.suffix.lower() == ".svg":
            return ["--svg", str(file)]
        id_ = next((one for one in args if not one.startswith("-") and one != str(file)), "ID")
        raise UsageError(
            f"`memtrace {self.name}` draws no picture: `memtrace spine {id_} --svg {file.with_suffix('.svg')}` draws "
            "the past of a wrong answer; the web page of a graph saves one as SVG or PNG: `memtrace ui`"
        )

    def invoke(self, ctx: Any) -> Any:
        """Run the command; with ``-o FILE``, its output goes into the file."""
        token = selection.set(ctx.meta.get(_SELECTION, EVERYTHING))
        try:
            return self._run(ctx)
        finally:
            selection.reset(token)

    def _run(self, ctx: Any) -> Any:
        if _FILE not in ctx.meta:
            return super().invoke(ctx)
        with whole_file(ctx.meta[_FILE]) as file, redirect_stdout(io.TextIOWrapper(file, "utf-8")) as out:
            try:
                result = super().invoke(ctx)
                out.flush()
            finally:
                out.detach()
        return result


class Group(TyperGroup):
    """A group of commands that knows other names of its options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words after the group's name."""
        args = spelled(args, options_of(self, ctx), _formats(self, ctx), stop=True)
        return _parsed(self, ctx, super().parse_args, args)


def _is_id(parameter: Any) -> bool:
    """Whether a parameter is an argument that takes ids."""
    return parameter.param_type_name == "argument" and _TAKES_ID.search(parameter.metavar or "") is not None


def _with_ids(parameters: Iterable[Any], words: list[str], options: Mapping[str, bool]) -> list[str]:
    """The words, with the ids on standard input in place of ``-``: a JSON list, CSV, or the first words of lines."""
    takes = [one for one in parameters if _is_id(one)]
    at = next((at for at, word in enumerate(words) if word == "-" and not (at and options.get(words[at - 1]))), None)
    if at is None or not takes or sys.stdin.isatty():
        return words
    ids = ids_in(sys.stdin.read())
    if not ids:
        raise UsageError("- reads ids from standard input, one a line, and there are none")
    if len(ids) > 1 and takes[0].nargs != _SEVERAL:
        raise UsageError("standard input has several ids, and this command takes one; try: memtrace why -")
    return [*words[:at], *ids, *words[at + 1 :]]


def _with_newest(name: str, words: list[str], options: Mapping[str, bool]) -> list[str]:
    """The words, with ``last`` where no id is given; a note says so."""
    asks = {"-h", "--help"} & set(words)
    chooses = name == "why" and any(word in _CHOOSES for word in words)
    is_given = any(
        (not word.startswith("-") and not (at and options.get(words[at - 1]))) or word == "-"
        for at, word in enumerate(words)
    )
    if asks or chooses or is_given:
        return words
    note(f"No id is given; shown is the newest: memtrace {name} last.")
    return [*words, "last"]


def _parsed(command: Any, context: Any, parse: Callable[[Any, list[str]], list[str]], words: list[str]) -> list[str]:
    """Parse, and add to an error what helps: the options that there are, or where to find an id."""
    given = list(words)  # the parser takes the words out of the list
    try:
        return parse(context, words)
    except Exception as error:
        if TRIES in context.meta:
            raise
        from api.cli.option_advice import say_more

        say_more(command, context, error, given)
        raise
