"""docs/sdk-map.md names files and functions that are there."""

from __future__ import annotations

import re

import pytest

from tests.data import ROOT

PAGE = (ROOT / "docs" / "sdk-map.md").read_text("utf-8")
SDK = ROOT / "sdk" / "memtrace"
NAMES = sorted(set(re.findall(r"`([\w./]+)`", PAGE)))
PLACES = [f"{path.relative_to(SDK).as_posix()}{'/' if path.is_dir() else ''}" for path in SDK.rglob("*")]
SOURCES = {path.relative_to(SDK).as_posix(): path.read_text("utf-8") for path in SDK.rglob("*.py")}


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith((".py", "/"))])
def test_each_file_is_there(name: str) -> None:
    assert (ROOT / name).exists() or any(f"/{path}".endswith(f"/{name}") for path in PLACES), name


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith((".py", "/", ".toml"))])
def test_each_name_is_in_the_code(name: str) -> None:
    last = re.escape(name.rpartition(".")[2])
    assert any(re.search(rf"\b{last}\b", text) for text in SOURCES.values()), name


def test_each_room_has_a_row() -> None:
    folders = {f"{path.name}/" for path in SDK.iterdir() if (path / "__init__.py").exists()}
    assert folders <= set(NAMES)
