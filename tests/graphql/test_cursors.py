"""Every list of the schema has cursors of its own."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import GraphQLObjectType

from api.graphql.schema import make_schema
from tests.graphql.world import World

pytestmark = pytest.mark.one_engine

LISTS = {
    "Project.annotationQueues": "annotationQueues(first: 1%s) { pageInfo { endCursor } }",
    "AnnotationQueue.mine": "annotationQueue(reference: $q) { mine(first: 1%s) { pageInfo { endCursor } } }",
    "AnnotationQueue.disputes": "annotationQueue(reference: $q) { disputes(first: 1%s) { pageInfo { endCursor } } }",
    "Failure.verdictHistory": "failure(reference: $f) { verdictHistory(first: 1%s) { pageInfo { endCursor } } }",
    "SpineBox.variables": "failure(reference: $f) { spine(maxBoxes: 5) { boxes { variables(first: 1%s) "
    "{ pageInfo { endCursor } } } } }",
    "Project.traces": "traces(first: 1%s) { pageInfo { endCursor } }",
    "Project.operations": "operations(first: 1%s) { pageInfo { endCursor } }",
    "Project.answers": "answers(first: 1%s) { pageInfo { endCursor } }",
    "Project.failures": "failures(first: 1%s) { pageInfo { endCursor } }",
    "Project.jobs": "jobs(first: 1%s) { pageInfo { endCursor } }",
    "Project.reports": "reports(first: 1%s) { pageInfo { endCursor } }",
    "Project.keys": "keys(first: 1%s) { pageInfo { endCursor } }",
    "Project.audit": "audit(first: 1%s) { pageInfo { endCursor } }",
    "Comparison.cases": "compareTraces(before: $t, after: $t) { cases(first: 1%s) { pageInfo { endCursor } } }",
    "MemoryMoment.units": "trace(reference: $t) { memory { units(first: 1%s) { pageInfo { endCursor } } } }",
    "Trace.sessions": "trace(reference: $t) { sessions(first: 1%s) { pageInfo { endCursor } } }",
    "Trace.operations": "trace(reference: $t) { operations(first: 1%s) { pageInfo { endCursor } } }",
    "Trace.variables": "trace(reference: $t) { variables(first: 1%s) { pageInfo { endCursor } } }",
    "Trace.failures": "trace(reference: $t) { failures(first: 1%s) { pageInfo { endCursor } } }",
}


def _paged(world: World, of: str, cursor: str | None = None, text: str | None = None) -> dict[str, Any]:
    """An answer with one item of a list, or with what another text of the list asks for."""
    text = (LISTS[of] if text is None else text) % ("" if cursor is None else ", after: $a")
    values = {"p": ("String!", world.project), "t": ("String!", world.ids["trace"]), "a": ("String", cursor)}
    values |= {"q": ("String!", world.ids["queue"]), "f": ("String!", world.ids["failure"])}
    used = {name: value for name, value in values.items() if name == "p" or f"${name}" in text}
    declared = ", ".join(f"${name}: {type_}" for name, (type_, _) in used.items())
    document = f"query({declared}) {{ project(name: $p) {{ name {text} }} }}"
    return world.answer(document, {name: value for name, (_, value) in used.items()}, "admin")


def _connections(value: Any) -> list[dict[str, Any]]:
    """All connections inside an answer."""
    if isinstance(value, list):
        return [found for one in value for found in _connections(one)]
    if not isinstance(value, dict):
        return []
    return [value] if "pageInfo" in value else [found for one in value.values() for found in _connections(one)]


def _of_size(world: World, of: str, first: int) -> list[tuple[int, bool, bool]]:
    """Pages of a list: the number of items, whether the page tells of a next one, and whether it has a cursor."""
    shown = "{ nodes { __typename } pageInfo { hasNextPage endCursor } }"
    text = LISTS[of].replace("{ pageInfo { endCursor } }", shown).replace("first: 1%s", f"first: {first}%s")
    answer = _paged(world, of, text=text)
    assert "errors" not in answer, answer
    pages = ((one["nodes"], one["pageInfo"]) for one in _connections(answer))
    return [(len(nodes), about["hasNextPage"], about["endCursor"] is not None) for nodes, about in pages]


def _end(answer: dict[str, Any]) -> str | None:
    """The cursor that an answer holds."""
    found = answer["data"]["project"]
    while "pageInfo" not in found:
        found = next(value for name, value in found.items() if name != "name")
        if isinstance(found, list):
            found = next((one for one in found if next(iter(one.values()))["pageInfo"]["endCursor"]), found[0])
    end: str | None = found["pageInfo"]["endCursor"]
    return end


def test_every_list_is_known_here() -> None:
    types = (one for one in make_schema()._schema.type_map.values() if isinstance(one, GraphQLObjectType))
    found = {
        f"{type_.name}.{name}"
        for type_ in types
        for name, field in type_.fields.items()
        if {"first", "after"} <= field.args.keys()
    }
    assert found == LISTS.keys()


def test_the_last_page_of_every_list_is_told(world: World) -> None:
    """A page that holds exactly what is left is the last; a page that is one short is not."""
    seen = set()
    for of in LISTS.keys() - {"Project.audit"}:  # each look at the audit log adds to it
        whole = _of_size(world, of, 500)
        for count in {count for count, *_ in whole} - {0}:
            exact, short = _of_size(world, of, count), _of_size(world, of, max(1, count - 1))
            for (total, *_), page, shorter in zip(whole, exact, short, strict=True):
                if total == count:
                    seen.add(of)
                    assert page == (count, False, False), of
                    assert shorter == (max(1, count - 1), count > 1, count > 1), of
    assert len(seen) > 10


@pytest.mark.full
def test_a_cursor_is_of_one_list_alone(world: World) -> None:
    """The list's own cursor works.

    A cursor of another list is refused before anything runs, or the whole answer would be lost.
    """
    cursors = {of: end for of in LISTS if (end := _end(_paged(world, of))) is not None}
    assert len(cursors) > 5
    for theirs, cursor in cursors.items():
        assert "errors" not in _paged(world, theirs, cursor)
        for of in LISTS.keys() - {theirs}:
            answer = _paged(world, of, cursor)
            assert answer["data"] is None
            (error,) = answer["errors"]
            assert error["extensions"] == {"code": "BAD_INPUT", "field": of.partition(".")[2]}
            assert "is not a cursor of this list" in error["message"]
            assert "path" not in error
            assert len(error["locations"]) == 1
