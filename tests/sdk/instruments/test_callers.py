"""The line of the application is found past helpers of other installed packages."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

HELPER = """
def wrapped(function):
    def wrapper():
        return function()

    return wrapper
"""
CALLER = """
from memtrace.instruments.callers import line
from tracing_helper import wrapped


def ask():
    return wrapped(line)()


found = ask()
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an environment with an installed helper."""
    folder = tmp_path / "lib" / "site-packages"
    folder.mkdir(parents=True)
    (folder / "tracing_helper.py").write_text(HELPER, "utf-8")
    monkeypatch.syspath_prepend(folder)
    return folder


def found(program: Path) -> str:
    program.write_text(CALLER, "utf-8")
    return str(runpy.run_path(str(program), run_name=program.stem)["found"])


def test_helpers_of_packages_are_passed_over(installed: Path, tmp_path: Path) -> None:
    assert found(tmp_path / "errand.py") == "errand:7 ask"


def test_a_script_that_starts_an_installed_application_is_not_the_application(installed: Path) -> None:
    folder = installed.parents[1] / "bin"
    folder.mkdir()
    script = folder / "errand"
    script.write_text(f"{CALLER}\nprint(found)", "utf-8")
    paths = os.pathsep.join([str(installed), *sys.path])
    ran = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, env={"PYTHONPATH": paths}, check=True
    )
    assert ran.stdout.startswith("tracing_helper:4")
