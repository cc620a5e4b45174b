"""Data frames for notebooks: the cells of the example on SQLite, and the same frames on Neo4j, without py2neo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest

pytest.importorskip("pandas", reason="the extra notebook is not installed")

import pandas as pd
from memtrace.notebook import Project
from pandas.testing import assert_frame_equal

from tests.data import ROOT, SAMPLE
from tests.neo4j_server import Neo4jServer

NOTEBOOK = ROOT / "examples" / "notebook.ipynb"
COMMAND = [sys.executable, "-m", "memtrace_platform"]
ANSWER = "7a7b5616"
BLAMED = "74199103"

FRAMES: dict[str, Callable[[Project], pd.DataFrame]] = {
    "traces": lambda project: project.traces(),
    "answers": lambda project: project.answers(),
    "failures": lambda project: project.failures("assistant-sample"),
    "verdicts": lambda project: project.verdicts().drop(columns=["createdAt", "seconds"]),
    "units": lambda project: project.units(),
    "messages": lambda project: project.variables("Message"),
    "retrievals": lambda project: project.operations("Retrieval"),
    "past": lambda project: _by_id(project.closure(_failure(project).answerId).variables),
    "derivations": lambda project: _by_id(project.closure(_failure(project).answerId).derivations),
    "used": lambda project: project.operation(_blamed(project)).used,
    "made": lambda project: project.operation(_blamed(project)).made,
    "versions": lambda project: project.versions("memory-unit-12"),
}


def _by_id(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.sort_values("id").reset_index(drop=True)


def _failure(project: Project) -> pd.Series:
    failures = project.failures()
    return failures[failures.question.str.contains("pottery")].iloc[0]


def _blamed(project: Project) -> str:
    verdicts = project.verdicts()
    return str(verdicts[verdicts.errorType == "UpdateError"].iloc[0].operationId)


def _filled(store: str, project: str) -> Project:
    """A project with the sample and verdicts of the free pass."""
    for words in (["import", str(SAMPLE)], ["attribute", "--all"]):
        command = [*COMMAND, "--store", store, "--project", project, *words]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return Project(store, project, COMMAND)


@pytest.fixture(autouse=True)
def _from_source(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("MEMTRACE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(ROOT), str(ROOT / "sdk"))))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return _filled(str(tmp_path_factory.mktemp("frames") / "team.db"), f"test-{uuid4().hex}")


def test_the_example_runs_on_sqlite_without_py2neo(project: Project, tmp_path: Path) -> None:
    cells = [cell for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert all((cell["outputs"], cell["execution_count"]) == ([], None) for cell in cells)
    program = tmp_path / "cells.py"
    hidden = "import sys\nsys.modules['py2neo'] = sys.modules['neo4j'] = None\n"
    program.write_text(hidden + "\n".join("".join(cell["source"]) for cell in cells), "utf-8")
    command = tmp_path / "memtrace"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m memtrace_platform "$@"\n')
    command.chmod(0o755)
    (tmp_path / "python").symlink_to(sys.executable)
    store, name = project._place[1], project._place[3]
    environment = os.environ | {"MEMTRACE_STORE": store, "MEMTRACE_PROJECT": name, "PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, program], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    before, after = done.stdout[done.stdout.index("before: ") :].split("after: ")
    assert "Thursday" in before
    assert "Thursday" not in after
    assert "Update memory_system.update_memory_decision" in done.stdout


def test_what_the_frames_hold(project: Project) -> None:
    failures, verdicts = project.failures(), project.verdicts()
    assert list(verdicts.columns)[:6] == ["id", "projectId", "traceId", "failureId", "errorType", "operationId"]
    assert set(verdicts.failureId) == set(failures.id)
    assert str(failures.createdAt.dt.tz) == "UTC"
    assert len(project.answers()) == 8
    assert project.answers().failure.notna().sum() == len(failures) == 3
    assert set(project.operations("Retrieval").kind) == {"Retrieval"}
    past = project.closure(_failure(project).answerId)
    assert set(past.derivations.target) | set(past.derivations.source) <= set(past.variables.id)
    assert set(past.derivations.operationId) <= set(past.operations.id)
    future = project.closure(past.variables.iloc[0].id, "forward").variables
    assert _failure(project).answerId in set(future.id)
    step = project.operation(_blamed(project))
    assert step.operation.kind == "Update"
    assert list(step.ended.columns) == list(step.made.columns)
    assert list(project.versions("memory-unit-12").version) == [1, 2]
    assert "pottery class" in project.value(_failure(project).answerId)


def test_rows_of_a_query(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = project.query("SELECT question, :n AS n FROM failure WHERE question LIKE :like", n=3, like="%pottery%")
    assert frame.to_dict("records") == [{"question": "On which day of the week is Mara's pottery class?", "n": 3}]
    nothing = project.query("SELECT question, k FROM failure WHERE 0")
    assert (len(nothing), list(nothing.columns)) == (0, ["question", "k"])
    monkeypatch.setattr("memtrace.notebook.frames._MOST_ROWS", 2)
    with pytest.warns(UserWarning, match="more than 2 rows"):
        assert len(project.query("SELECT question FROM failure")) == 2


def test_a_project_without_data_has_frames_with_columns(project: Project) -> None:
    empty = Project(project._place[1], "nobody", COMMAND)
    for name in ("traces", "answers", "failures", "verdicts", "units", "variables", "operations"):
        frame, full = getattr(empty, name)(), getattr(project, name)()
        assert len(frame) == 0
        assert {"id", "projectId"} <= set(frame.columns)
        assert set(full.columns) >= {one for one in frame.columns if one in full.columns} != set()


def test_what_is_wrong_is_said(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LookupError, match="nothing"):
        project.closure("nothing")
    with pytest.raises(LookupError, match="--help"):
        project.operation("--help")
    with pytest.raises(ValueError, match="no such table"):
        project.query("SELECT * FROM nowhere")
    with pytest.raises(ValueError, match="cannot modify"):
        project.query("DELETE FROM failure")
    with pytest.raises(ConnectionError, match="there is no store"):
        Project(str(tmp_path / "none.db"), command=COMMAND).traces()
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(ValueError, match="install memtrace-platform"):
        Project()


@pytest.mark.full
def test_the_frames_are_the_same_on_neo4j(
    neo4j_server: Neo4jServer, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMTRACE_NEO4J_USER", neo4j_server.user)
    monkeypatch.setenv("MEMTRACE_NEO4J_PASSWORD", neo4j_server.password)
    other = _filled(neo4j_server.uri, project._place[3])
    for name, read in FRAMES.items():
        assert_frame_equal(read(project), read(other), obj=name)
    counted = other.query("MATCH (f:Failure {projectId: $project}) RETURN count(f) AS failures")
    assert counted.to_dict("records") == [{"failures": 3}]
