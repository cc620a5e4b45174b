"""The version of the rules changes with the rules, because stored verdicts of an older version are made anew."""

from __future__ import annotations

import ast
import hashlib
import sys
from pathlib import Path

import attribution
from attribution.run import RULES
from attribution.verdicts.probabilities import CURVES

VERSION, FINGERPRINT = "88", "5cfff0b907e3c44e"
"""When this fails because a rule gives other verdicts now, raise ``RULES`` in attribution/run.py and write both here. A
change that gives the same verdicts changes the fingerprint alone."""

_ROOT = Path(attribution.__file__).parent


def test_a_changed_rule_has_a_new_version() -> None:
    assert (RULES, fingerprint()) == (VERSION, FINGERPRINT)


def test_the_fingerprint_covers_all_that_the_free_pass_is_made_of() -> None:
    names = {path.relative_to(_ROOT).as_posix() for path in modules()}
    assert {
        "free_pass/flow.py",
        "free_pass/rules.py",
        "free_pass/loss.py",
        "needed/presence.py",
        "needed/messages.py",
        "verdicts/probabilities.py",
        "text/dates.py",
    } <= names


def test_comments_and_names_of_modules_are_no_rules(tmp_path: Path) -> None:
    one, other, changed = (tmp_path / name for name in ("one.py", "other.py", "changed.py"))
    one.write_text('"""Says."""\nimport os\n\nX = 1  # why\n', "utf-8")
    other.write_text('"""Says it better."""\nimport sys\n\nX = 1\n', "utf-8")
    changed.write_text('"""Says."""\nimport os\n\nX = 2  # why\n', "utf-8")
    assert _meaning(one) == _meaning(other) != _meaning(changed)


def fingerprint() -> str:
    """Of the meaning of all modules of the free pass."""
    found = hashlib.sha256()
    for path in sorted(modules()):
        found.update(_meaning(path).encode())
    found.update((_ROOT / "verdicts" / CURVES).read_bytes())
    return found.hexdigest()[:16]


def modules() -> set[Path]:
    """The modules of the free pass: ``flow`` and everything in ``attribution`` that ``flow`` imports."""
    found: set[Path] = set()
    waiting = ["attribution.free_pass.flow"]
    while waiting:
        __import__(name := waiting.pop())
        path = Path(sys.modules[name].__file__ or "")
        if path in found:
            continue
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("attribution"):
                assert node.module is not None
                waiting.append(node.module)
                waiting += [
                    f"{node.module}.{one.name}"
                    for one in node.names
                    if (_path(node.module) / f"{one.name}.py").exists()
                ]
    return {path for path in found if path.name != "__init__.py"}


def _path(module: str) -> Path:
    return _ROOT.parent / module.replace(".", "/")


def _meaning(path: Path) -> str:
    """A module without its comments, docstrings and imports, the same text on each version of Python."""
    return _text(ast.parse(path.read_text("utf-8")))


def _text(found: object) -> str:
    if isinstance(found, list):
        return f"[{','.join(_text(one) for one in found if not _says_nothing(one))}]"
    if not isinstance(found, ast.AST):
        return repr(found)
    # What is empty is left out: newer versions know fields that older ones don't.
    fields = ((name, value) for name, value in ast.iter_fields(found) if value not in (None, []) and name != "ctx")
    return f"{type(found).__name__}({','.join(f'{name}={_text(value)}' for name, value in fields)})"


def _says_nothing(found: object) -> bool:
    is_text = isinstance(found, ast.Expr) and isinstance(found.value, ast.Constant)
    return is_text or isinstance(found, ast.Import | ast.ImportFrom)
