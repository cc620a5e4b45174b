"""Output for people has the needed names, and ids that the commands accept."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from api.cli.context import DEFAULT_PROJECT
from tests.cli.conftest import SAMPLE, Cli
from tests.contract.samples import assistant
from tests.factory import TraceBuilder


@pytest.fixture
def notes(stored: Callable[[TraceBuilder], Cli]) -> Cli:
    return stored(assistant(DEFAULT_PROJECT))


def fields(out: str) -> dict[str, str]:
    """The first sheet of an output."""
    rows = [re.split(r"  +", line, maxsplit=1) for line in out.partition("\n\n")[0].splitlines()]
    return {row[0]: row[1] for row in rows if len(row) == 2}


def test_short_ids_are_taken_by_the_commands(notes: Cli) -> None:
    out = notes("closure", "answer").out
    ids = re.findall(r"^\W*[A-Z]\w+ ([0-9a-f]{8}) ", out, re.MULTILINE)
    assert len(ids) == 8
    for id_ in ids:
        assert notes("variable", id_, "--json").json["id"].startswith(id_)


def test_operation(notes: Cli) -> None:
    out = notes("operation", "update").out
    assert fields(out) | {
        "operation": "operation update",
        "kind": "Update",
        "status": "error",
        "location": "memory.py:17",
    } == fields(out)
    used, made = out.index("Used:"), out.index("Made:")
    assert used < out.index("Mia moved on to Bergen") < made < out.index("Mia lives in Oslo.")


def test_variable(notes: Cli) -> None:
    out = notes("variable", "note-2").out
    assert fields(out)["made by"].startswith("operation update")
    assert fields(out)["version"] == "1"
    assert fields(out)["size"] == "18 B of text/plain"
    assert out.rstrip().endswith("Mia lives in Oslo.")
    long = notes("variable", "prompt").out
    assert re.search(r"… [\d,]+ bytes more: memtrace value [0-9a-f]{8}$", long.rstrip())
    assert fields(long)["made by"] == "from outside"


def test_trace(notes: Cli) -> None:
    out = notes("trace", "assistant").out
    assert fields(out)["failures"] == "1"
    assert "questions" in out
    assert fields(out)[".seed"] == "7"


def test_traces_and_stats(notes: Cli) -> None:
    assert "the assistant" in notes("traces").out
    stats = notes("stats").out
    assert re.search(r"MemoryUnit +\d", stats)
    assert re.search(r"total +\d", stats)


def test_failures(notes: Cli) -> None:
    result = notes("failures")
    for text in ("Where does Mia live?", "In Oslo", "Bergen | in Bergen", "Update error at ", "2 messages"):
        assert text in result.out
    assert "memtrace closure" in result.err


def test_versions_path_and_search(notes: Cli) -> None:
    assert "operation update" in notes("versions", "note-2").out
    path = notes("path", "answer", "message-2").out.splitlines()
    assert [line.split()[0] for line in path] == ["Answer", "↓", "MemoryUnit", "↓", "MemoryUnit", "↓", "Message"]
    assert "Neither depends" in notes("path", "message-1", "message-2").err
    assert "Mia moved to Oslo" in notes("search", "oslo").out
    assert "--whole" in notes("search", "nowhere").err


def test_import_and_delete_say_what_they_did(cli: Cli) -> None:
    assert re.search(r"trace [0-9a-f]{8}, 1 Trace, .* 3 Failure added", cli("import", SAMPLE).out)
    assert "nothing added" in cli("import", SAMPLE).out
    assert re.search(r"Deleted [0-9a-f]{32}: .*3 Failure", cli("delete", "assistant-sample", "--yes").out)
    assert "memtrace import" in cli("traces").err


def test_lines_have_no_blanks_at_their_ends(notes: Cli) -> None:
    for command in (("traces",), ("stats",), ("operation", "update"), ("closure", "answer"), ("failures",)):
        assert not re.search(r" +$", notes(*command).out, re.MULTILINE)
