"""The rows of a Cypher query, as they are printed: values, nodes, relationships and paths."""

from __future__ import annotations

from typing import Any

import pytest

from api.cli.render.records import _cell, records
from api.cli.render.text import short

ID = "0123456789abcdef" * 2


def _node(key: str, *labels: str, **properties: Any) -> dict[str, Any]:
    return {"elementId": key, "labels": list(labels), "properties": properties}


def _edge(type_: str, start: str, end: str) -> dict[str, Any]:
    return {"elementId": "e", "type": type_, "start": start, "end": end, "properties": {}}


A, B = _node("1", "Variable", "Message", id=ID, name="m1"), _node("2", "Operation")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"),
        ("a\nb", "a b"),
        ("x" * 300, f"{'x' * 199}…"),
        (True, "true"),
        (1.5, "1.5"),
        ({"a": [1, None]}, '{"a":[1,null]}'),
        ([1, "a", [None]], '[1, "a", [null]]'),
        (A, f"(:Variable:Message {short(ID)} m1)"),
        (B, "(:Operation)"),
        (_node("1"), "()"),
        (_node("1", "F", name="", question="why?", errorType="E"), "(:F why?)"),
        (_node("1", "F", errorType="E", externalId="x"), "(:F E)"),
        (_node("1", "F", externalId="x"), "(:F x)"),
        (_node("1", "F", name="n" * 50), f"(:F {'n' * 39}…)"),
        (_edge("USED", "1", "2"), "[:USED]"),
        ([_edge("USED", "1", "2"), A], f"[[:USED], (:Variable:Message {short(ID)} m1)]"),
        ({"nodes": [B], "relationships": []}, "(:Operation)"),
        (
            {"nodes": [A, B, _node("3", "X")], "relationships": [_edge("USED", "2", "1"), _edge("NEXT", "2", "3")]},
            f"(:Variable:Message {short(ID)} m1)<-[:USED]-(:Operation)-[:NEXT]->(:X)",
        ),
        ({"elementId": "1", "labels": []}, '{"elementId":"1","labels":[]}'),
    ],
)
def test_a_value_is_one_line(value: Any, shown: str) -> None:
    assert _cell(value).plain == shown


def test_columns_of_numbers_are_on_the_right() -> None:
    made = records(["n", "t", "flag\n", "mixed"], [[1, "a", True, 1], [2.5, "b", False, None]])
    assert [column.justify for column in made.columns] == ["right", "left", "left", "left"]
    assert [str(column.header) for column in made.columns] == ["n", "t", "flag", "mixed"]
    assert made.row_count == 2
