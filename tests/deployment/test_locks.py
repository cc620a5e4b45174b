"""The locks: each package that the project names is in the lock that it belongs to, and the locks agree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.data import ROOT

RUNNING, DEVELOPING, UV = (ROOT / f"requirements{name}.lock" for name in ("", "-dev", "-uv"))
LOCKS = pytest.mark.parametrize("lock", [RUNNING, DEVELOPING, UV], ids=lambda path: path.stem)
DEVELOPING_ONLY = {"notebook", "notebook-objects"}
"""Extras that the running lock leaves out."""


def pins(lock: Path) -> dict[str, set[str]]:
    """The hashes by requirement: name, version and marker."""
    text = re.sub(r"^\s*#.*\n", "", lock.read_text("utf-8"), flags=re.MULTILINE)
    found = {}
    for requirement in text.replace("\\\n", "").splitlines():
        pinned, *hashes = re.split(r"\s+--hash=", requirement.strip())
        found[pinned] = set(hashes)
    return found


def names(requirements: list[str]) -> set[str]:
    return {canonicalize_name(Requirement(text).name) for text in requirements}


def project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))


@LOCKS
def test_each_package_has_one_version_and_hashes(lock: Path) -> None:
    for pinned, hashes in pins(lock).items():
        (specifier,) = Requirement(pinned).specifier
        assert specifier.operator == "=="
        assert hashes
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for each in hashes)


def test_what_both_locks_have_is_the_same() -> None:
    running, developing = pins(RUNNING), pins(DEVELOPING)
    assert running.items() <= developing.items()
    assert len(running) < len(developing)


@pytest.mark.parametrize("folder", [ROOT, ROOT / "sdk"], ids=["platform", "recorder"])
def test_the_running_lock_has_what_the_project_needs(folder: Path) -> None:
    said = project(folder)["project"]
    needed = names(said["dependencies"])
    for extra, requirements in said["optional-dependencies"].items():
        needed |= set() if extra in DEVELOPING_ONLY else names(requirements)
    assert needed - {"memtrace-recorder"} <= names(list(pins(RUNNING)))


def test_the_developing_lock_has_the_rest() -> None:
    groups = project(ROOT)["dependency-groups"]
    wanted = names([each for group in groups.values() for each in group if isinstance(each, str)])
    wanted |= names(project(ROOT / "sdk")["project"]["optional-dependencies"]["notebook-objects"])
    assert wanted <= names(list(pins(DEVELOPING)))


def test_tools_for_developing_are_not_needed_for_running() -> None:
    tools = {"mypy", "pandas", "playwright", "pytest", "ruff", "schemathesis", "scikit-learn", "scipy"}
    developing = names(list(pins(DEVELOPING)))
    assert tools <= developing
    assert not tools & names(list(pins(RUNNING)))
