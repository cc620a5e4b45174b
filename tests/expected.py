"""Whole outputs as files: a test fails if any part of an output differs from its file below ``expected/``.

``python -m tests.expected`` runs the tests that compare with such files, and writes the files anew; ``git diff`` then
shows what has changed.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.factory import TraceBuilder

_WRITE = "WRITE_EXPECTED"
"""A variable of the environment; tests of the command line unset those whose names begin with MEMTRACE."""
_SHOWN_LINES = 60
_ID = re.compile(r"(?<![:\w])[0-9a-f]{32}(?:[0-9a-f]{32})?\b")
"""An id, or the hash of what a verdict depends on; hashes of values stay, which have a prefix."""
_MEASURED = re.compile(r'("\w*(?:seconds|minutes)\w*": )\d+\.\d{7,}(?:e-\d+)?', re.IGNORECASE)
"""A member with a time that was measured: it has more digits than any other."""
_ENCODED = frozenset({"attributes", "evidence", "candidates", "losses", "proof"})
"""Members that hold JSON as a text."""


def compare(test: str, name: str, found: Any, names: Mapping[str, str] | None = None) -> None:
    """Fail unless an output is what its file says.

    Args:
        test: the ``__file__`` of the test; the files are beside it, in ``expected/`` and a folder of the test's name.
        name: the name of the file.
        found: the output: text, or what ``msgspec`` can turn into JSON.
        names: names of ids, paths and the like, which take their places. Other ids are numbered in the order of the
            output.
    """
    text = found if isinstance(found, str) else json.dumps(plain(found), indent=1, ensure_ascii=False) + "\n"
    text = _with_names(text, names or {})
    file = _folder(Path(test)) / name
    if os.environ.get(_WRITE):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8", newline="")
        return
    expected = file.read_bytes().decode() if file.exists() else ""
    if text != expected:
        lines = difflib.unified_diff(expected.splitlines(), text.splitlines(), str(file), "found", lineterm="", n=2)
        told = "\n".join([*lines][:_SHOWN_LINES])
        pytest.fail(f"{told}\nIf this is meant: python -m tests.expected, and look at the diff.", pytrace=False)


def plain(found: Any) -> Any:
    """An output as objects of JSON. A text that holds JSON becomes an object, so that each part has its own line."""
    return _opened(msgspec.to_builtins(found, str_keys=True))


def ids_of(*traces: TraceBuilder) -> dict[str, str]:
    """Names of all ids of some traces, for ``compare``."""
    found = {}
    for trace in traces:
        of = "" if len(traces) == 1 else f"{trace.name}: "
        found[trace.trace.id] = f"<Trace {trace.name}>"
        for label in ("sessions", "operations", "variables", "derivations"):
            for one in getattr(trace, label):
                occurrence = getattr(one, "occurrence", 0)
                more = f"#{occurrence}" if occurrence else ""
                found[one.id] = f"<{of}{type(one).__name__} {one.external_id}{more}>"
        for failure in trace.failures:
            asked = found.get(failure.question_id, failure.question_id).strip("<>")
            found[failure.id] = f"<Failure of {asked}>"
        for verdict in trace.attributions:
            failed = found.get(verdict.failure_id, verdict.failure_id).strip("<>")
            found[verdict.id] = f"<Verdict by {verdict.author or verdict.method} on {failed}>"
    return found


def _opened(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: _opened(_decoded(value) if name in _ENCODED else value) for name, value in found.items()}
    return [_opened(one) for one in found] if isinstance(found, list) else found


def _decoded(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) and value else value


def _with_names(text: str, names: Mapping[str, str]) -> str:
    numbers: dict[str, str] = {}
    for known in names:
        if not _ID.fullmatch(known):
            text = text.replace(known, names[known])
    text = _MEASURED.sub(r"\1null", text)

    def named(found: re.Match[str]) -> str:
        id_ = found[0]
        return names.get(id_) or numbers.setdefault(id_, f"<id {len(numbers) + 1}>")

    return _ID.sub(named, text)


def _folder(test: Path) -> Path:
    return test.parent / "expected" / test.stem.removeprefix("test_").removeprefix("whole_")


def main() -> int:
    """Write the files of the named modules anew; of all modules where none is named."""
    tests = sorted(Path(__file__).parent.rglob("test_*.py"))
    comparing = [one for one in tests if "from tests.expected import" in one.read_text("utf-8")]
    modules = [Path(one).resolve() for one in sys.argv[1:]] or comparing
    for module in modules:
        shutil.rmtree(_folder(module), ignore_errors=True)
    os.environ[_WRITE] = "1"
    return int(pytest.main(["-q", "-p", "no:cacheprovider", "-m", "not neo4j", *map(str, modules)]))


if __name__ == "__main__":
    sys.exit(main())
