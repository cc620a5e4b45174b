"""What docs/extending.md says of the code is true."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pytest

from attribution.free_pass import rules
from ingest.files.registry import FORMATS
from schema.kinds import ErrorType, OperationKind, VariableKind
from tests.data import ROOT

PAGE = ROOT / "docs" / "extending.md"
_FOLDERS = ("api", "attribution", "docs", "ingest", "schema", "sdk/memtrace", "store")
_TEXTS = {".py", ".json", ".md", ".graphql", ".cypher", ".sql", ".html", ".css", ".js"}
_FORMATS = [type(one).__module__.split(".")[-2] for one in FORMATS]


def section(title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert found, title
    return found[1]


def paths(text: str) -> Iterator[str]:
    """Files and folders of the project that a text names."""
    for name in re.findall(r"`([^`\s()]+)`", text):
        if "/" in name or name.endswith((".md", ".toml")):
            yield name


def rows(text: str) -> dict[str, str]:
    """Of the rows of a table, the second cell by the first."""
    return dict(re.findall(r"^\| (`[^|]+) \| ([^|]+) \|$", text, re.MULTILINE))


def texts() -> Iterator[tuple[str, str]]:
    for folder in _FOLDERS:
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in _TEXTS and path != PAGE:
                yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def test_every_file_that_is_named_is_there() -> None:
    named = [*paths(PAGE.read_text("utf-8")), *paths((ROOT / "CONTRIBUTING.md").read_text("utf-8"))]
    assert len(named) > 60
    for name in named:
        for format_ in _FORMATS if "NAME" in name else [""]:
            path = name.replace("NAME", format_)
            assert (ROOT / path).exists(), path


def test_every_format_is_a_folder_a_line_and_a_name_in_the_contract() -> None:
    folders = {path.name for path in (ROOT / "ingest" / "files").iterdir() if (path / "__init__.py").exists()}
    assert set(_FORMATS) == folders
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (layers,) = [one["layers"] for one in contracts if one.get("containers") == ["ingest.files"]]
    assert folders in [set(layer.split(" | ")) for layer in layers]


@pytest.mark.parametrize(
    ("title", "kinds"),
    [("A kind", VariableKind), ("A kind", OperationKind), ("An error type", ErrorType)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_files_that_name_all_of_a_list_are_those_of_the_page(title: str, kinds: type[StrEnum]) -> None:
    words = [re.compile(rf"\b({kind.value}|{kinds.__name__}\.{kind.name})\b") for kind in kinds]
    naming = {name for name, text in texts() if all(word.search(text) for word in words)}
    assert set(paths(rows(section(title))[f"`{kinds.__name__}`"])) == naming


def test_every_rule_is_asked_by_the_pass() -> None:
    public = {
        name
        for name, value in vars(rules).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == rules.__name__ and name != "Finding"
    }
    stages = [(ROOT / "attribution" / "free_pass" / name).read_text("utf-8") for name in ("needs.py", "trial.py")]
    asked = {rule for text in stages for rule in re.findall(r"\brules\.(\w+)\(", text)}
    assert public == asked


def test_no_interface_names_a_column_that_failures_only_declare() -> None:
    """For example ``questionExternalId``, which every interface takes from the declaration."""
    named = {path for cell in rows(section("A column of a failure")) for path in paths(cell)}
    assert len(named) < 7
    column = re.compile(r"question_external_id|questionExternalId")
    naming = {name for name, text in texts() if column.search(text) and name.startswith("api/")}
    assert naming - named <= {"api/cli/documents.py"}, "a verdict names its question, too"


def test_every_file_of_a_field_has_the_field_of_the_example() -> None:
    named = [path for cell in rows(section("A field")) for path in paths(cell)]
    assert len(named) > 15
    for name in named:
        assert re.search(r"comment\b|comment_k\b", (ROOT / name).read_text("utf-8")), name


def test_every_file_of_a_field_that_is_said_later_has_the_field_of_the_example() -> None:
    named = [path for cell in rows(section("A field that is said later")) for path in paths(cell)]
    assert len(named) > 6
    for name in named:
        assert re.search(r"right\b|right_answers\b", (ROOT / name).read_text("utf-8")), name


def test_no_file_of_schema_and_store_but_those_of_the_page_names_a_stored_field() -> None:
    """For example ``tokens`` of a verdict, of which neither engine knows anything in particular."""
    stored, _, _ = section("A field").partition("On its way from the application")
    named = {path for cell in rows(stored) for path in paths(cell) if not path.startswith("tests/")}
    assert len(rows(stored)) < 7
    floors = [(name, text) for name, text in texts() if name.startswith(("schema/", "store/"))]
    assert {name for name, text in floors if re.search(r"\btokens\b", text)} == named


def test_what_programs_write_is_written_by_the_programs_that_are_named() -> None:
    for module in re.findall(r"`python -m ([\w.]+)", PAGE.read_text("utf-8")):
        path = Path(*module.split("."))
        places = [ROOT / base / path for base in ("", "sdk")]
        files = [file for place in places for file in (place.with_suffix(".py"), place / "__main__.py")]
        assert any(file.exists() and "__main__" in file.read_text("utf-8") for file in files), module
