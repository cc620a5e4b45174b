"""What data frames ask the command line for: all rows of the right project and trace, and what its errors become."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("pandas", reason="the extra notebook is not installed")

from memtrace.notebook import Project

_PLACE = ["memtrace", "--store", "s", "--project", "p"]


class _CommandLine:
    """Answers each command with a document or text, and keeps the words and the input."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.given: list[bytes] = []
        self.answers: dict[str, Any] = {}
        self.code, self.errors = 0, b""

    def run(self, words: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
        assert words[: len(_PLACE)] == _PLACE
        words = words[len(_PLACE) :]
        self.asked.append(words)
        self.given.append(options["input"])
        found = self.answers.get(words[0], [])
        said = found if isinstance(found, bytes) else json.dumps(found).encode()
        if "csv" in words:
            said = b"id,projectId,name\n"
        return subprocess.CompletedProcess(words, self.code, said, self.errors)


@pytest.fixture
def command_line(monkeypatch: pytest.MonkeyPatch) -> _CommandLine:
    found = _CommandLine()
    monkeypatch.setattr("memtrace.notebook.frames.subprocess.run", found.run)
    return found


def project() -> Project:
    return Project("s", "p", ["memtrace"])


_ROW = {"id": "1", "projectId": "p", "verdicts": []}


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (lambda it: it.traces(), ["traces", "--json"]),
        (lambda it: it.answers(), ["answers", "--json"]),
        (lambda it: it.answers("t"), ["answers", "--json", "--trace", "t"]),
        (lambda it: it.failures("t"), ["failures", "--json", "--trace", "t"]),
        (lambda it: it.verdicts(), ["failures", "--json"]),
        (lambda it: it.verdicts("t"), ["failures", "--json", "--trace", "t"]),
        (lambda it: it.units("t"), ["units", "--json", "--trace", "t"]),
        (lambda it: it.variables(), ["variables", "--json"]),
        (lambda it: it.variables("Message", "t"), ["variables", "--json", "--trace", "t", "--kind", "Message"]),
        (lambda it: it.operations("Update"), ["operations", "--json", "--kind", "Update"]),
    ],
)
def test_a_list_is_asked_for_whole(
    command_line: _CommandLine, read: Callable[[Project], Any], words: list[str]
) -> None:
    """Without ``--limit 0``, a command lists the first rows only."""
    command_line.answers = {words[0]: [_ROW]}
    read(project())
    assert command_line.asked == [[*words, "--limit", "0"]]


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (lambda it: it.versions("-x"), ["versions", "--json", "--", "-x"]),
        (lambda it: it.value("-x"), ["value", "--", "-x"]),
    ],
)
def test_an_id_is_never_an_option(command_line: _CommandLine, read: Callable[[Project], Any], words: list[str]) -> None:
    read(project())
    assert command_line.asked[0] == words


@pytest.mark.parametrize("direction", ["backward", "forward"])
def test_a_closure_goes_in_its_direction(command_line: _CommandLine, direction: Any) -> None:
    command_line.answers = {"closure": {"variables": [_ROW], "derivations": [], "operations": []}}
    found = project().closure("x", direction)
    assert command_line.asked[0] == ["closure", "--json", "--direction", direction, "--", "x"]
    assert list(found.variables.id) == ["1"]
    assert list(found.derivations.columns) == ["id", "source", "target", "operationId", "kind"]
    assert list(found.operations.columns) == ["id", "projectId", "name"]


def test_each_verdict_of_each_failure_is_a_row_with_its_times(command_line: _CommandLine) -> None:
    verdicts = [{"id": f"v{number}", "failureId": "f", "createdAt": "2026-03-01T12:00:00Z"} for number in range(3)]
    command_line.answers = {"failures": [_ROW | {"verdicts": some} for some in (verdicts[:2], [], verdicts[2:])]}
    found = project().verdicts()
    assert list(found.id) == ["v0", "v1", "v2"]
    assert [str(one) for one in found.createdAt] == ["2026-03-01 12:00:00+00:00"] * 3
    assert list(project().failures().columns) == ["id", "projectId"]


def test_an_operation_has_what_it_used_made_and_ended(command_line: _CommandLine) -> None:
    named = {role: [{"id": role}] for role in ("used", "generated", "invalidated")}
    command_line.answers = {"operation": {"id": "o", **named}}
    step = project().operation("o")
    assert [list(frame.id) for frame in (step.used, step.made, step.ended)] == [
        ["used"],
        ["generated"],
        ["invalidated"],
    ]
    assert dict(step.operation) == {"id": "o"}


def test_a_query_is_given_as_input_with_its_parameters(command_line: _CommandLine) -> None:
    command_line.answers = {"query": {"rows": [{"a": 1}], "columns": ["a"], "truncated": False}}
    assert project().query("SELECT 1", name="x y", n=3).to_dict("records") == [{"a": 1}]
    assert command_line.asked == [["query", "--json", "--limit", "100000", "-p", 'name="x y"', "-p", "n=3", "-"]]
    assert command_line.given == [b"SELECT 1"]
    command_line.answers = {"query": {"rows": [], "columns": ["a", "b"], "truncated": True}}
    with pytest.warns(UserWarning, match=r"more than 100,000 rows"):
        assert list(project().query("SELECT 1").columns) == ["a", "b"]


@pytest.mark.parametrize(
    ("code", "error"), [(1, ValueError), (2, ValueError), (3, LookupError), (4, ValueError), (5, ConnectionError)]
)
def test_an_error_has_its_kind_and_its_last_words(
    command_line: _CommandLine, code: int, error: type[Exception]
) -> None:
    command_line.code, command_line.errors = code, b"a hint\nerror: no such thing: x\n"
    with pytest.raises(error) as told:
        project().value("x")
    assert (type(told.value), str(told.value)) == (error, "no such thing: x")
    command_line.errors = b""
    with pytest.raises(error, match=f"memtrace ended with exit code {code}"):
        project().value("x")
