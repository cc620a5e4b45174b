"""Where in a document the sizes and cursors of pages are checked before anything runs."""

from __future__ import annotations

from typing import Any

import pytest
from graphql import build_schema, parse

from api.graphql.arguments import check_arguments
from api.graphql.chosen import chosen_operation
from api.graphql.pages import encode_cursor

SCHEMA = build_schema("""
interface Node { id: ID  all(first: Int, after: String): [Node] }
type Thing implements Node { id: ID  all(first: Int, after: String): [Node]  parts(first: Int, after: String): [Thing] }
union Found = Thing | Other
type Other { id: ID }
type Query {
  node(id: ID): Node
  things(first: Int, after: String): [Thing]
  found: Found
  names(first: String, after: Int): String
}
""")


def errors(document: str, **variables: Any) -> list[str]:
    chosen = chosen_operation(SCHEMA, document, parse(document), None, variables)
    assert chosen is not None
    return [one.message for one in check_arguments(chosen, hide_suggestions=True)]


@pytest.mark.parametrize(
    "document",
    [
        "{ things { parts(first: 501) { id } } }",
        "{ node { ... on Thing { parts(first: 501) { id } } } }",
        "{ node { ... { ... on Thing { parts(first: 501) { id } } } } }",
        "{ found { ... on Thing { parts(first: 501) { id } } } }",
        "{ node { ...T } } fragment T on Thing { parts(first: 501) { id } }",
        "{ node { ...N } } fragment N on Node { ... { ...T } } fragment T on Thing { parts(first: 501) { id } }",
        "{ a: node { ...T } b: node { ...T } } fragment T on Thing { parts(first: 501) { id } }",
        "query($n: Int) { node { ... on Thing { parts(first: $n) { id } } } }",
        "query($n: Int = 7) { node { ...T } } fragment T on Thing { parts(first: $n) { id } }",
        "query($o: Int = 501) { things { parts(first: $o) { id } } }",
    ],
)
def test_a_size_is_checked_wherever_it_stands(document: str) -> None:
    (told,) = errors(document, n=501)
    assert told.startswith("parts: first: 501 is not from 1 to 500")
    assert errors(document.replace("501", "500"), n=500) == []


def test_a_cursor_is_of_the_list_of_its_type() -> None:
    mine = encode_cursor("x", "Thing.parts")
    assert errors(f'{{ node {{ ... on Thing {{ parts(after: "{mine}") {{ id }} }} }} }}') == []
    for document in (f'{{ things(after: "{mine}") {{ id }} }}', f'{{ node {{ all(after: "{mine}") {{ id }} }} }}'):
        (told,) = errors(document)
        assert "is not a cursor" in told


def test_what_only_has_the_name_of_a_size_is_none() -> None:
    assert errors('{ names(first: "501", after: 3) __typename }') == []
    assert errors("query($n: Int) { things(first: $n) { id } }", n=None) == []


def test_five_errors_are_told() -> None:
    pages = " ".join(f"a{number}: things(first: 0) {{ id }}" for number in range(7))
    assert len(errors(f"{{ {pages} }}")) == 5
