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


def test_plain_sql(folder: Path) -> None:
    run(folder, "memtrace import examples/sample/assistant.json")
    connection = apsw.Connection(str(folder / "memtrace.db"), flags=apsw.SQLITE_OPEN_READONLY)
    for block in blocks(ROOT / "docs" / "stores.md", "sql"):
        rows = connection.execute(block).fetchall()
        assert [row[1] for row in rows].count("Query") == 1
    connection.close()


@pytest.mark.parametrize("page", _PAGES, ids=lambda page: page.stem)
def test_links(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?://)([^)#]+)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target
