"""Options of other tools: those that change nothing here, such as colours and paging, and names of what is compared."""

from __future__ import annotations

import os
from collections.abc import Mapping

from api.cli.errors import note
from api.cli.other_names import OTHER_NAMES

_EVERYTHING_IS_SHOWN = {
    *("--verbose", "-v", "--details", "--full", "--explain", "--raw", "--alternatives", "--candidates", "--reasons"),
    *(
        "--long",
        "-l",
        "--wide",
        "--no-trunc",
        "--no-truncate",
        "--no-wrap",
        "--oneline",
        "--short",
        "--pretty",
        "--stat",
    ),
}
_NO_COLOURS = {"--no-color", "--no-colour", "--no-colors", "--plain"}
_COLOURS = {"--color", "--colour", "--colors"}
_WHEN = dict.fromkeys(("always", "auto", "yes", "true"), True) | dict.fromkeys(("never", "no", "false"), False)
"""The values of ``--color``, and whether there are colours."""
_NO_PAGER = {"--no-pager", "--no-progress", "--no-input", "--non-interactive", "--batch"}
_ANY_CASE = {"-i", "--ignore-case", "-F", "--fixed-strings"}
_OF_CHANGES = {"--yes", "-y", "--force", "--dry-run", "--no-confirm"}
_WRONG = {"--wrong", *OTHER_NAMES["--wrong"]}
"""What all failures are."""
_RISING = {"--asc", "--ascending"}


_FIRST = {"--baseline", "--base", "--before", "--old", "--left", "--first", "--from", "-a", "--a"}
_SECOND = {"--candidate", "--after", "--new", "--right", "--second", "--to", "-b", "--b", "--with", "--against"}
_OF_TWO = {"compare", "diff", "path"}
"""Commands about two things."""


def both_named(command: str, words: list[str], options: Mapping[str, bool]) -> list[str]:
    """``compare --baseline A --candidate B``: the two things in their order, whatever the options are called."""
    if command not in _OF_TWO:
        return words
    first: list[str] = []
    second: list[str] = []
    rest: list[str] = []
    left = list(words)
    while left:
        word = left.pop(0)
        name, equals, value = word.partition("=")
        into = first if name in _FIRST else second if name in _SECOND else None
        if into is None or name in options or not (equals or left):
            rest.append(word)
        else:
            into.append(value if equals else left.pop(0))
    return [*first, *second, *rest] if first else [*rest, *second]


def brought_along(name: str, value: str, rest: list[str], options: Mapping[str, bool]) -> list[str] | None:
    """What an option of another tool becomes: nothing, or other options; None if it is none of these.

    Args:
        name: the option, which the command does not have.
        value: what stands behind ``=``.
        rest: the words behind the option; a value of the option is taken out.
        options: the options of the command, and whether each has a value.
    """
    if name in _EVERYTHING_IS_SHOWN and "--json" in options:
        note(f"{name} is not needed: everything is shown; --json has every field.")
        return []
    if name in _COLOURS:
        said = value or (rest.pop(0) if rest and rest[0] in _WHEN else "")
        if said not in _WHEN and (said or (rest and not rest[0].startswith("-"))):
            return None  # what follows would be read as a word to look for
        name = "--no-color" if _WHEN.get(said) is False else name
    if name in _NO_COLOURS:
        os.environ["NO_COLOR"] = "1"
    if name in _COLOURS | _NO_COLOURS | _NO_PAGER:
        return []
    if name in _OF_CHANGES and "--count" in options:
        note(f"{name} is not needed: a list changes nothing.")
        return []
    if name in _ANY_CASE and "--search" in options:
        note(f"{name} is not needed: words are found in any case of letters.")
        return []
    if (name in _RISING and "--sort" in options) or (name in _WRONG and "--all-verdicts" in options):
        return []
    return None
