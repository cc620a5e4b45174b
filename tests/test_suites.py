"""The table of suites holds every source file and all that `make test` leaves out, and names nothing that is gone."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from store.contract.annotations import Annotations
from store.contract.protocol import GraphStore
from store.contract.records import ProjectRecords, Registry
from store.contract.verdict_changes import VerdictHistory
from store.contract.walks import Walks
from tests import __main__ as runs
from tests import suites
from tests.data import ROOT
from tests.suites import CHANGES, EVERYTHING, FULL, SUITES, is_within, needed_by, row_of


def _files() -> list[str]:
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("no git")
    return done.stdout.splitlines()


def test_every_file_has_a_row() -> None:
    assert [file for file in _files() if not file.startswith("tests/") and row_of(file) is None] == []


def test_every_folder_of_sources_needs_a_suite() -> None:
    packages = {file.partition("/")[0] for file in _files() if file.endswith("/__init__.py")} - {"tests"}
    assert {folder for folder in packages if not needed_by(f"{folder}/new.py")} == set()


def test_rows_suites_and_paths_exist() -> None:
    named = [*CHANGES, *FULL, *(path for paths in SUITES.values() for path in paths)]
    assert [path for path in named if not (ROOT / path).exists()] == []
    assert {suite for names in CHANGES.values() for suite in names} == set(SUITES)


def test_every_module_is_in_a_suite() -> None:
    chosen = [path for suite, paths in SUITES.items() if suite != "everything" for path in paths]
    modules = [file for file in _files() if re.fullmatch(r"tests/(.*/)?test_\w+\.py", file) and (ROOT / file).exists()]
    assert [module for module in modules if not is_within(module, chosen)] == []


@pytest.mark.parametrize(
    ("file", "needed"),
    [
        ("store/new.py", SUITES["engines"]),
        ("api/cli/ui.py", [*SUITES["commands"], *SUITES["documents"], *SUITES["opening"]]),
        ("tests/cli/test_fail.py", ["tests/cli/test_fail.py"]),
        ("tests/cli/conftest.py", ["tests/cli"]),
        ("tests/cli/expected/listings/answers.txt", ["tests/cli"]),
        ("tests/cli/test_gone.py", []),
        ("tests/gone/conftest.py", []),
        ("tests/test_columns.py", ["tests/test_columns.py"]),
        ("tests/conftest.py", [EVERYTHING]),
        ("nobody/knows.py", [EVERYTHING]),
    ],
)
def test_what_a_change_needs(file: str, needed: list[str]) -> None:
    assert needed_by(file) == needed


def test_a_commit_that_is_not_in_the_history_needs_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "last-full").write_text("0" * 40, "utf-8")
    monkeypatch.setattr(suites, "_LAST_FULL", tmp_path / "last-full")
    suites.main()
    assert capsys.readouterr().out == EVERYTHING


def test_changes_since_a_commit_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*arguments: str) -> str:
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        return subprocess.run(
            ["git", *who, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout

    git("init", "--quiet")
    for name in ("kept", "moved", "changed"):
        (tmp_path / name).write_text(name, "utf-8")
    git("add", ".")
    git("commit", "--quiet", "-m", "first")
    (tmp_path / "last").write_text(git("rev-parse", "HEAD"), "utf-8")
    git("mv", "moved", "new place")
    git("commit", "--quiet", "-m", "second")
    (tmp_path / "changed").write_text("again", "utf-8")
    monkeypatch.setattr(suites, "ROOT", tmp_path)
    monkeypatch.setattr(suites, "_LAST_FULL", tmp_path / "last")
    assert suites.changed() == ["changed", "last", "moved", "new place"]


def test_a_path_that_does_not_exist_is_named() -> None:
    command = [sys.executable, "-m", "tests", "tests/contract/test_nothing.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "file or directory not found: tests/contract/test_nothing.py" in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("options", "code"),
    [(["tests"], 5), (["tests", "-q"], 5), (["tests", "-k", "sqlite"], 0), (["tests/contract/test_idle.py"], 0)],
)
def test_all_tests_must_contain_some_for_the_second_version(
    monkeypatch: pytest.MonkeyPatch, options: list[str], code: int
) -> None:
    codes = iter([pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED])
    monkeypatch.delenv("MEMTRACE_TEST_NEO4J_URI", raising=False)
    monkeypatch.setattr(runs, "_run", lambda options, settings: next(codes))
    monkeypatch.setattr(sys, "argv", ["tests", *options])
    assert runs.main() == code


@cache
def _called() -> set[str]:
    """Methods that tests with the mark ``each_engine`` call, by themselves or through other functions of the tests."""
    functions = {
        node.name: node
        for module in (*(ROOT / "tests" / "contract").glob("*.py"), ROOT / "tests" / "ingest" / "test_events.py")
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    marked = [name for name, node in functions.items() if "each_engine" in map(_attribute, node.decorator_list)]
    reached: set[str] = set()
    while marked:
        name = marked.pop()
        reached.add(name)
        names = {_attribute(node) or getattr(node, "id", "") for node in ast.walk(functions[name])}
        marked += names & functions.keys() - reached
    return {_attribute(node) for name in reached for node in ast.walk(functions[name])} - {""}


def _attribute(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else ""


@pytest.mark.parametrize(
    "protocol", [GraphStore, Walks, VerdictHistory, ProjectRecords, Annotations, Registry], ids=lambda one: one.__name__
)
def test_make_test_calls_each_method_of_the_stores_on_each_engine(protocol: type) -> None:
    assert {name for name in vars(protocol) if not name.startswith("_")} - _called() - {"project_id"} == set()


def test_processes_run_the_named_paths_in_full() -> None:
    """A process of ``-n`` parses the command line anew, so the paths must reach it in another way."""
    command = [sys.executable, "-m", "pytest", "-n", "1", "-p", "no:cacheprovider", "tests/patterns/test_attack.py"]
    done = subprocess.run(
        [*command, "-k", "what_is_linear and True"],
        cwd=ROOT,
        env=os.environ | {"MEMTRACE_TEST_NEO4J_URI": "bolt://127.0.0.1:1"},  # none is needed
        capture_output=True,
        text=True,
        check=False,
    )
    assert "4 passed" in done.stdout, done.stdout + done.stderr
