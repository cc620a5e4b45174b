"""Names of a span's variables and edges: what they are made of, and how long they may be."""

from __future__ import annotations

import pytest
from memtrace.kinds import MAX_ID_CHARACTERS

from ingest.otlp.names import NameParts, edge_name, name_parts, said, short, variable_name

TRACE, OPERATION = "a" * 32, f"{'a' * 32}-{'b' * 16}"


@pytest.mark.parametrize("side", ["input", "output"])
def test_a_name_is_read_as_it_was_made(side: str) -> None:
    name = variable_name(OPERATION, side, 3)
    assert name == f"{OPERATION}/{side}/3"
    assert name_parts(name) == NameParts(TRACE, OPERATION, side)


@pytest.mark.parametrize(
    "name",
    [OPERATION, f"{OPERATION}/other/0", f"{OPERATION}c/input/0", f"{'a' * 33}{'b' * 16}/input/0", "note", "a/input/0"],
)
def test_other_names_belong_to_no_span(name: str) -> None:
    assert name_parts(name) is None


def test_a_long_name_is_cut_to_the_limit_and_ends_in_its_hash() -> None:
    fits = "x" * MAX_ID_CHARACTERS
    assert short(fits) == fits
    cut, other = short(f"{fits}y"), short(f"{fits}z")
    assert len(cut) == MAX_ID_CHARACTERS
    assert cut.startswith("x" * (MAX_ID_CHARACTERS - 33) + "-")
    assert cut != other
    assert len(short("\ud800" * (MAX_ID_CHARACTERS + 1))) == MAX_ID_CHARACTERS
    assert edge_name("a", "b") == "a>b"


@pytest.mark.parametrize(
    ("attributes", "found"), [({"otel": {"side": "input"}}, {"side": "input"}), ({"otel": "text"}, None), ({}, None)]
)
def test_what_opentelemetry_said_is_an_object(attributes: dict[str, object], found: object) -> None:
    assert said(attributes) == found
