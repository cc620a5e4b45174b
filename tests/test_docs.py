"""The code blocks of the documentation, run unchanged."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from tests.data import ROOT

_PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder like the project's root, with the sample in it and ``memtrace`` on the path."""
    shutil.copytree(ROOT / "examples" / "sample", tmp_path / "examples" / "sample")
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "memtrace"
    command.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m memtrace_platform "$@"\n')
    command.chmod(0o755)
    return tmp_path


def run(folder: Path, script: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMTRACE_")}
    environment["PATH"] = f"{folder / 'bin'}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


_LONG = {"annotation", "attribution", "commands", "events", "jobs", "otlp", "queue"}
"""Pages whose commands take many seconds."""


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=pytest.mark.full if page.stem in _LONG else ())
        for page in _PAGES
        if blocks(page, "sh")
    ],
)
def test_commands(page: Path, folder: Path) -> None:
    for block in blocks(page, "sh"):
        run(folder, block)


def test_from_the_first_key_to_the_first_answer(folder: Path) -> None:
    (block,) = blocks(ROOT / "README.md", "bash")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])
    script = (
        f"memtrace import examples/sample/assistant.json >&2; memtrace attribute --all >&2; export MEMTRACE_PORT={port}"
    )
    asked = block.replace(":8080", f":{port}")
    output = run(folder, f"{script}; trap 'kill %1; wait' EXIT\n{asked}")
    answer, _ = json.JSONDecoder().raw_decode(output[output.index('{"data"') :])
    nodes = answer["data"]["project"]["failures"]["nodes"]
    assert len(nodes) == 3
    assert all(node["verdicts"][0]["errorType"] for node in nodes)


def test_sql(folder: Path) -> None:
    run(folder, "memtrace import examples/sample/assistant.json; memtrace attribute --all")
    connection = apsw.Connection(str(folder / "memtrace.db"), flags=apsw.SQLITE_OPEN_READONLY)
    queries = blocks(ROOT / "docs" / "sql.md", "sql")
    assert len(queries) >= 10
    for number, block in enumerate(queries):
        (folder / f"{number}.sql").write_text(block, "utf-8")
    script = "; ".join(f"memtrace sql {number}.sql --json" for number in range(len(queries)))
    asked = [json.loads(line) for line in run(folder, script).splitlines()]
    for block, found in zip(queries, asked, strict=True):
        assert found["rows"], block
        plain = connection.execute(block)
        assert [column for column, *_ in plain.get_description()] == found["columns"]
        assert len(plain.fetchall()) == len(found["rows"])
    connection.close()


def test_which_prompt_lost_most_answers_has_one_answer(folder: Path) -> None:
    run(folder, "memtrace import examples/sample/assistant.json; memtrace attribute --all")
    (query,) = [block for block in blocks(ROOT / "docs" / "sql.md", "sql") if "lost_answers" in block]
    (folder / "prompts.sql").write_text(query, "utf-8")
    lines = run(
        folder, "memtrace sql prompts.sql --json; memtrace prompts --json; memtrace report --json | tr -d '\\n'"
    )
    in_sql, in_command, in_report = map(json.loads, lines.splitlines())
    counted = {row["prompt"]: row["lost_answers"] for row in in_sql["rows"]}
    assert counted == {one["name"]: one["failures"] for one in in_command if one["failures"]}
    levers = {one["share"]["key"].removeprefix("prompt:"): one["share"]["count"] for one in in_report["levers"]}
    assert counted == {name: levers[name] for name in counted}
    assert sum(counted.values()) == 2


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.stem)
def test_links(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?://)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target
