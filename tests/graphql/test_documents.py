"""Bounds and costs of documents."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections import Counter
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from graphql import (
    FieldNode,
    GraphQLError,
    Location,
    SourceLocation,
    Token,
    build_schema,
    execute_sync,
    get_introspection_query,
    parse,
    print_ast,
)
from hypothesis import given
from hypothesis import strategies as st

import api.graphql.documents
import api.graphql.introspection
from api.graphql.chosen import ChosenOperation, chosen_operation
from api.graphql.cost import document_cost, field_count
from api.graphql.documents import REMEMBERED, Documents
from api.graphql.introspection import asked_of_schema, schema_cost
from api.graphql.limits import Limits, check_document
from api.graphql.trusted import hash_of, load_trusted
from schema.errors import InputError
from tests.graphql.built import SCHEMA as BUILT

SCHEMA = BUILT._schema
LIMITS = Limits(
    characters=50_000, tokens=2000, depth=15, aliases=30, fields=500, repeats=5, operations=50, cost=100_000
)


def _chosen(text: str, variables: dict[str, Any] | None = None, operation: str | None = None) -> ChosenOperation:
    chosen = chosen_operation(SCHEMA, text, parse(text), operation, variables)
    assert chosen is not None
    return chosen


def _cost(text: str, variables: dict[str, Any] | None = None, operation: str | None = None) -> int:
    return document_cost(_chosen(text, variables, operation))


@pytest.mark.parametrize(
    ("document", "fields"),
    [
        ("{ viewer { actor } }", 2),
        ("{ project { name role } }", 3),
        ("{ projects { name role } }", 1 + 10 * 2),
        ("{ project { traces(first: 7) { nodes { id name } pageInfo { hasNextPage } } } }", 2 + 7 * (1 + 2 + 1 + 1)),
        ("{ project { ...P ...P } } fragment P on Project { name }", 3),
        ("{ project { diff(before: 1, after: 2) { unified } } }", 3),
        ("{ project { variable(reference: 1) { lineage(maxNodes: 50) { nodes { id } truncated } } } }", 3 + 50 * 3),
        ("mutation { deleteTrace(project: 1, id: 2) { __typename } }", 1),
    ],
)
def test_fields_of_an_answer_are_counted_with_leaves_and_pages(document: str, fields: int) -> None:
    assert field_count(_chosen(document)) == fields


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


_WHOLE = {
    "descriptions": True,
    "specified_by_url": True,
    "directive_is_repeatable": True,
    "schema_description": True,
    "input_value_deprecation": True,
}


@pytest.mark.parametrize("options", [{}, _WHOLE])
async def test_the_usual_introspection_is_within_bounds(options: dict[str, bool]) -> None:
    documents = Documents(LIMITS)
    text = get_introspection_query(**options)
    chosen = _chosen(text)
    assert not (await documents.read(SCHEMA, text))[1]
    assert not await documents.check_cost(chosen)
    found = await documents.answer_of_schema(chosen)
    assert found is not None
    assert msgspec.json.decode(msgspec.json.encode(found.data)) == execute_sync(SCHEMA, chosen.document).data


async def _asked_of_schema(
    text: str, variables: dict[str, Any] | None = None, cost: int = LIMITS.cost
) -> list[GraphQLError]:
    documents = Documents(replace(LIMITS, aliases=100, cost=cost))
    assert not (await documents.read(SCHEMA, text))[1]
    return await documents.check_cost(_chosen(text, variables))


def _leaves(value: Any) -> int:
    """How many fields an answer has."""
    if isinstance(value, dict):
        return sum(1 + _leaves(one) for one in value.values())
    return sum(map(_leaves, value)) if isinstance(value, list) else 0


_TYPES = "types { name fields { name args { name type { name ofType { name } } } type { name ofType { name } } } }"


_TIMES = range(3)


@pytest.mark.parametrize(
    "text",
    [
        "{" + " ".join(f"a{i}: __schema {{ {_TYPES} }}" for i in _TIMES) + "}",
        "{ __schema {" + " ".join(f"a{i}: types {{ ...F }}" for i in _TIMES) + "} }"
        " fragment F on __Type { name fields { name description type { name kind fields { name type { name } } } } }",
        "{ __schema { types { "
        + " ".join(f"a{i}: fields {{ type {{ ofType {{ fields {{ name type {{ name }} }} }} }} }}" for i in _TIMES)
        + "} } }",
        'query($n: String = "Project") {'
        + " ".join(f"a{i}: __type(name: $n) {{ fields {{ args {{ type {{ ...T }} }} }} }}" for i in range(50))
        + "} fragment T on __Type { ofType { ...N ofType { ...N } } ...N } fragment N on __Type {"
        + " ".join(f"n{i}: name" for i in range(20))
        + "}",
        "{ ...A } fragment A on Query { ...B } fragment B on Query { __schema { ...C a: types { ...T } } }"
        " fragment C on __Schema { types { ...T } } fragment T on __Type { possibleTypes { name }"
        + " ".join(f"a{i}: fields {{ args {{ name }} type {{ fields {{ name description }} }} }}" for i in _TIMES)
        + "}",
    ],
)
async def test_what_is_asked_of_the_schema_costs_as_it_multiplies(text: str) -> None:
    cost = LIMITS.cost // 10
    (error,) = await _asked_of_schema(text, cost=cost)
    assert error.extensions is not None
    assert error.extensions["code"] == "LIMIT"
    chosen = _chosen(text)
    whole = schema_cost(chosen, asked_of_schema(chosen), 10**12)
    assert whole == _leaves(execute_sync(SCHEMA, chosen.document).data)
    assert 3 * whole > cost


async def test_what_is_asked_of_the_schema_costs_just_what_comes() -> None:
    def leaves(value: Any) -> int:
        if isinstance(value, dict):
            return sum(1 + leaves(one) for one in value.values())
        return sum(map(leaves, value)) if isinstance(value, list) else 0

    text = '{ ...R s: __schema { queryType { name } directives { ...D locations } } __type(name: "Node") { ...T } }'
    text += (
        " fragment R on Query { __schema { types { ...T __typename } } } fragment D on __Directive { args { name } }"
    )
    text += " fragment T on __Type { kind fields { name args { type { ofType { name } } } } possibleTypes { name }"
    text += " enumValues { name } inputFields { name type { name } } interfaces { fields { name } } }"
    chosen = _chosen(text)
    asked = asked_of_schema(chosen)
    assert asked.is_all
    assert schema_cost(chosen, asked, 10**9) == _leaves(execute_sync(SCHEMA, chosen.document).data)


async def test_an_answer_about_the_schema_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = Documents(LIMITS)
    worked_out = []

    def execute(*args: Any, **kwargs: Any) -> Any:
        worked_out.append(threading.current_thread().name)
        return execute_sync(*args, **kwargs)

    monkeypatch.setattr(api.graphql.introspection, "execute_sync", execute)
    plain = "query Q($n: String!) { __type(name: $n) { name } }"
    spaced = "query Q($n: String!) {\n  __type(name: $n) {\n    name # of it\n  }\n}"

    async def answer(text: str, **variables: Any) -> Any:
        assert not (await documents.read(SCHEMA, text))[1]
        chosen = _chosen(text, variables, "Q")
        assert not await documents.check_cost(chosen)
        found = await documents.answer_of_schema(chosen)
        assert found is not None
        return found.errors or msgspec.json.decode(msgspec.json.encode(found.data))["__type"]["name"]

    answers = await asyncio.gather(*(answer(text, n="Trace") for text in (plain, spaced) * 10))
    assert answers == ["Trace"] * 20
    assert len(worked_out) == 1
    assert worked_out[0].startswith("introspection")
    assert await answer(plain, n="Session") == "Session"
    assert len(worked_out) == 2
    assert "to be provided" in str(await answer(plain))
    assert "to be provided" in str(await answer(plain))
    assert len(worked_out) == 4


async def test_little_is_asked_of_the_schema_beside_other_things() -> None:
    assert not await _asked_of_schema('{ projects { name } __type(name: "Trace") { fields { name } } }')
    (error,) = await _asked_of_schema("{ projects { name } __schema { " + _TYPES + " } }")
    assert "in a document of its own" in error.message


async def test_an_unknown_document_is_read_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = []

    def noted(function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            threads.append(threading.current_thread())
            return function(*args, **kwargs)

        return call

    for name in ("parse_document", "errors_of", "check_document"):
        monkeypatch.setattr(api.graphql.documents, name, noted(getattr(api.graphql.documents, name)))
    documents = Documents(LIMITS)
    for _ in range(2):
        assert not (await documents.read(SCHEMA, "{ viewer { actor } }"))[1]
    assert len(threads) == 3
    assert threading.main_thread() not in threads


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


def test_an_invalid_document_tells_few_errors_and_no_names_where_the_schema_is_not_told() -> None:
    documents = Documents(LIMITS, introspection=False)
    text = "{ projec " + " ".join(f"nope{i}" for i in range(100)) + "}"
    errors = documents.validate(SCHEMA, text, documents.parse(text))
    assert 1 <= len(errors) <= 6
    assert not any("Did you mean" in error.message for error in errors)
    for wrong in ("{ failures { id } }", "{ project { failures { id } } }", "mutation { nothing }"):
        (error, *_) = documents.validate(SCHEMA, wrong, documents.parse(wrong))
        assert error.message.endswith("'.")


def test_small_valid_documents_are_remembered() -> None:
    documents = Documents(LIMITS)
    text = "{ viewer { actor } }"
    first = documents.parse(text)
    assert documents.parse(text) is not first
    assert not documents.validate(SCHEMA, text, first)
    assert documents.parse(text) is first


def test_a_remembered_tree_has_few_objects_and_says_where_running_it_fails() -> None:
    documents = Documents(LIMITS)
    text = "query($n: Int!) {\n  viewer { actor }\n  project { traces(first: $n) { nodes { id name } } }\n}"

    def in_memory() -> tuple[int, int]:
        gc.collect()
        found = Counter(type(item) for item in gc.get_objects())
        return found[Token], found[Location]

    tokens, places = in_memory()
    tree = documents.parse(text)
    parsed_tokens, parsed_places = in_memory()
    assert not documents.validate(SCHEMA, text, tree)
    kept_tokens, kept_places = in_memory()
    assert parsed_tokens > tokens
    assert kept_tokens == tokens
    assert 0 < kept_places - places < (parsed_places - places) / 2
    assert documents.parse(text) is tree
    errors = execute_sync(SCHEMA, tree, variable_values={"n": "many"}).errors
    assert errors
    assert errors[0].locations == [SourceLocation(1, 7)]


@pytest.mark.parametrize("written", ["numbers: [$n]", "one: {n: $n}"])
def test_a_remembered_tree_says_where_a_part_of_a_value_is_wrong(written: str) -> None:
    schema = build_schema("type Query { sum(numbers: [Int!], one: One): Int } input One { n: Int! }")
    documents = Documents(LIMITS)
    text = f"query($n: Int = 1) {{ sum({written}) }}"
    tree = documents.parse(text)
    assert not documents.validate(schema, text, tree)
    errors = execute_sync(schema, tree, variable_values={"n": None}).errors
    assert errors
    assert errors[0].locations


def test_those_used_last_are_remembered_up_to_a_size() -> None:
    documents = Documents(LIMITS)
    names = [f"{number:04}".ljust(3000, "x") for number in range(3 * REMEMBERED // 3000)]
    trees = {}
    for name in names:
        text = f"query q{name} {{ viewer {{ actor }} }}"
        trees[text] = documents.parse(text)
        assert not documents.validate(SCHEMA, text, trees[text])
        documents.parse(next(iter(trees)))  # the first one is used again and again
    kept = [text for text, tree in trees.items() if documents.parse(text) is tree]
    assert kept[0] == next(iter(trees))
    assert kept[1:] == list(trees)[-len(kept) + 1 :]
    assert REMEMBERED - 3100 < sum(map(len, kept)) <= REMEMBERED


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


def test_trees_are_freed_without_the_garbage_collector() -> None:
    documents = Documents(LIMITS)
    large = (
        "{ " + " ".join(f"a{i}: projects {{ name role traces {{ nodes {{ id name }} }} }}" for i in range(30)) + " }"
    )
    gc.collect()
    gc.disable()
    try:
        document, errors = documents._read(SCHEMA, large)
        assert errors == []
        assert print_ast(document).count("nodes") == 30
        del document
        trees = [one for one in gc.get_objects() if isinstance(one, FieldNode | Token) and "a29" in str(one)]
        assert trees == []
        (error,) = documents._read(SCHEMA, "{\n  projects { nam }\n}")[1]
        assert error.locations == [SourceLocation(2, 14)]
    finally:
        gc.enable()
