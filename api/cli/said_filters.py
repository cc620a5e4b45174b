"""Filters in the forms of other tools: ``--status failed``, ``--where "type = 'retrieval'"``, ``--in messages``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from api.cli.errors import UsageError, note

_STATES = {"--status", "--state"}
_WHERE = {"--where", "--filter", "--query", "-w"}
_IN = {"--in", "--among"}
TAKE_VALUES = _STATES | _WHERE | _IN
"""Filters of other tools that have a value."""
_OF_STATES: tuple[tuple[tuple[str, ...], frozenset[str]], ...] = (
    (
        ("--wrong",),
        frozenset(("wrong", "failed", "failure", "failures", "error", "errors", "incorrect", "bad", "fail")),
    ),
    (("--right",), frozenset(("right", "ok", "correct", "good", "passed", "success", "pass", "true"))),
    (
        ("--unjudged", "--undecided"),
        frozenset(("open", "unjudged", "new", "pending", "unmarked", "undecided", "unresolved", "unexplained")),
    ),
    (("--decided",), frozenset(("decided", "closed", "resolved", "attributed", "explained", "done", "fixed"))),
    (("--labelled",), frozenset(("labelled", "labeled", "reviewed", "confirmed", "verified"))),
    (("--unlabelled",), frozenset(("unlabelled", "unlabeled", "unreviewed", "unconfirmed"))),
    (("--ended",), frozenset(("ended", "deleted", "gone", "removed", "forgotten", "inactive"))),
)
"""The options for each state, and the words for it; a command takes the first that it has."""
_ALL_ARE = "--all-verdicts"
"""Only the list of failures has this option: all failures are wrong answers."""
_CONDITION = re.compile(r"([A-Za-z_.-]{1,40})\s*(==?|:)\s*(?:'([^']*)'|\"([^\"]*)\"|([^\s'\",]+))")
_AND = re.compile(r"\s++(?:and|AND|&&?)\s+|\s*+,\s*")
_EXPRESSION = re.compile(r"\s*[A-Za-z_.-]{1,40}\s*(?:[=<>~!]=?)\s*\S")
_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("fault", "cause", "type", "error", "errortype", "error_type", "verdict"), "--type"),
    "kind": "--kind",
    **dict.fromkeys(("user", "trace", "run", "name", "person", "session", "trace_id"), "--trace"),
    **dict.fromkeys(("operation", "op", "step"), "--operation"),
    **dict.fromkeys(("status", "state"), "--status"),
    **dict.fromkeys(("author", "judge"), "--author"),
    **dict.fromkeys(("text", "question", "answer", "content"), "--search"),
}
"""The options for the names in conditions."""


def said_filter(name: str, value: str, rest: list[str], options: Mapping[str, bool]) -> list[str] | None:
    """The options of a list that a filter of another tool means; None if it is none.

    Args:
        name: the option, which the command does not have itself.
        value: what stands behind ``=``.
        rest: the words behind the option; a value of the option is taken out.
        options: the options of the command, and whether each has a value.

    Raises:
        UsageError: the value is a state or a condition that the list does not know.
    """
    given = value or next(iter(rest), "")
    if not given or "--count" not in options or name not in _STATES | _WHERE | _IN:
        return None
    found: list[str] | None
    if name in _STATES:
        found = of_state(name, given, options)
    elif name in _IN:
        found = ["--kind", given] if "--kind" in options else None
    elif _EXPRESSION.match(given) or _names_a_key(given):
        found = _of_conditions(name, given, options)
    else:
        return None
    if found is not None and not value:
        del rest[0]
    return found


def _names_a_key(text: str) -> bool:
    """Whether a text begins with something that lists are filtered by and a colon, as ``type:retrieval`` does."""
    match = _CONDITION.match(text.strip())
    return match is not None and match[2] == ":" and match[1].casefold().replace("-", "_") in _KEYS


def of_state(name: str, said: str, options: Mapping[str, bool]) -> list[str]:
    """The option of a list for a state, such as ``--wrong``; nothing if all that is listed is in it.

    Raises:
        UsageError: the list has no such state.
    """
    word = said.casefold()
    for names, words in _OF_STATES:
        if word in words:
            if "--wrong" in names and _ALL_ARE in options:
                note(f"{name} {said} is not needed: all that is listed is wrong.")
                return []
            if known := next((one for one in names if one in options), None):
                return [known]
    there = [one for names, _ in _OF_STATES for one in names if one in options]
    told = f"it has {', '.join(there)}" if there else "`memtrace answers` has --wrong, --right and --unjudged"
    raise UsageError(f"{name} {said}: the list knows no such state; {told}")


def _of_conditions(name: str, text: str, options: Mapping[str, bool]) -> list[str]:
    """The options for conditions such as ``type = 'retrieval' and user = 'ann'``.

    Raises:
        UsageError: a condition is no equality of something that the list is filtered by.
    """
    found: list[str] = []
    text, at = text.strip(), 0
    while at < len(text):
        match = _CONDITION.match(text, at)
        end = match.end() if match else len(text)
        following = _AND.match(text, end)
        if end < len(text) and following is None:
            match = None
        key = _KEYS.get(match[1].casefold().replace("-", "_")) if match else None
        said = next((one for one in (match[3], match[4], match[5]) if one is not None), "") if match else ""
        if key == "--status" and key not in options:
            found += of_state(key, said, options)
        elif key is not None and key in options:
            found += [key, said]
        else:
            there = ", ".join(sorted(one for one in set(_KEYS.values()) if one in options))
            such_as = "--type retrieval" if "--type" in options else "`memtrace failures --type retrieval`"
            part = text[at : end if match else None]
            raise UsageError(
                f"{name}: the list is not filtered by {part!r}. It has {there}; by the cause of wrong answers: "
                f"{such_as}; anything else: `memtrace sql QUERY`, over what `memtrace tables` lists"
            )
        at = following.end() if following else len(text)
    return found
