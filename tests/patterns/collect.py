"""Finds the regular expressions of the product: constants of modules, and calls of ``re`` with a literal pattern."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import TypeIs

from tests.data import ROOT

FOLDERS = ("schema", "store", "ingest", "attribution", "optimization", "api", "sdk/memtrace")
_CALLS = {"compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn"}
_ANCHORED = {"match", "fullmatch"}
BUILT = {
    "attribution/free_pass/detail_finder.py": re.compile("alpha|beta|al", re.IGNORECASE),
    "attribution/llm/agent/quotes.py": re.compile(r"alpha\s+beta\s+gamma"),
    "attribution/text/money.py": re.compile(r"chf|fr\.|swiss\s+francs?|schweizer\s+franken", re.IGNORECASE),
    "attribution/text/scripts.py": re.compile("[\u0400-\u04ff]"),
    "attribution/text/weekdays.py": re.compile(
        r"\b(?:(?:monday|lunes)s?|понедельник\w*)\b|月曜|(?:星期|周)一", re.IGNORECASE
    ),
    "store/sqlite/context.py": re.compile(r"(-?\d{1,18}):([0-9a-f]{32})"),
}
"""An example for each module that builds patterns from words at run time."""


@dataclass(frozen=True)
class Use:
    """A pattern, and the methods by which the product applies it.

    Attributes:
        place: ``file:line`` of the pattern.
        pattern: the compiled pattern.
        methods: names of ``re.Pattern``'s methods that the product calls; all methods where no call is found.
    """

    place: str
    pattern: re.Pattern[str] | re.Pattern[bytes]
    methods: frozenset[str]


def uses() -> Iterator[Use]:
    """All patterns of the product.

    Raises:
        ValueError: a pattern is built where the lint can't see it; the message names the place.
    """
    trees = {path: ast.parse(path.read_text("utf-8")) for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
    called = _called(trees)
    for path, tree in sorted(trees.items()):
        names = {value: name for node in tree.body for name, value in _constants(node)}
        for call in ast.walk(tree):
            if not _is_call_of_re(call):
                continue
            place = f"{path.relative_to(ROOT)}:{call.lineno}"
            if call in names:
                pattern = getattr(importlib.import_module(_module(path)), names[call])
                methods = called.get((_module(path), names[call]), set())
            else:
                pattern, methods = _literal(call, place), {_method(call)}
            if pattern is not None:
                yield Use(place, pattern, frozenset(methods - {"compile"} or _CALLS - {"compile"}))


def is_anchored(use: Use) -> bool:
    """Whether the pattern is tried at the start of a text only."""
    return use.methods <= _ANCHORED


def _constants(node: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
        yield node.targets[0].id, node.value


def _called(trees: dict[Path, ast.Module]) -> dict[tuple[str, str], set[str]]:
    """The methods of ``re.Pattern`` that are called, by the constant's module and name."""
    found: dict[tuple[str, str], set[str]] = {}
    for path, tree in trees.items():
        here = _module(path)
        imported = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in _CALLS and isinstance(node.value, ast.Name):
                name = node.value.id
                found.setdefault(imported.get(name, (here, name)), set()).add(node.attr)
    return found


def _is_call_of_re(node: ast.AST) -> TypeIs[ast.Call]:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in _CALLS
    )


def _method(call: ast.Call) -> str:
    assert isinstance(call.func, ast.Attribute)
    return call.func.attr


def _literal(call: ast.Call, place: str) -> re.Pattern[str] | re.Pattern[bytes] | None:
    first = call.args[0]
    if isinstance(first, ast.Name):
        return None  # the constant itself is attacked as a constant
    if isinstance(first, ast.Constant) and isinstance(first.value, str | bytes):
        return re.compile(first.value)
    built = BUILT.get(place.partition(":")[0])
    if built is None:
        raise ValueError(f"{place}: the pattern is built at run time; add an example to {__name__}.BUILT")
    return built


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts[1:] if parts[0] == "sdk" else parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
