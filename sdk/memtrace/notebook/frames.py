"""One project of a store as data frames: the same on a SQLite file and on Neo4j.

The frames are what the command ``memtrace`` prints with ``--json``. So a notebook needs neither a driver nor the
packages of the platform, and has the settings, passwords and rights of the command line.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pandas as pd

_COMMAND = "memtrace"
_NOT_FOUND, _STORE = 3, 5
"""Exit codes of the command line."""
_MOST_ROWS = 100_000
_VERDICT = (
    *("id", "projectId", "traceId", "failureId", "errorType", "operationId", "confidence", "method", "model", "reason"),
)


class Past(NamedTuple):
    """What a variable came from, or what came from it.

    Attributes:
        variables: a row for each variable, also the one that it starts at.
        derivations: a row for each causal edge: ``target`` was made from ``source`` by ``operationId``.
        operations: a row for each operation of these edges.
    """

    variables: pd.DataFrame
    derivations: pd.DataFrame
    operations: pd.DataFrame


class Step(NamedTuple):
    """An operation, with the variables that it used, made, and ended."""

    operation: pd.Series
    used: pd.DataFrame
    made: pd.DataFrame
    ended: pd.DataFrame


class Project:
    """Reads one project of a store through the command ``memtrace``; it never writes.

    Every method raises ``LookupError`` for an id that the project does not have, ``ConnectionError`` for a store that
    can't be reached or used, and ``ValueError`` for a wrong argument or query.
    """

    def __init__(
        self, store: str | None = None, project: str | None = None, command: Sequence[str] | None = None
    ) -> None:
        """Choose the store and the project; nothing is read yet.

        Args:
            store: the path of a SQLite file, ``neo4j://host:port`` or ``bolt://host:port``; None means
                ``MEMTRACE_STORE``. User and password of Neo4j come from the environment, as on the command line.
            project: its name; None means ``MEMTRACE_PROJECT``, otherwise ``default``.
            command: the command of the platform; None looks for ``memtrace`` beside Python, then on the path.

        Raises:
            ValueError: there is no such command.
        """
        self._command = list(command or _found())
        self._place = [*(["--store", store] if store else []), *(["--project", project] if project else [])]

    def traces(self) -> pd.DataFrame:
        """A row for each trace."""
        return self._list("traces")

    def answers(self, trace: str | None = None) -> pd.DataFrame:
        """A row for each answer, with its question; ``failure`` is an id if the answer was judged wrong."""
        return self._list("answers", trace)

    def failures(self, trace: str | None = None) -> pd.DataFrame:
        """A row for each wrong answer: question, prediction, gold answers."""
        return self._list("failures", trace).drop(columns="verdicts")

    def verdicts(self, trace: str | None = None) -> pd.DataFrame:
        """A row for each verdict on a failure, of whatever method or person; ``failureId`` joins it to ``failures``."""
        found = self._read(["failures", *_trace(trace), "--limit", "0"])
        return _frame([verdict for failure in found for verdict in failure["verdicts"]], _VERDICT)

    def units(self, trace: str | None = None) -> pd.DataFrame:
        """A row for each unit that the memory holds at the end, in its newest version."""
        return self._list("units", trace)

    def variables(self, kind: str | None = None, trace: str | None = None) -> pd.DataFrame:
        """A row for each variable, or for each variable of a kind such as ``Message`` or ``MemoryUnit``."""
        return self._list("variables", trace, *(["--kind", kind] if kind else []))

    def operations(self, kind: str | None = None, trace: str | None = None) -> pd.DataFrame:
        """A row for each operation, or for each operation of a kind such as ``Retrieval``."""
        return self._list("operations", trace, *(["--kind", kind] if kind else []))

    def closure(self, id_: str, direction: Literal["backward", "forward"] = "backward") -> Past:
        """All that a variable came from, or with ``forward`` all that came from it."""
        found = self._read(["closure", "--direction", direction, "--", id_])
        return Past(
            self._variables(found["variables"]),
            _frame(found["derivations"], ("id", "source", "target", "operationId", "kind")),
            _frame(found["operations"], [] if found["operations"] else self._columns("operations")),
        )

    def operation(self, id_: str) -> Step:
        """An operation, with the variables that it used, made and ended."""
        found = self._read(["operation", "--", id_])
        used, made, ended = (self._variables(found.pop(role)) for role in ("used", "generated", "invalidated"))
        return Step(_frame([found], []).iloc[0], used, made, ended)

    def versions(self, id_: str) -> pd.DataFrame:
        """A row for each version of a variable, such as a memory unit, the oldest first."""
        return self._variables(self._read(["versions", "--", id_]))

    def value(self, id_: str) -> str:
        """The whole text of a variable; the frames have texts up to 2 KB only."""
        return self._run(["value", "--", id_]).decode("utf-8", "replace")

    def query(self, text: str, **parameters: Any) -> pd.DataFrame:
        """The rows of a query that only reads: SQL on a SQLite file, Cypher on Neo4j; ``project`` is a parameter.

        In Cypher, limit the query to the project: ``MATCH (f:Failure {projectId: $project})``. A warning tells if the
        query gave more than 100,000 rows, which are left out.
        """
        given = [word for name, value in parameters.items() for word in ("-p", f"{name}={json.dumps(value)}")]
        found = self._read(["query", "--limit", str(_MOST_ROWS), *given, "-"], text.encode())
        if found["truncated"]:
            warnings.warn(f"the query gave more than {_MOST_ROWS:,} rows: the others are left out", stacklevel=2)
        return _frame(found["rows"], found["columns"])

    def _list(self, command: str, trace: str | None = None, *more: str) -> pd.DataFrame:
        """All that a command lists."""
        found = self._read([command, *_trace(trace), *more, "--limit", "0"])
        return _frame(found, [] if found else self._columns(command))

    def _variables(self, found: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
        return _frame(found, [] if found else self._columns("variables"))

    def _columns(self, command: str) -> Sequence[str]:
        """The columns of a list that may be empty."""
        first, *_ = self._run([command, "--limit", "1", "--format", "csv"]).decode().splitlines()
        return first.split(",")

    def _read(self, words: Sequence[str], text: bytes | None = None) -> Any:
        """The JSON document that a command prints."""
        return json.loads(self._run([words[0], "--json", *words[1:]], text))

    def _run(self, words: Sequence[str], text: bytes | None = None) -> bytes:
        """What a command prints."""
        done = subprocess.run(
            [*self._command, *self._place, *words], input=text or b"", capture_output=True, check=False
        )
        if done.returncode == 0:
            return done.stdout
        said = done.stderr.decode("utf-8", "replace").strip()
        problem = said.rpartition("error: ")[2] or f"{self._command[0]} ended with exit code {done.returncode}"
        if done.returncode == _NOT_FOUND:
            raise LookupError(problem)
        raise ConnectionError(problem) if done.returncode == _STORE else ValueError(problem)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({' '.join(self._place)})"


def _found() -> Sequence[str]:
    beside = Path(sys.executable).with_name(_COMMAND)
    command = str(beside) if beside.exists() else shutil.which(_COMMAND)
    if command is None:
        raise ValueError(
            f"there is no command {_COMMAND}: install memtrace-platform, or say where it is: "
            f"Project(command=['/path/of/{_COMMAND}'])"
        )
    return [command]


def _trace(trace: str | None) -> Sequence[str]:
    return ["--trace", trace] if trace else []


def _frame(found: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """The documents as rows; times are times in UTC. The columns are those of the documents, if there are any."""
    frame = pd.DataFrame(list(found), columns=None if found else list(columns))
    for name in frame.columns:
        if str(name).endswith("At"):
            frame[name] = pd.to_datetime(frame[name], utc=True, format="ISO8601")
    return frame
