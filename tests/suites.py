"""Which tests `make test` leaves to `make test-all`, and which of those a change needs: what ``suites.toml`` says.

Run: ``python -m tests.suites`` prints, for ``python -m tests``, what the changes since the last full run need.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_TABLE = tomllib.loads((ROOT / "tests" / "suites.toml").read_text("utf-8"))

FULL: list[str] = _TABLE["full"]
"""Modules and folders that only `make test-all` runs."""
SUITES: dict[str, list[str]] = _TABLE["suites"]
"""Modules and folders of tests, by the suite's name."""
CHANGES: dict[str, list[str]] = _TABLE["changes"]
"""Names of suites, by the file or the folder (with a slash at its end) whose change needs them."""

EVERYTHING = "tests"
_LAST_FULL = ROOT / ".ci" / "last-full"


def is_within(test: str, paths: Iterable[str]) -> bool:
    """Whether a test's id, module or folder lies in one of these folders, modules or functions, or is one of them."""
    return any(test == path or test.startswith((f"{path}/", f"{path}::", f"{path}[")) for path in paths)


def overlap(test: str, paths: Iterable[str]) -> bool:
    """Whether a folder or module contains one of the paths, or lies in one of the paths."""
    return is_within(test, paths) or any(is_within(path, [test]) for path in paths)


def row_of(file: str) -> str | None:
    """The row of ``CHANGES`` for a file: the longest that holds the file, None where no row does."""
    rows = [row for row in CHANGES if file == row or (row.endswith("/") and file.startswith(row))]
    return max(rows, key=len, default=None)


def needed_by(file: str) -> list[str]:
    """Modules and folders of tests that a change of a file needs in full."""
    row = row_of(file)
    if row is not None:
        return [path for suite in CHANGES[row] for path in SUITES[suite]]
    folder, _, name = file.rpartition("/")
    folder = f"{folder}/".partition("/expected/")[0].rstrip("/")  # whole outputs belong to the tests beside them
    if name.startswith("test_") and is_within(file, [EVERYTHING]):
        return [file] if (ROOT / file).exists() else []
    if not is_within(folder, [EVERYTHING]):
        return [EVERYTHING]
    return [folder] if (ROOT / folder).exists() else []


def changed() -> list[str] | None:
    """Files that differ from the last full run, or from where the branches met; None where git can't compare."""
    try:
        base = _git("merge-base", "HEAD", _LAST_FULL.read_text("utf-8").strip()).strip()
        names = _git("diff", "--name-only", "--no-renames", "-z", base)
        names += _git("ls-files", "--others", "--exclude-standard", "-z")
    except (OSError, subprocess.CalledProcessError):
        return None
    return sorted(filter(None, names.split("\0")))


def main() -> None:
    """Print options for ``python -m tests``, and to standard error why."""
    files = changed()
    if files is None:
        sys.stderr.write("Everything is tested: the last full run is not in this history.\n")
        sys.stdout.write(EVERYTHING)
        return
    paths = {path for file in files for path in needed_by(file)}
    needed = sorted(path for path in paths if not is_within(path, paths - {path}))
    sys.stderr.write(f"{len(files)} files have changed since the last full run; in full: {', '.join(needed) or '-'}\n")
    sys.stdout.write(EVERYTHING if EVERYTHING in needed else " ".join(f"--full {path}" for path in needed))


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
