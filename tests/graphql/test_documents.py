"""Bounds of documents, and what they cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from graphql import GraphQLError, get_introspection_query, get_operation_ast, parse
from hypothesis import given
from hypothesis import strategies as st

from api.graphql.cost import document_cost
from api.graphql.documents import Documents
from api.graphql.limits import Limits, check_document
from api.graphql.schema import make_schema
from api.graphql.trusted import hash_of, load_trusted
from schema.errors import InputError

SCHEMA = make_schema()._schema
LIMITS = Limits(
    characters=50_000, tokens=2000, depth=15, aliases=30, fields=500, repeats=5, operations=50, cost=100_000
)


def _cost(text: str, variables: dict[str, Any] | None = None, operation: str | None = None) -> int:
    document = parse(text)
    chosen = get_operation_ast(document, operation)
    assert chosen is not None
    return document_cost(SCHEMA, document, chosen, variables)


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("{" + "project{" * 50 + "name" + "}" * 50 + "}", "15 levels"),
        ("{" + " ".join(f"a{i}: projects {{ name }}" for i in range(31)) + "}", "30 aliases"),
        ("{" + " ".join(f"f{i}" for i in range(501)) + "}", "500 fields"),
        ("{" + "projects { name }" * 6 + "}", "5 fields of one name"),
        ("{" + "... on Query { projects { name } }" * 6 + "}", "5 fields of one name"),
        ("fragment A on Query { ...B } fragment B on Query { ...A } { ...A }", "contains itself"),
        ("fragment A on Query { ...A } { projects { name } }", "contains itself"),
        (" ".join(f"query Q{i} {{ viewer {{ actor }} }}" for i in range(51)), "50 operations"),
        ("{ viewer " + "@include(if: true) " * 501 + "{ actor } }", "500 fields"),
        (
            "fragment F0 on Project { name } "
            + " ".join(f"fragment F{i} on Project {{ t: __typename ...F{i - 1} }}" for i in range(1, 20))
            + "{ project { ...F19 } }",
            "",
        ),
    ],
)
def test_refused_before_it_is_validated(document: str, words: str) -> None:
    if not words:
        check_document(parse(document), LIMITS)
        return
    with pytest.raises(GraphQLError, match=words) as refused:
        check_document(parse(document), LIMITS)
    assert refused.value.extensions is not None
    assert refused.value.extensions["code"] == "LIMIT"


def test_depth_looks_into_fragments() -> None:
    text = "fragment T on Project { traces { nodes { operations { nodes { used { id } } } } } } { project { ...T } }"
    check_document(parse(text), replace(LIMITS, depth=7))
    with pytest.raises(GraphQLError, match="6 levels"):
        check_document(parse(text), replace(LIMITS, depth=6))


def test_the_usual_introspection_is_within_bounds() -> None:
    documents = Documents(LIMITS)
    text = get_introspection_query()
    document = documents.parse(text)
    assert not documents.validate(SCHEMA, text, document)
    assert not documents.check_cost(SCHEMA, document, None, None)


def test_tokens() -> None:
    with pytest.raises(GraphQLError, match="2,000 tokens"):
        Documents(LIMITS).parse("{" + " a" * 2100 + "}")


def test_pages_multiply() -> None:
    def pages(outer: int, inner: int) -> int:
        text = "{ project { traces(first: %d) { nodes { operations(first: %d) { nodes { id } } } } } }"
        return _cost(text % (outer, inner))

    assert pages(100, 100) > 9 * pages(10, 100)
    assert pages(10, 100) > 5 * pages(10, 10)
    assert pages(100, 100) < LIMITS.cost < pages(500, 500)


def test_variables_defaults_and_fragments_count() -> None:
    text = "query($n: Int = 400) { project { ...P } } fragment P on Project { traces(first: $n) { nodes { ...T } } }"
    text += " fragment T on Trace { failures(first: 100) { nodes { id } } }"
    assert _cost(text) > LIMITS.cost / 2
    assert _cost(text, {"n": 1}) * 100 < _cost(text)
    assert _cost(text, {"n": 10**9}) > 10**9


def test_hops_and_nodes_of_a_lineage_count() -> None:
    def lineage(arguments: str) -> int:
        return _cost(f'{{ project {{ variable(reference: "x") {{ lineage{arguments} {{ nodes {{ id }} }} }} }} }}')

    assert lineage("(maxNodes: 10000)") > 15 * lineage("(maxNodes: 500)")
    assert lineage("(maxHops: 5000)") > lineage("(maxHops: 1)") + 4000
    assert lineage("") < LIMITS.cost / 10


def test_only_the_chosen_operation_costs() -> None:
    text = "query A { viewer { actor } } query B { project { traces(first: 500) { nodes { id } } } }"
    assert _cost(text, None, "A") < _cost(text, None, "B") / 100


@given(first=st.integers(-(2**31), 2**31 - 1), nodes=st.integers(-(2**31), 2**31 - 1))
def test_cost_is_never_less_than_what_could_come(first: int, nodes: int) -> None:
    text = "query($f: Int!, $n: Int!) { project { traces(first: $f) { nodes { id } }"
    text += ' variable(reference: "x") { lineage(maxNodes: $n) { nodes { id } edges { id } } } } }'
    assert _cost(text, {"f": first, "n": nodes}) >= max(first, 0) + 2 * max(nodes, 0)


def test_an_invalid_document_tells_few_errors_and_no_names() -> None:
    documents = Documents(LIMITS)
    text = "{ projec " + " ".join(f"nope{i}" for i in range(100)) + "}"
    errors = documents.validate(SCHEMA, text, documents.parse(text))
    assert 1 <= len(errors) <= 6
    assert not any("Did you mean" in error.message for error in errors)


def test_small_valid_documents_are_remembered() -> None:
    documents = Documents(LIMITS)
    text = "{ viewer { actor } }"
    first = documents.parse(text)
    assert documents.parse(text) is not first
    assert not documents.validate(SCHEMA, text, first)
    assert documents.parse(text) is first


def test_trusted_documents(tmp_path: Any) -> None:
    text = "{ viewer { actor } }"
    file = tmp_path / "trusted.json"
    file.write_text(f'{{"{hash_of(text)}": "{text}"}}')
    trusted = load_trusted(str(file), True)
    assert trusted.allows(text)
    assert not trusted.allows(text + " ")
    assert trusted.find({"persistedQuery": {"version": 1, "sha256Hash": hash_of(text)}}) == text
    assert trusted.find(None) is None
    with pytest.raises(InputError, match="no document"):
        trusted.find({"persistedQuery": {"sha256Hash": "0" * 64}})
    file.write_text(f'{{"{hash_of(text)}": "{text} "}}')
    with pytest.raises(InputError, match="not the SHA-256"):
        load_trusted(str(file), True)
    with pytest.raises(InputError, match="needs trusted_documents"):
        load_trusted(None, True)
