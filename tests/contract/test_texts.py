"""Names with any characters come back unchanged, and never run as code or queries."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from schema.kinds import DerivationKind
from schema.models import Trace
from store.contract.answers import Label
from store.contract.protocol import GraphStore
from tests.factory import TraceBuilder

TEXTS = {
    "quotes": 'it\'s "quoted" `twice` \'\'""',
    "backslashes": "C:\\new\\table \\' \\\\ \\u0041 \\x00 \\",
    "lines": "one\ntwo\r\nthree\rfour\u2028five\u0085\v\f",
    "nul": "before\0after",
    "only nul": "\0",
    "controls": "\x01\x02\x1b[31m\x7f\x9b",
    "spaces": "  leading, trailing \t ",
    "only spaces": "   ",
    "emoji": "🚀 👩‍👩‍👧 🇳🇴",
    "right to left": "שלום \u202eevil\u202c القهوة",
    "composed": "é",
    "decomposed": "e\u0301",
    "astral": "𠀀\U0010ffff\uffff\ufeff",
    "sql": "'; DROP TABLE variable; --",
    "sql like": "%_%",
    "cypher": "'}) DETACH DELETE n //",
    "cypher parameter": "$id $project {name}",
    "cypher backtick": "`) MATCH (n) DETACH DELETE n //",
    "shell": "$(touch /tmp/x) `id` ; rm -rf ~ | cat && true",
    "template": "{{7*7}} ${7*7} %s %(a)s {0}",
    "html": "<script>alert(1)</script>&amp;",
    "path": "../../etc/passwd",
    "json": '{"a": [1, null], "b": "\\u0000"}',
    "number": "0123",
    "null": "null",
    "long": "long name " * 2000,
    "long word": "x" * 20_000,
    "long unicode": "東" * 20_000,
    "very long": "very long " * 50_000,
}
KEYS = list(TEXTS)


def traced(project: str, text: str) -> TraceBuilder:
    """A trace that has the text wherever a text can be."""
    trace = TraceBuilder(project, text)
    trace.trace = replace(trace.trace, name=text, source=text)
    trace.session(text, name=text, category=text, comment=text)
    operation = trace.operation(text, name=text, category=text, comment=text, location=text)
    source = trace.variable("source", text)
    both: dict[str, Any] = {"category": text, "comment": text, "location": text}
    variable = trace.variable(text, text, by=operation, name=text, class_name=text, media_type=text, **both)
    trace.derive(variable, source, by=operation, external_id=text, kind=DerivationKind.REVISION, **both)
    trace.use(operation, source, role=text)
    failure = trace.failure(source, variable, question=text, prediction=text, gold_answers=(text, "", text))
    attributes = json.dumps({text: text})
    trace.attribution(failure, text, model=text, reason=text, author=text, attributes=attributes)
    return trace


def same(found: object, expected: object) -> bool:
    """Equality that a failing test does not try to explain: the difference of texts this long takes hours."""
    return found == expected


async def assert_same(store: GraphStore, trace: TraceBuilder) -> None:
    id_ = trace.trace.id
    assert same(await store.get(Label.TRACE, [id_]), [trace.trace])
    assert same((await store.page(Label.SESSION, id_)).items, trace.sessions)
    assert same((await store.page(Label.OPERATION, id_)).items, trace.operations)
    assert same((await store.page(Label.VARIABLE, id_)).items, trace.variables)
    assert same((await store.page(Label.DERIVATION, id_)).items, trace.derivations)
    assert same((await store.failures(id_)).items, trace.failures)
    assert same(await store.attributions([failure.id for failure in trace.failures]), trace.attributions)


@pytest.mark.parametrize(
    "key", [pytest.param(key, marks=pytest.mark.each_engine if key in KEYS[::9] else pytest.mark.once) for key in KEYS]
)
async def test_texts_come_back_as_they_were(store: GraphStore, project: str, key: str) -> None:
    text = TEXTS[key]
    trace = traced(project, text)
    await trace.write(store)
    await assert_same(store, trace)
    assert (await trace.write(store)).created == {}
    assert await store.resolve(text, Label.TRACE) == trace.trace
    for label, element in (
        (Label.SESSION, trace.sessions[0]),
        (Label.OPERATION, trace.operations[0]),
        (Label.VARIABLE, trace.variables[1]),
        (Label.DERIVATION, trace.derivations[0]),
    ):
        assert await store.resolve(text, label) == element
    assert await store.versions(trace.variables[1].id) == trace.variables[1:]
    assert await store.value(trace.variables[1]) == text.encode()
    assert len((await store.closure([trace.variables[1].id])).variables) == 2
    hits = {hit.variable.id for hit in await store.search(text[:1000])}
    assert hits <= {variable.id for variable in trace.variables}
    assert trace.variables[0].id in {hit.variable.id for hit in (await store.scan(text)).hits}
    await store.delete_trace(trace.trace.id)
    assert (await store.stats()).labels["Variable"] == 0


async def test_texts_that_are_alike_are_kept_apart(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    alike = [
        "",
        "a",
        "A",
        "a ",
        " a",
        "a\0",
        "a\0b",
        "e",
        "é",
        "e\u0301",
        "É",
        "ss",
        "ß",
        "fi",
        "ﬁ",
        "i̇",
        "İ",
        "0",
        "00",
    ]
    variables = [trace.variable(text, text, name=text) for text in alike]
    await trace.write(store)
    for text, variable in zip(alike, variables, strict=True):
        assert await store.resolve(text) == variable
        assert await store.versions(variable.id) == [variable]


async def test_what_is_not_given_is_none_and_what_is_empty_stays_empty(store: GraphStore, project: str) -> None:
    for text in (None, ""):
        trace = TraceBuilder(project, f"given {text!r}")
        trace.trace = Trace(trace.trace.id, project, trace.trace.external_id, text, text or "", None)
        trace.session("s", name=text, category=text, comment=text, created_at=None)
        both: dict[str, Any] = {"category": text, "comment": text, "location": text}
        operation = trace.operation("o", name=text, session_id=None, started_at=None, ended_at=None, **both)
        source = trace.variable("v", "", name="", session_id=None, class_name=text, created_at=None, **both)
        target = trace.variable("w", "", name="", media_type="")
        trace.derive(target, source, by=operation, external_id=text, created_at=None, **both)
        trace.use(operation, source, role=text)
        failure = trace.failure(source, question="", prediction=text, gold_answers=(), created_at=None)
        trace.attribution(
            failure,
            "",
            error_type=None,
            confidence=None,
            model=text,
            reason=text,
            tokens=None,
            cost=None,
            seconds=None,
            created_at=None,
            author=text,
        )
        await trace.write(store)
        await assert_same(store, trace)
        assert (await trace.write(store)).created == {}


@pytest.mark.each_engine
async def test_attributes_come_back_to_the_letter(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    texts = [
        "{}",
        '{ "spaced" : 1.0 }',
        '{"b":1,"a":2}',
        '{"big":123456789012345678901234567890,"small":1e-300,"nan":"NaN"}',
        '{"nested":{"list":[{},[],null,true,"\\u0000\\ud83d\\ude80 🚀"]}}',
        '{"long":"' + "x" * 300_000 + '"}',
    ]
    for number, text in enumerate(texts):
        trace.variable(f"v{number}", attributes=text)
    trace.trace = replace(trace.trace, attributes=texts[4])
    failure = trace.failure(trace.variables[0], attributes=texts[3])
    trace.attribution(
        failure, evidence=texts[5], candidates=texts[1], attributes=texts[4], cost=0.1, seconds=1e-9, confidence=1.0
    )
    await trace.write(store)
    await assert_same(store, trace)


async def test_numbers_come_back_as_they_were(store: GraphStore, project: str) -> None:
    trace = TraceBuilder(project)
    large = 2**53 + 1
    variable = trace.variable("v", sequence=large, version=2**31, occurrence=0)
    failure = trace.failure(variable)
    for number, value in enumerate((0.0, 1.0, 0.1, 1e-300, 1e300, 123456789.123456789)):
        trace.attribution(failure, f"m{number}", confidence=value, cost=value, seconds=value, tokens=large)
    await trace.write(store)
    await assert_same(store, trace)
