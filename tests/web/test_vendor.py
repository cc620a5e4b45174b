"""The third-party files are those that were built from the lock file."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from api.web.vendor import SOURCES, VENDOR, problems
from tests.server.running import ROOT


def test_the_files_are_those_that_were_made() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "api.web.vendor", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def _in_script(sources: Path, vendor: Path) -> None:
    with (vendor / "graphiql.js").open("a") as file:
        file.write(" ")


def _one_more(sources: Path, vendor: Path) -> None:
    (vendor / "more.js").write_text("")


def _no_licences(sources: Path, vendor: Path) -> None:
    (vendor / "graphiql.LICENSES.txt").unlink()


def _other_version(sources: Path, vendor: Path) -> None:
    file = sources / "package.json"
    file.write_text(file.read_text().replace("4.1.2", "4.1.1"))


def _weak_lock(sources: Path, vendor: Path) -> None:
    file = sources / "package-lock.json"
    lock = json.loads(file.read_text())
    del lock["packages"]["node_modules/react"]["integrity"]
    lock["packages"]["node_modules/graphql"]["resolved"] = "https://registry.example/graphql.tgz"
    file.write_text(json.dumps(lock))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (_in_script, ["graphiql.js is not what was made"]),
        (_one_more, ["more.js is not in the manifest"]),
        (_no_licences, ["graphiql.LICENSES.txt is missing"]),
        (_other_version, ["package.json was changed since the files were made"]),
        (
            _weak_lock,
            [
                "package-lock.json was changed since the files were made",
                "package-lock.json: node_modules/graphql names a registry",
                "package-lock.json: node_modules/react has no SHA-512",
            ],
        ),
    ],
)
def test_what_was_changed_is_found(tmp_path: Path, change: Callable[[Path, Path], None], found: list[str]) -> None:
    sources, vendor = tmp_path / "sources", tmp_path / "vendor"
    shutil.copytree(SOURCES, sources)
    shutil.copytree(VENDOR, vendor)
    assert problems(sources, vendor) == []
    change(sources, vendor)
    assert problems(sources, vendor) == found


def test_every_package_has_its_licence() -> None:
    wanted = json.loads((SOURCES / "package.json").read_text("utf-8"))["dependencies"]
    text = "".join((VENDOR / f"{name}.LICENSES.txt").read_text("utf-8") for name in ("graphiql", "dagre"))
    wanted["@dagrejs/graphlib"] = "2.2.4"
    for name, version in wanted.items():
        assert f"\n{name} {version} (" in text
    assert text.count("=" * 80) > len(wanted)
