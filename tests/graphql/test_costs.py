"""What each part of a document costs, exactly, and each bound of a document at its border."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from graphql import GraphQLError, GraphQLObjectType, build_schema, parse

from api.graphql.chosen import ChosenOperation, chosen_operation
from api.graphql.cost import LONG, document_cost, field_count
from api.graphql.known_costs import KnownCosts
from api.graphql.limits import LimitError, Limits, check_document

SCHEMA = build_schema("""
scalar JSON
interface Named { name: String }
type Query {
  plain: String
  names: [String!]!
  long: String
  longs: [String]
  data: JSON
  one: Thing!
  dear: Thing
  things: [Thing!]!
  three: [Thing]
  paged(first: Int = 50): Thing
  sized(most: Int!): [Thing]
  lineage(maxHops: Int = 7): Thing
  text(length: Int = 4000): String
  named: Named
}
type Thing implements Named { name: String  other: String  things(first: Int = 5): [Thing] }
type Mutation { add: Thing }
""")
METADATA: dict[str, dict[str, Any]] = {
    "long": dict(LONG),
    "longs": dict(LONG),
    "dear": {"cost": 30},
    "three": {"size": 3},
    "sized": {"size": "most"},
    "text": {"cost": 1, "per": ("length", 1000)},
}
ROOT = SCHEMA.query_type
assert isinstance(ROOT, GraphQLObjectType)
for _name, _metadata in METADATA.items():
    ROOT.fields[_name].extensions = {"strawberry-definition": SimpleNamespace(metadata=_metadata)}

# Strawberry gives an argument's default as a value; a schema that is built from text would keep it as a node.
THINGS = SCHEMA.type_map["Thing"]
assert isinstance(THINGS, GraphQLObjectType)
for _of, _field, _argument, _default in (
    (ROOT, "paged", "first", 50),
    (ROOT, "lineage", "maxHops", 7),
    (ROOT, "text", "length", 4000),
    (THINGS, "things", "first", 5),
):
    _of.fields[_field].args[_argument].default_value = _default

THING = 20 + 20
"""A field with one element, in twentieths: the field, and the element."""


def twentieths(document: str, variables: dict[str, Any] | None = None, times: int = 20) -> int:
    """The cost of a selection in twentieths. Twenty aliases of the selection make a whole number."""
    repeated = " ".join(f"a{number}: {document}" for number in range(times))
    text = ("query($n: Int, $d: Int = 4) " if "$" in document else "") + f"{{ {repeated} }}"
    chosen = chosen_operation(SCHEMA, text, parse(text), None, variables)
    assert chosen is not None
    cost = document_cost(chosen) * 20
    assert cost % times == 0
    return cost // times


@pytest.mark.parametrize(
    ("document", "cost"),
    [
        ("plain", 1),
        ("__typename", 0),
        ("names", 10),
        ("long", 10),
        ("longs", 100),
        ("data", 10),
        ("one { name }", THING + 1),
        ("one { name other }", THING + 2),
        ("one { __typename }", THING),
        ("dear { name }", 30 * 20 + 20 + 1),
        ("things { name }", 20 + 10 * 21),
        ("three { name }", 20 + 3 * 21),
        ("paged { name }", 20 + 50 * 21),
        ("paged(first: 1) { name }", 20 + 21),
        ("paged(first: 0) { name }", 20 + 21),
        ("paged(first: -3) { name }", 20 + 21),
        ("paged(first: 2) { name }", 20 + 2 * 21),
        ("sized(most: 4) { name }", 20 + 4 * 21),
        ("sized(most: $n) { name }", 20 + 10 * 21),
        ("sized(most: $d) { name }", 20 + 4 * 21),
        ("one { things(first: 2) { things { name } } }", THING + 20 + 2 * (20 + 20 + 5 * 21)),
        ("one { ... { name } ... on Thing { other } }", THING + 2),
        ("named { name }", THING + 1),
        ("lineage { name }", 8 * 20 + 21),
        ("lineage(maxHops: 0) { name }", 20 + 21),
        ("lineage(maxHops: 3) { name }", 4 * 20 + 21),
        ("lineage(maxHops: -1) { name }", 101 * 20 + 21),
        ("lineage(maxHops: $n) { name }", 101 * 20 + 21),
        ("text", 5 * 20),
        ("text(length: 999)", 20),
        ("text(length: 1000)", 2 * 20),
        ("text(length: -5000)", 20),
        ("text(length: $n)", 101 * 20),
    ],
)
def test_each_part_has_its_cost(document: str, cost: int) -> None:
    assert twentieths(document) == cost


@pytest.mark.parametrize(
    ("value", "cost"), [(6, 6 * 21), (0, 21), (-1, 21), (None, 210), (True, 210), ("6", 210), (2.5, 210), (6.0, 6 * 21)]
)
def test_the_size_in_a_variable_counts_if_it_is_a_number(value: object, cost: int) -> None:
    assert twentieths("sized(most: $n) { name }", {"n": value}) == 20 + cost
    assert twentieths("sized(most: $d) { name }", {"d": value}) == 20 + cost


def test_a_whole_number_may_be_written_with_a_point() -> None:
    assert twentieths("lineage(maxHops: $n) { name }", {"n": 3.0}) == 4 * 20 + 21
    assert twentieths("text(length: $n)", {"n": 1000.0}) == 2 * 20


def test_a_known_cost_is_not_counted_again_and_belongs_to_its_numbers() -> None:
    counted: list[object] = []

    def count(chosen: ChosenOperation) -> int:
        counted.append(dict(chosen.variables))
        return document_cost(chosen)

    def cost(document: str, variables: dict[str, Any] | None = None, name: str | None = None) -> int:
        chosen = chosen_operation(SCHEMA, document, parse(document), name, variables)
        assert chosen is not None
        return known.of(chosen)

    known = KnownCosts(count)
    sized = "query($n: Int!, $s: String) { sized(most: $n) { name } }"
    values: tuple[Any, ...] = (6, 60, 6.0, True, None, 6.5)
    costs = [cost(sized, {"n": value, "s": "a"}) for value in values]
    assert len(set(costs)) == 3
    assert costs[0] == costs[2] < costs[3] == costs[4] == costs[5] < costs[1]
    assert [cost(sized, {"n": value, "s": "b"}) for value in values] == costs
    assert len(counted) == len(values)
    two = "query A { sized(most: 1) { name } } query B { sized(most: 400) { name } }"
    assert cost(two, name="A") < cost(two, name="B") > cost(two, name="A")
    counted.clear()
    assert cost(sized, {"n": 6, "s": "a"} | {f"v{number}": number for number in range(100)}) == costs[0]
    long = sized + " " * 5000
    assert [cost(long, {"n": 6}), cost(long, {"n": 60}), cost(long, {"n": 6})] == [costs[0], costs[1], costs[0]]
    assert len(counted) == 4


def test_only_the_newest_costs_are_known() -> None:
    counted: list[int] = []

    def count(chosen: ChosenOperation) -> int:
        counted.append(chosen.variables["n"])
        return 1

    known = KnownCosts(count)
    text = "query($n: Int!) { sized(most: $n) { name } }"
    chosen = chosen_operation(SCHEMA, text, parse(text), None, {})
    assert chosen is not None
    for number in [*range(300), 299, 0, 299]:
        known.of(replace(chosen, variables={"n": number}))
    assert counted == [*range(300), 0]


def test_costs_are_rounded_up() -> None:
    for names, cost in ((1, 1), (20, 1), (21, 2)):
        text = "{ " + " ".join(f"a{number}: plain" for number in range(names)) + " }"
        chosen = chosen_operation(SCHEMA, text, parse(text), None, None)
        assert chosen is not None
        assert document_cost(chosen) == cost


def test_a_fragment_costs_where_it_is_spread() -> None:
    text = """query A { one { ...F } things { ...F ...F } } query B { plain } mutation C { add { name } }
    fragment F on Thing { name other }"""
    costs, fields = {}, {}
    for name in "ABC":
        chosen = chosen_operation(SCHEMA, text, parse(text), name, None)
        assert chosen is not None
        costs[name], fields[name] = document_cost(chosen), field_count(chosen)
    assert costs == {"A": -(-(THING + 2 + 20 + 10 * 24) // 20), "B": 1, "C": -(-(THING + 1) // 20)}
    assert fields == {"A": 1 + 2 + 1 + 10 * 4, "B": 1, "C": 2}


EXACT = Limits(characters=1, tokens=1, depth=3, aliases=2, fields=8, repeats=2, operations=2, cost=1)
BOUNDS = {
    "depth": ("{ a { b { c } } }", "levels of fields"),
    "aliases": ("{ x: a y: b c }", "aliases"),
    "fields": ("{ a @x { b c ... on T { d } ...F } } fragment F on T { e }", "fields"),
    "repeats": ("{ a a b { a a } ... { c } }", "fields of one name in one place"),
    "operations": ("query A { a } query B { b }", "operations and fragments"),
}


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_document_at_a_bound_is_taken_and_beyond_it_refused(bound: str) -> None:
    text, what = BOUNDS[bound]
    document = parse(text)
    check_document(document, EXACT)
    limit = getattr(EXACT, bound)
    with pytest.raises(LimitError, match=f"^the document has more than {limit - 1} {what}") as caught:
        check_document(document, replace(EXACT, **{bound: limit - 1}))
    assert caught.value.extensions == {"code": "LIMIT", "limit": limit - 1}


@pytest.mark.parametrize(
    ("text", "bound", "within"),
    [
        ("{ x: a a: b a }", "repeats", True),
        ("{ x: a x: b x: c }", "repeats", False),
        ("{ a ... { a ... on T { a } } }", "repeats", False),
        ("{ a b { a } c { a } }", "repeats", True),
        ("{ a { ...F } } fragment F on T { b { c } }", "depth", True),
        ("{ a { ...F } } fragment F on T { b { c { d } } }", "depth", False),
        ("{ a { ... { b { c } } } }", "depth", True),
        ("{ a { ...Missing } }", "depth", True),
        ("{ a { b } c { d { e { f } } } }", "depth", False),
        ("fragment F on T { x: a y: b z: c } { a }", "aliases", False),
        ("{ x: a } fragment F on T { y: b }", "aliases", True),
        ("{ x: a } fragment F on T { y: b z: c }", "aliases", False),
        ("{ a b c d e f g h }", "fields", True),
        ("{ a b c d e f g h i }", "fields", False),
        ("{ a b c d e f g @x @y }", "fields", False),
    ],
)
def test_bounds_look_into_fragments_and_count_them_once(text: str, bound: str, within: bool) -> None:
    if within:
        check_document(parse(text), EXACT)
    else:
        with pytest.raises(LimitError, match=BOUNDS[bound][1]):
            check_document(parse(text), EXACT)


@pytest.mark.parametrize(
    "text", ["{ ...F } fragment F on T { ...F }", "fragment F on T { a { ...G } } fragment G on T { ...F }"]
)
def test_fragments_that_contain_themselves_are_refused(text: str) -> None:
    with pytest.raises(GraphQLError, match=r"the fragment [FG] contains itself") as caught:
        check_document(parse(text), EXACT)
    assert caught.value.extensions == {"code": "LIMIT"}
