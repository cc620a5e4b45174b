"""The start of the command ``memtrace``: it looks whose packages Python finds before it imports one of them.

The platform is an application, and its packages have everyday names. Where it shares an environment with others, a
package of theirs may be found first (``PYTHONPATH``, the current folder) or be written over its own (an installation).
"""

from __future__ import annotations

import sys
from base64 import urlsafe_b64encode
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

_HOME = Path(__file__).parent
_PACKAGES = ("api", "optimization", "attribution", "ingest", "store", "schema")
_RECORDER = ("memtrace", "events.schema.json")
"""What applications import to record themselves, and a file that no other package of this name has."""

_ADVICE = (
    "MemTrace is an application: install it into an environment of its own (uv tool install, pipx install or a "
    "container), and keep other packages out of PYTHONPATH and of the folder that it starts in"
)


def run() -> None:
    """Run the command line; where its packages are hidden, say so on standard error and end with exit code 1."""
    problem = problem_of_packages()
    if problem is not None:
        sys.exit(f"error: {problem}. {_ADVICE}.")
    from api.cli.main import start as run_commands

    run_commands()


def problem_of_packages() -> str | None:
    """Which package is another's or missing, and where it lies; None where all are the platform's own."""
    installed = _installed_hashes()
    for name in _PACKAGES:
        own = _HOME / name / "__init__.py"
        found = _origin(name)
        if found is None:
            return f"the package {name} is missing in {_HOME}"
        if not own.exists() or not found.samefile(own):
            return f"another package named {name} hides the platform's: {found}"
        if _hash(own) != installed.get(f"{name}/__init__.py", _hash(own)):
            return f"another package named {name} is installed over the platform's: {found}"
    name, file = _RECORDER
    found = _origin(name)
    if found is None:
        return f"the recorder, package {name}, is missing: install memtrace-recorder (in a checkout: pip install ./sdk)"
    if not found.with_name(file).exists():
        return f"another package named {name} hides the recorder (memtrace-recorder): {found}"
    return None


def _origin(name: str) -> Path | None:
    """The file that an import of a package would run first, or its folder where it has none."""
    spec = find_spec(name)
    if spec is None:
        return None
    return Path(spec.origin or next(iter(spec.submodule_search_locations or ())))


def _installed_hashes() -> dict[str, str]:
    """The hashes of the files as they were installed, by path; nothing where this is a checkout."""
    for record in _HOME.glob("memtrace_platform-*.dist-info/RECORD"):
        lines = record.read_text("utf-8").splitlines()
        return {path: hashed for path, _, hashed in (line.rpartition(",")[0].partition(",") for line in lines)}
    return {}


def _hash(file: Path) -> str:
    return "sha256=" + urlsafe_b64encode(sha256(file.read_bytes()).digest()).decode().rstrip("=")


if __name__ == "__main__":
    run()
