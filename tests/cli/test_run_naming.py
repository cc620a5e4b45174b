"""The name and the tags that `memtrace run` gives the traces of a recording."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

from api.cli.run_naming import name_traces
from tests.cli.conftest import Cli
from tests.queue.sets import event_line


def _events(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_one_trace_gets_the_name_and_the_tags(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "a.ndjson"
    step = event_line("operationStarted", "t", 1, operation="o", name="search", kind="Retrieval")
    file.write_bytes(event_line("trace", "t", name="chat", attributes={"model": "m"}) + b"\n" + step + b"\n")
    file.chmod(0o600)
    name_traces([file], "monday", ["model=small", "k=5"])
    first, second = _events(file)
    assert (first["name"], first["attributes"]) == ("monday", {"model": "m", "tags": ["model=small", "k=5"]})
    assert second == json.loads(step)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    cli("import", file)
    assert cli("traces", "--search", "model=small", "--count").out == "1\n"
    assert cli("traces", "--search", "model=large", "--count").out == "0\n"
    assert cli("traces", "--json").json[0]["name"] == "monday"


def test_several_traces_keep_their_names_behind_that_of_the_run(tmp_path: Path) -> None:
    files = [tmp_path / "a.ndjson", tmp_path / "b.ndjson"]
    files[0].write_bytes(event_line("trace", "t", name="chat"))
    files[1].write_bytes(event_line("trace", "u"))
    name_traces(files, "monday", [])
    assert [_events(one)[0]["name"] for one in files] == ["monday: chat", "monday"]


def test_tags_of_the_program_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.ndjson"
    own: list[Any] = [["ours", "k=5"], "ours", [], [{"a": 1}]]
    lines = [event_line("trace", "t", name="chat", attributes={"tags": tags}) for tags in own]
    file.write_bytes(b"\n".join(lines))
    name_traces([file], None, ["k=5", "late"])
    assert [one["attributes"]["tags"] for one in _events(file)] == [
        ["ours", "k=5", "late"],
        ["ours", "k=5", "late"],
        ["k=5", "late"],
        [{"a": 1}, "k=5", "late"],
    ]


def test_a_line_that_was_cut_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "a.ndjson"
    whole = event_line("trace", "t", name="chat")
    file.write_bytes(whole + b"\n" + whole[:-9] + b"\n")
    name_traces([file], "monday", [])
    first, cut = file.read_bytes().splitlines()
    assert json.loads(first)["name"] == "monday"
    assert cut == whole[:-9]


def test_nothing_said_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.ndjson"
    file.write_bytes(b"no JSON at all")
    name_traces([file], None, [])
    assert file.read_bytes() == b"no JSON at all"
