"""The columns of the lists, under the names that people give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

TIMES = frozenset({"time", "date", "when", "created", "timestamp", "recorded", "age"})
"""Names for the column with the time of a thing."""

_LOST = dict.fromkeys(("losses", "lost", "loss", "errors", "wrong", "mistakes"), "failed")
_LOST_BY_PROMPTS = dict.fromkeys(("losses", "lost", "lostanswers", "loss", "errors", "wrong", "failed"), "failures")
_TYPE = {"type": "verdict", "error": "verdict", "who": "author", "judge": "author", "person": "author"}
_ANSWER = {"type": "verdict", "error": "verdict", "answer": "preview", "text": "preview", "judged": "failure"}
_TEXT = {"text": "preview"}

_CAUSE = dict.fromkeys(("cause", "fault", "reason", "failuretype"), "errorType")
_OF_TRACE = {"trace": "traceId", "user": "traceId", "run": "traceId", "session": "sessionId"}

OTHERS: Mapping[str, Mapping[str, str]] = {
    "failures": _TYPE | _CAUSE | {"failure": "id"},
    "blame": _LOST | {"right": "passed", "suspicion": "score", "trace": "traceId"},
    "prompts": _LOST_BY_PROMPTS | {"used": "recorded", "answers": "failures", "type": "errorTypes", "prompt": "name"},
    "traces": {"trace": "name"},
    "sessions": {"session": "name"},
    "answers": _ANSWER,
    "operations": dict.fromkeys(("latency", "elapsed", "seconds", "took", "runtime", "slowest"), "duration")
    | {"started": "startedAt"},
    "search": {"id": "variableId", "text": "snippet", "name": "externalId", "trace": "traceId"},
    **dict.fromkeys(("variables", "units", "messages"), _TEXT),
}
"""Other names of the columns of each list."""

COUNTS_OF_TRACES: Mapping[str, str] = {
    f"{label.lower()}s": label for label in ("Session", "Operation", "Variable", "Derivation", "Failure")
}
"""What ``memtrace traces`` counts of each trace, by the name of the column."""

_NO_TIME = {"blame", "prompts", "search"}


def column_meant(name: str, columns: Sequence[str], others: Mapping[str, str], time: str | None) -> str | None:
    """The column that a word means; None if the list has none of this name.

    Args:
        name: the word.
        columns: the columns of the list.
        others: other names of columns.
        time: the column with the time; None if things have none.
    """
    known = {one.casefold(): one for one in columns}
    plain = name.replace("-", "").replace("_", "").replace(" ", "").casefold()
    if plain in known:
        return known[plain]
    meant = others.get(plain) or known.get(_OF_TRACE.get(plain, "").casefold())
    return meant or (time if plain in TIMES else None)


def like(name: str, columns: Sequence[str]) -> str | None:
    """The column whose name is written most like a word; None if none is."""
    known = {one.casefold(): one for one in columns}
    near = get_close_matches(name.replace("-", "").replace("_", "").casefold(), known, 1)
    return known[near[0]] if near else None


def is_column(command: str, name: str, option: str) -> bool:
    """Whether a word in ``--by`` or ``--sort`` means a column of the list that a command prints.

    What ``memtrace blame`` ranks are no columns: its own option checks the word. Of commands that print no list of a
    project's graph nothing is known, and the answer is yes.
    """
    if command == "blame" and option == "--by":
        return True
    from api.cli.times import PERIODS

    columns = _columns_of(command)
    if option == "--by" and name.casefold() in PERIODS and columns is not None:
        return command not in _NO_TIME
    if command == "operations" and option == "--sort" and OTHERS[command].get(name, name) == "duration":
        return True
    if command == "traces" and option == "--sort" and name.casefold() in COUNTS_OF_TRACES:
        return True
    time = None if command in _NO_TIME else "time"
    return columns is None or column_meant(name, columns, OTHERS.get(command, {}), time) is not None


def _columns_of(command: str) -> Sequence[str] | None:
    from api.cli import documents
    from schema.models import Operation, Session, Variable, public_names

    lists: Mapping[str, Sequence[str]] = {
        "answers": documents.ANSWER_COLUMNS,
        "blame": documents.BLAMED_COLUMNS,
        "failures": documents.FAILURE_ROW_COLUMNS,
        "messages": public_names(Variable),
        "operations": public_names(Operation),
        "prompts": documents.PROMPT_COLUMNS,
        "search": documents.HIT_COLUMNS,
        "sessions": public_names(Session),
        "traces": documents.TRACE_COLUMNS,
        "units": public_names(Variable),
        "variables": public_names(Variable),
        "versions": public_names(Variable),
    }
    return lists.get(command)
