"""Builds and checks the third-party files of the web pages.

``python -m api.web.vendor`` builds ``static/vendor`` from ``graphiql/package-lock.json``, with node, npm and a package
registry; npm refuses packages that differ from the lock's SHA-512. ``python -m api.web.vendor --check`` compares the
files with the hashes of the build, without node and network.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

SOURCES = Path(__file__).with_name("graphiql")
VENDOR = Path(__file__).with_name("static") / "vendor"
MANIFEST = "manifest.json"


def problems(sources: Path = SOURCES, vendor: Path = VENDOR) -> list[str]:
    """What is wrong with the files, one sentence each; empty if they are unchanged since the build.

    Args:
        sources: the folder with the lock file and the script that bundles.
        vendor: the folder with the built files and their manifest.
    """
    manifest = json.loads((vendor / MANIFEST).read_text("utf-8"))
    found = list(_differences(manifest["sources"], _hashes(sources), "was changed since the files were made"))
    found += _differences(manifest["files"], _hashes(vendor), "is not what was made")
    lock = json.loads((sources / "package-lock.json").read_text("utf-8"))
    for name, package in lock["packages"].items():
        if name and not package.get("integrity", "").startswith("sha512-"):
            found.append(f"package-lock.json: {name} has no SHA-512")
        if "resolved" in package:
            found.append(f"package-lock.json: {name} names a registry")
    return found


def make() -> None:
    """Build the files.

    Raises:
        subprocess.CalledProcessError: npm or node failed and has printed why.
    """
    with TemporaryDirectory() as folder:
        work, out = Path(folder) / "work", Path(folder) / "out"
        shutil.copytree(SOURCES, work)
        out.mkdir()
        subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=work, check=True)  # noqa: S607
        subprocess.run(["node", "bundle.mjs", out], cwd=work, check=True)  # noqa: S607
        shutil.rmtree(VENDOR)
        shutil.copytree(out, VENDOR)
    manifest = {"sources": _hashes(SOURCES), "files": _hashes(VENDOR)}
    (VENDOR / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


def _hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of each file except the manifest, by path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {path.relative_to(folder).as_posix(): sha256(path.read_bytes()).hexdigest() for path in files}


def _differences(wanted: Mapping[str, str], there: Mapping[str, str], word: str) -> Iterator[str]:
    for name in sorted(wanted.keys() | there.keys()):
        if name not in there:
            yield f"{name} is missing"
        elif name not in wanted:
            yield f"{name} is not in the manifest"
        elif wanted[name] != there[name]:
            yield f"{name} {word}"


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit("usage: python -m api.web.vendor [--check]")
    if not sys.argv[1:]:
        make()
    sys.exit("\n".join(problems()) or None)
