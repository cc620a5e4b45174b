"""Which variables of two spans depend on each other, and which units a span deletes."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from memtrace import events as wire
from memtrace.kinds import DerivationKind

from ingest.otlp.known_spans import KnownSpans, SpanMemory, keys_of
from ingest.otlp.linking import _of_edge
from ingest.otlp.rules import AROUND, EQUAL, LINKED, PART, SAME_ID, Edge, Node, Turn, Value, deletions, edges
from ingest.otlp.turns import turns
from tests.factory import TraceBuilder

AT = datetime(2026, 1, 1, tzinfo=UTC)
LONG = "a text that is long enough to be found in another"
KEY = ("store", "unit 1")


def out(text: str | None = None, second: int = 1, key: tuple[str, str] | None = None, **more: bool) -> Value:
    return Value("", "output", AT + timedelta(seconds=second), text, text, key, **more)


def given(text: str | None = None, second: int = 2, key: tuple[str, str] | None = None) -> Value:
    return replace(out(text, second, key), side="input")


def span(name: str, *values: Value, trace: str = "t", parent: str | None = None, links: tuple[str, ...] = ()) -> Node:
    named = [replace(value, name=f"{name}/{place}") for place, value in enumerate(values)]
    return Node(name, trace, parent, frozenset(links), None, AT, named)


def reasons(*spans: Node, new: set[str] | None = None) -> list[tuple[str, str, str]]:
    nodes = {node.name: node for node in spans}
    found, is_whole = edges(nodes, new or nodes.keys())
    assert is_whole
    return sorted((f"{edge.source.name} > {edge.target.name}", edge.kind.value.lower(), edge.comment) for edge in found)


@pytest.mark.parametrize(
    ("source", "target", "comment"),
    [
        (out("four"), given("four"), EQUAL),
        (out("fou"), given("fou"), None),
        (out(LONG), given(f"before {LONG} after"), PART),
        (out(f"before {LONG} after"), given(LONG), PART),
        (out("short"), given("a short one"), None),
        (out(LONG), given(LONG, 1), None),
        (out(LONG), given(LONG, 0), None),
        (out(LONG), out(LONG, 2), None),
        (out(LONG), out(LONG, 2, is_write=True), EQUAL),
        (given(LONG, 1), given(LONG), None),
        (out(None), given(None), None),
        (out(""), given(""), None),
    ],
)
def test_a_text_that_is_handed_on(source: Value, target: Value, comment: str | None) -> None:
    assert reasons(span("a", source), span("b", target)) == ([("a/0 > b/0", "derivation", comment)] if comment else [])
    assert reasons(span("a", source), span("b", target, trace="other")) == []
    assert reasons(span("a", source, target)) == []


@pytest.mark.parametrize(
    ("source", "target", "kind"),
    [
        (out("one", is_write=True, key=KEY), out("two", 2, is_write=True, key=KEY), "revision"),
        (out("one", is_write=True, key=KEY), out("one", 2, key=KEY), "read"),
        (out("one", is_write=True, key=KEY), out(None, 2, key=KEY), "read"),
        (out(None, is_write=True, key=KEY), out("one", 2, key=KEY), "read"),
        (out("one", is_write=True, key=KEY), out("two", 2, key=KEY), None),
        (out("one", is_write=True, key=KEY), out("one", 2, key=("store", "unit 2")), None),
        (out("one", is_write=True, key=KEY), out("one", 2, key=("other", "unit 1")), None),
        (out("one", is_write=True, key=KEY), out("one", 1, key=KEY), None),
        (out("one", key=KEY), given("one", key=KEY), "derivation"),
        (out("one", key=KEY), given("two", key=KEY), None),
        (out("one", key=KEY), out("one", 2, key=KEY), None),
        (given("one", 1, key=KEY), given("one", key=KEY), None),
    ],
)
def test_a_unit_with_the_same_id(source: Value, target: Value, kind: str | None) -> None:
    assert reasons(span("a", source), span("b", target)) == ([("a/0 > b/0", kind, SAME_ID)] if kind else [])
    elsewhere = [("a/0 > b/0", kind, SAME_ID)] if kind and kind != "derivation" else []
    assert reasons(span("a", source), span("b", target, trace="other")) == elsewhere


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ((given("i", 1), out("o")), (given("j"), out("p", 3)), ["a/1 > b/0"]),
        ((given("i", 1),), (given("j"),), ["a/0 > b/0"]),
        ((given("i", 1), out("o")), (out("p", 3),), ["a/1 > b/0"]),
        ((out("o"),), (given("j"), out("p", 3, is_write=True), out("q", 3)), ["a/0 > b/0", "a/0 > b/1"]),
        ((out("o", 3),), (given("j"),), []),
    ],
)
def test_a_link_between_spans(first: tuple[Value, ...], second: tuple[Value, ...], found: list[str]) -> None:
    linked = span("b", *second, links=("a", "b", "unknown"))
    assert reasons(span("a", *first), linked) == [(one, "derivation", LINKED) for one in found]
    for new in ({"a"}, {"b"}):
        assert len(reasons(span("a", *first), linked, new=new)) == len(found)
    across = reasons(span("a", *first, trace="other"), linked)
    assert [one for one, _, _ in across] == [one for one in found if one != "a/0 > b/1"]


def test_a_span_in_another_reads_its_inputs_and_makes_its_outputs() -> None:
    outer = span("outer", given("i", 0), out("o", 9))
    inner = span("inner", given("j", 0), out("p", 9), out("unit", 9, is_write=True), parent="middle")
    middle = span("middle", parent="outer")
    expected = [("inner/1 > outer/1", "derivation", AROUND), ("outer/0 > inner/0", "derivation", AROUND)]
    assert reasons(outer, middle, inner) == expected
    for new in ("outer", "middle", "inner"):
        assert reasons(outer, middle, inner, new={new}) == expected
    other = span("other", given("k", 5))
    assert reasons(outer, middle, inner, other, new={"other"}) == []
    assert reasons(outer, inner) == []
    only_out = span("inner", out("p", 1), parent="outer")
    assert [one for one, _, _ in reasons(outer, only_out)] == ["inner/0 > outer/1", "outer/0 > inner/0"]


def test_spans_that_contain_each_other_have_no_edges() -> None:
    assert reasons(span("a", parent="b"), span("b", parent="c"), span("c", parent="b")) == []
    assert reasons(span("a", given("x"), parent="b"), span("b", parent="a")) == []


def test_pairs_of_old_spans_are_not_compared_again() -> None:
    spans = [span("a", out(LONG)), span("b", given(LONG)), span("c", given(LONG, 3))]
    assert [one for one, _, _ in reasons(*spans)] == ["a/0 > b/0", "a/0 > c/0"]
    assert [one for one, _, _ in reasons(*spans, new={"c"})] == ["a/0 > c/0"]
    assert [one for one, _, _ in reasons(*spans, new={"a"})] == ["a/0 > b/0", "a/0 > c/0"]


@pytest.mark.parametrize(
    ("unit", "second", "deletes", "is_deleted"),
    [
        (KEY, 1, ("store", "unit 1"), True),
        (KEY, 1, ("store", None), True),
        (KEY, 1, ("store", "unit 2"), False),
        (KEY, 1, ("other", "unit 1"), False),
        (KEY, 2, ("store", "unit 1"), False),
        (KEY, 3, ("store", "unit 1"), False),
        (None, 1, ("store", None), False),
        (KEY, 1, None, False),
    ],
)
def test_a_span_deletes_what_was_written_before(
    unit: tuple[str, str] | None, second: int, deletes: tuple[str, str | None] | None, is_deleted: bool
) -> None:
    writer = span("a", out("one", second, unit, is_write=True), out("one", second, unit))
    by = replace(span("b"), deletes=deletes, began=AT + timedelta(seconds=2))
    for new in ({"a"}, {"b"}, {"a", "b"}):
        found, is_whole = deletions({"a": writer, "b": by}, new)
        assert ([(value.name, node.name) for value, node in found], is_whole) == ([("a/0", "b")] * is_deleted, True)
    if is_deleted:
        assert deletions({"a": writer, "b": by}, {"other"}) == ([], True)
        assert deletions({"a": writer, "b": by}, {"a"}, most=0) == ([], False)
        assert deletions({"a": writer, "b": replace(by, began=None)}, {"b"}) == ([], True)


def test_ids_of_new_spans() -> None:
    nodes = [
        span("a", out("one", key=KEY), given("two", key=("other", "unit 2")), given("three")),
        replace(span("b", out("one", key=KEY)), deletes=("store", "unit 3")),
        replace(span("c"), deletes=("store", None)),
    ]
    named = {node.name: node for node in nodes}
    assert keys_of(named, {"a", "gone"}) == ["unit 1", "unit 2"]
    assert keys_of(named, {"b"}) == ["unit 1", "unit 3"]
    assert keys_of(named, {"c"}) == []


def test_what_another_recorder_wrote_to_the_trace_is_no_span() -> None:
    trace, of_trace = TraceBuilder("shop"), "a" * 32
    names = [f"{of_trace}-{number:016x}" for number in range(5)]
    attributes = [
        json.dumps({"otel": {"traceId": of_trace}}),
        "{}",
        '{"otel": 5}',
        '{"otel": {}}',
        '{"otel": {"traceId": 5}}',
    ]
    operations = [trace.operation(name, attributes=one) for name, one in zip(names, attributes, strict=True)]
    places = [f"{names[0]}/output/0", f"{names[0]}/output/x", f"{names[0]}/output/2", f"{names[1]}/output/0", "note"]
    more = ["{}", "{}", '{"otel": "text"}', "{}", "{}"]
    variables = [trace.variable(name, attributes=one) for name, one in zip(places, more, strict=True)]
    known = KnownSpans()
    known.add(operations, variables, {})
    assert list(known.nodes) == names[:1]
    assert [value.name for value in known.nodes[names[0]].values] == places[:1]


def test_the_oldest_spans_and_texts_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    size = out("x" * 100).text.__sizeof__()
    monkeypatch.setattr("ingest.otlp.known_spans.MOST_SPANS", 3)
    monkeypatch.setattr("ingest.otlp.known_spans.MOST_TEXT_BYTES", 2 * size)
    known = KnownSpans({name: span(name, out("x" * 100), given(None)) for name in ("a", "b", "c")})
    assert known.trim() == 3 * (1_000 + 2 * 500) + 2 * size
    assert known.is_whole
    assert [[value.text is None for value in node.values] for node in known.nodes.values()] == [
        [True, True],
        [False, True],
        [False, True],
    ]
    known.nodes["d"] = span("d")
    known.trim()
    assert (list(known.nodes), known.is_whole) == (["b", "c", "d"], False)


def test_traces_are_forgotten_by_their_last_use() -> None:
    memory = SpanMemory(most_bytes=2_500)
    spans = {name: KnownSpans({name: span(name)}) for name in ("a", "b", "c")}
    memory.keep("p", "a", spans["a"])
    memory.keep("p", "b", spans["b"])
    memory.keep("p", "a", spans["a"])
    memory.keep("p", "c", spans["c"])
    assert memory.take("p", "b") is None
    assert memory.take("other", "a") is None
    assert memory.take("p", "a") is spans["a"]
    assert memory.take("p", "a") is None
    memory.keep("p", "b", spans["b"])
    memory.forget(lambda project, trace: (project, trace) == ("p", "b"))
    assert memory.take("p", "b") is None
    assert memory.take("p", "c") is spans["c"]


@pytest.mark.parametrize(
    ("has_query", "source_is_write", "target_side", "target_is_write", "is_considered"),
    [
        (True, True, "output", False, True),
        (False, True, "output", False, False),
        (True, False, "output", False, False),
        (True, True, "output", True, False),
        (True, True, "input", False, False),
    ],
)
def test_a_search_considers_what_was_stored_and_all_else_is_used(
    has_query: bool, source_is_write: bool, target_side: str, target_is_write: bool, is_considered: bool
) -> None:
    stored = replace(out("unit", is_write=source_is_write), name="stored", rank=3)
    found = replace(out("unit", 2, is_write=target_is_write), name="found", side=target_side, rank=2, score=0.5)
    reader = span("search", *([given("which?")] if has_query else []))
    reader.values.append(found)
    used, derived = _of_edge("t", Edge(stored, found, reader, DerivationKind.READ, SAME_ID))
    assert isinstance(derived, wire.Derived)
    assert (derived.source, derived.target, derived.operation, derived.kind) == ("stored", "found", "search", "Read")
    if is_considered:
        assert isinstance(used, wire.Considered)
        assert (used.query, used.variable, used.rank, used.score) == ("search/0", "stored", 2, 0.5)
        assert used.returned
    else:
        assert isinstance(used, wire.Used)
        assert (used.operation, used.variable) == ("search", "stored")


class Looked(dict[str, Node]):
    """Counts how often a span was looked up."""

    count = 0

    def get(self, *key: object) -> Node | None:  # type: ignore[override]
        self.count += 1
        return super().get(*key)  # type: ignore[call-overload,no-any-return]


def test_the_spans_around_many_turns_are_looked_at_once() -> None:
    many = 300
    plain = [replace(span(f"p{i}", parent=f"p{i - 1}" if i else None), is_plain=True) for i in range(many)]
    said = [
        replace(span(f"s{i}", out("yes"), parent=f"p{many - 1}"), turn=Turn("Is it?", 0, None)) for i in range(many)
    ]
    nodes = Looked({one.name: one for one in [*said, *plain]})
    found = turns(nodes, {"p0"})
    assert [node.name for node, _ in found] == sorted(one.name for one in said)
    assert nodes.count <= 2 * many
    assert turns(nodes, {"other"}) == []
    assert [node.name for node, _ in turns(nodes, {"s7"})] == ["s7"]
    del nodes["p0"]
    assert turns(nodes, {"p1", "s7"}) == []
