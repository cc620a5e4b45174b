"""Names, stores, ids, scores and versions of what a span's step takes and makes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from memtrace.kinds import OperationKind, VariableKind

from ingest.otlp.contained import contained
from ingest.otlp.decoding import decode
from ingest.otlp.dialects.items import conversation_of, documents, session_of, tool
from ingest.otlp.dialects.langfuse import GIVEN, GOT
from ingest.otlp.dialects.registry import step_of
from ingest.otlp.media_types import PROTOBUF
from ingest.otlp.spans import Span
from ingest.otlp.steps import Deleted, Item, Step
from tests.otlp.spans import BEGIN, Sent, protobuf

QUERY, REFINED, OTHER = VariableKind.QUERY, VariableKind.REFINED_QUERY, VariableKind.OTHER
CONTEXT, RESULT, UNIT = VariableKind.CONTEXT, VariableKind.RETRIEVAL_RESULT, VariableKind.MEMORY_UNIT
MESSAGE, ANSWER, RESPONSE = VariableKind.MESSAGE, VariableKind.ANSWER, VariableKind.RESPONSE


def span_of(said: dict[str, Any], **more: Any) -> Span:
    """An inner span; with ``parent=None`` a root."""
    sent = Sent("s", more.pop("name", "step"), 1, 2, said, **{"parent": "outer", **more})
    (span,) = decode(protobuf([sent]), PROTOBUF, 1).spans
    return span


def step(said: dict[str, Any], **more: Any) -> Step:
    return step_of(span_of(said, **more))


def sides(found: Step) -> tuple[list[Item], list[Item]]:
    return list(found.inputs), list(found.outputs)


def entity(given: Any, got: Any = None, kind: str = "task") -> dict[str, Any]:
    said = {"traceloop.span.kind": kind, "traceloop.entity.input": json.dumps(given)}
    return said if got is None else said | {"traceloop.entity.output": json.dumps(got)}


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"args": ["a"], "kwargs": {}}, "a"),
        ({"args": [], "kwargs": {"x": "a"}}, "a"),
        ({"args": ["a"], "kwargs": None}, "a"),
        ({"args": ["a"]}, "a"),
        ({"args": ["a", "b"], "kwargs": {}}, '{"args":["a","b"],"kwargs":{}}'),
        ({"args": ["a"], "kwargs": {"x": "b"}}, '{"args":["a"],"kwargs":{"x":"b"}}'),
        ({"args": "a"}, '{"args":"a"}'),
        ({"inputs": {"x": "a"}}, "a"),
        ({"inputs": {"x": "a", "y": "b"}}, '{"inputs":{"x":"a","y":"b"}}'),
        ({"inputs": "a"}, '{"inputs":"a"}'),
        ("a", "a"),
    ],
)
def test_the_only_argument_of_a_function_is_the_input(given: Any, text: str) -> None:
    assert sides(step(entity(given, "b"))) == ([Item(CONTEXT, "input", text)], [Item(RESPONSE, "output", "b")])


def test_a_tool_of_openllmetry_is_known_by_its_name() -> None:
    said = entity({"args": ["where?"]}, ["here"], "tool")
    assert step(said | {"traceloop.entity.name": "search_notes"}).kind is OperationKind.RETRIEVAL
    assert step(said | {"traceloop.entity.name": "calculate"}).kind is OperationKind.TOOL
    named = step(said | {"traceloop.entity.name": "search_notes", "traceloop.association.properties.thread_id": "t"})
    assert (named.dialect, named.category, named.session) == ("traceloop", "tool", "t")


@pytest.mark.parametrize(
    ("said", "store"),
    [
        ({"db.collection.name": "c", "db.name": "n"}, "c"),
        ({"db.name": "n"}, "n"),
        ({}, None),
    ],
)
def test_a_search_of_openllmetry_lists_its_documents_in_events(said: dict[str, Any], store: str | None) -> None:
    results = (
        ("db.query.result", {f"db.query.result.{key}": value for key, value in one.items()})
        for one in ({"id": "d1", "document": "one", "score": 0.5}, {"document": "two"})
    )
    asked = {"db.query.text": "where?", "db.vector.query.top_k": 5}
    found = step(said | asked, moments=(*results, ("other", {"db.query.result.id": "no"})))
    assert (found.kind, found.category) == (OperationKind.RETRIEVAL, "search")
    assert sides(found) == (
        [Item(REFINED, "query", "where?")],
        [
            Item(RESULT, "d1", "one", store=store, id="d1", score=0.5),
            Item(RESULT, "document 1", "two", store=store),
        ],
    )
    nothing = step(said | asked)
    assert (nothing.kind, list(nothing.outputs)) == (OperationKind.RETRIEVAL, [])


def test_a_model_call_of_openllmetry_keeps_its_dialect() -> None:
    chat = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "q", "gen_ai.completion.0.content": "a"}
    found = step(chat | {"llm.request.type": "chat"})
    assert (found.dialect, found.kind) == ("traceloop", OperationKind.GENERATION)


def everos(name: str, given: Any = None, got: Any = None, **more: Any) -> Step:
    pairs = {GIVEN: given, GOT: got}
    return step({key: json.dumps(value) for key, value in pairs.items() if value is not None}, name=name, **more)


@pytest.mark.parametrize(
    ("name", "given", "got", "inputs", "outputs"),
    [
        (
            "everos.memory.add",
            [{"role": "user", "content": "m"}, {"content": "n"}],
            {"status": "ok"},
            [Item(MESSAGE, "user", "m"), Item(MESSAGE, "message", "n")],
            [Item(OTHER, "output", '{"status":"ok"}')],
        ),
        ("everos.memory.add", "m", None, [Item(MESSAGE, "message", "m")], []),
        ("everos.memory.add", None, None, [], []),
        ("everos.extract.facts", "m", "u", [Item(MESSAGE, "message", "m")], [Item(UNIT, "unit", "u")]),
        ("everos.extract", None, None, [], []),
        *(
            (
                name,
                {"query": "q", "top": 3},
                {key: [{"id": "u", "content": "c", "score": 0.5}], "total": 1},
                [Item(REFINED, "query", "q")],
                [Item(UNIT, "u", "c", id="u", score=0.5)],
            )
            for name, key in (
                ("everos.memory.search", "memories"),
                ("everos.search", "episodes"),
                ("everos.search.hybrid", "results"),
            )
        ),
        ("everos.search", "q", [{"content": "c"}], [Item(REFINED, "query", "q")], [Item(UNIT, "document 0", "c")]),
        (
            "everos.search",
            "q",
            {"memories": []},
            [Item(REFINED, "query", "q")],
            [Item(OTHER, "output", '{"memories":[]}')],
        ),
        ("everos.search", {"top": 3}, None, [Item(REFINED, "query", '{"top":3}')], []),
        ("everos.other", "a", "b", [Item(OTHER, "input", "a")], [Item(OTHER, "output", "b")]),
    ],
)
def test_a_memory_of_everos(name: str, given: Any, got: Any, inputs: list[Item], outputs: list[Item]) -> None:
    assert sides(everos(name, given, got)) == (inputs, outputs)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("everos.memory.add", OperationKind.UPDATE),
        ("everos.memory.add.batch", OperationKind.UPDATE),
        ("everos.memory.delete", OperationKind.OTHER),
        ("everos.extract", OperationKind.EXTRACTION),
        ("everos.memory.search", OperationKind.RETRIEVAL),
        ("everos.search", OperationKind.RETRIEVAL),
    ],
)
def test_the_name_of_everos_is_the_kind(name: str, kind: OperationKind) -> None:
    found = everos(name)
    assert (found.dialect, found.kind, found.category) == ("everos", kind, name)


def test_what_a_root_is_told_or_asked_came_from_outside() -> None:
    assert sides(everos("everos.memory.add", "m", parent=None))[0] == [Item(MESSAGE, "message", "m", is_outside=True)]
    assert sides(everos("everos.search", "q", parent=None))[0] == [Item(QUERY, "query", "q", is_outside=True)]


def inference(kind: str, **said: Any) -> Step:
    return step({"openinference.span.kind": kind} | {name.replace("__", "."): value for name, value in said.items()})


def listed(name: str, *ones: dict[str, Any]) -> dict[str, Any]:
    return {f"{name}.{place}.document.{key}": value for place, one in enumerate(ones) for key, value in one.items()}


@pytest.mark.parametrize(
    ("documents_", "whole", "names"),
    [
        ([{"content": "a"}, {"content": "b"}], [{"id": "1"}, {"id": "2"}], ["1", "2"]),
        ([{"content": "a", "id": "own"}, {"content": "b"}], [{"id": "1"}, {"id": "2"}], ["own", "2"]),
        ([{"content": "a"}, {"content": "b"}], [{"id": "1"}], ["document 0", "document 1"]),
        ([{"content": "a"}], {"documents": [{"id": "1"}]}, ["1"]),
        ([{"content": "a"}], {"others": [{"id": "1"}]}, ["document 0"]),
        ([{"content": "a"}], [{"content": "x"}], ["document 0"]),
        ([], [{"id": "1", "page_content": "a"}], ["1"]),
        ([], [{"role": "user", "content": "a"}], []),
    ],
)
def test_documents_of_openinference_take_their_ids_from_the_output(
    documents_: list[dict[str, Any]], whole: Any, names: list[str]
) -> None:
    said = {"output.value": json.dumps(whole), "input.value": "q"}
    found = step({"openinference.span.kind": "RETRIEVER"} | listed("retrieval.documents", *documents_) | said)
    assert [item.name for item in found.outputs] == names
    assert list(found.inputs) == [Item(REFINED, "query", "q")]


def test_a_reranker_of_openinference() -> None:
    said = {"openinference.span.kind": "RERANKER", "reranker.query": "q", "output.value": '[{"id": "1"}]'}
    said |= listed("reranker.input_documents", {"content": "a"}) | listed("reranker.output_documents", {"content": "a"})
    assert sides(step(said)) == (
        [Item(REFINED, "query", "q"), Item(RESULT, "document 0", "a")],
        [Item(RESULT, "1", "a", id="1")],
    )


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("EVALUATOR", VariableKind.JUDGEMENT),
        ("evaluator", VariableKind.JUDGEMENT),
        ("CHAIN", RESPONSE),
        ("AGENT", ANSWER),
        ("TOOL", CONTEXT),
    ],
)
def test_the_kind_of_an_output_of_openinference(kind: str, expected: VariableKind) -> None:
    found = inference(kind, input__value="a", output__value="b")
    assert [(item.kind, item.text) for item in found.outputs] == [(expected, "b")]


def memory(name: str, *records: dict[str, Any], **said: Any) -> Step:
    named = {f"gen_ai.memory.{key.replace('__', '.')}": value for key, value in said.items()}
    listed_ = {"gen_ai.memory.records": json.dumps(records)} if records else {}
    return step({"gen_ai.operation.name": name, "gen_ai.memory.store.id": "s"} | listed_ | named)


VERSION = BEGIN // 1_000 + 1_000


@pytest.mark.parametrize(
    ("name", "records", "record", "outputs"),
    [
        ("create_memory", [{"id": "u", "content": "c"}], None, [Item(UNIT, "u", "c", False, "s", "u", True, 0)]),
        ("update_memory", [{"id": "u", "content": "c"}], "r", [Item(UNIT, "u", "c", False, "s", "u", True, VERSION)]),
        ("update_memory", [{"content": "c"}], "r", [Item(UNIT, "r", "c", False, "s", "r", True, VERSION)]),
        ("update_memory", [], "r", [Item(UNIT, "r", None, False, "s", "r", True, VERSION)]),
        ("update_memory", [], None, []),
        (
            "upsert_memory",
            [{"content": "c"}, {"content": "d", "score": 0.5}],
            "r",
            [
                Item(UNIT, "unit 0", "c", False, "s", None, True, VERSION),
                Item(UNIT, "unit 1", "d", False, "s", None, True, VERSION, 0.5),
            ],
        ),
        ("search_memory", [{"id": "u", "content": "c"}], None, [Item(UNIT, "u", "c", store="s", id="u")]),
        ("delete_memory", [], "r", []),
    ],
)
def test_units_of_a_memory(name: str, records: list[dict[str, Any]], record: str | None, outputs: list[Item]) -> None:
    found = memory(name, *records, **({} if record is None else {"record__id": record}))
    assert list(found.outputs) == outputs
    assert found.deleted == (Deleted("s", record) if name == "delete_memory" else None)


def test_a_deleted_store() -> None:
    assert memory("delete_memory_store", record__id="r").deleted == Deleted("s", None)


@pytest.mark.parametrize(
    ("name", "given", "got", "kind", "inputs", "outputs"),
    [
        ("calculate", "1+1", "2", OperationKind.TOOL, ["1+1"], [(CONTEXT, "2")]),
        (None, "1+1", "2", OperationKind.TOOL, ["1+1"], [(CONTEXT, "2")]),
        ("research", "q", ["d"], OperationKind.TOOL, ["q"], [(CONTEXT, '["d"]')]),
        ("searchNotes", "q", ["d"], OperationKind.RETRIEVAL, ["q"], [(RESULT, "d")]),
        ("LOOK_UP", {"text": "q"}, ["d"], OperationKind.RETRIEVAL, ["q"], [(RESULT, "d")]),
        ("find", {"text": "q", "n": 3}, ["d"], OperationKind.RETRIEVAL, ['{"text":"q","n":3}'], [(RESULT, "d")]),
        ("find", "q", {"a": ["d", {"text": "e"}]}, OperationKind.RETRIEVAL, ["q"], [(RESULT, "d"), (RESULT, "e")]),
        ("find", "q", {"a": ["d"], "n": 1}, OperationKind.RETRIEVAL, ["q"], [(RESULT, '{"a":["d"],"n":1}')]),
        ("find", "q", {"a": "d"}, OperationKind.RETRIEVAL, ["q"], [(RESULT, '{"a":"d"}')]),
        ("find", "q", "d", OperationKind.RETRIEVAL, ["q"], [(RESULT, "d")]),
        ("find", "q", [{"unknown": "d"}], OperationKind.RETRIEVAL, ["q"], [(RESULT, '[{"unknown":"d"}]')]),
        ("find", "q", [], OperationKind.RETRIEVAL, ["q"], []),
        ("find", None, None, OperationKind.RETRIEVAL, [], []),
    ],
)
def test_a_tool_that_searches_is_a_retrieval(
    name: str | None, given: Any, got: Any, kind: OperationKind, inputs: list[str], outputs: list[Any]
) -> None:
    found = tool(span_of({}), name, given, got)
    assert found[0] is kind
    assert [item.text for item in found[1]] == inputs
    assert [(item.kind, item.text) for item in found[2]] == outputs


@pytest.mark.parametrize("name", ["content", "page_content", "text", "memory", "summary"])
def test_a_document_has_its_text_under_any_name(name: str) -> None:
    assert documents([{"document": {name: "t", "id": 7}}, {name: "u", "score": 0.5}], "s") == [
        Item(RESULT, "7", "t", store="s", id="7"),
        Item(RESULT, "document 1", "u", store="s", score=0.5),
    ]


@pytest.mark.parametrize("more", [0, 80])
def test_texts_in_texts(more: int) -> None:
    """With many needles, they are searched by their first characters."""
    twenty, fillers = "x" * 19 + "y", [f"needle number {number:03} of many" for number in range(more)]
    needles = [twenty, f"{twenty} and more", "x" * 19, *fillers]
    texts = [twenty, f"{twenty} and more", f"before {twenty}", f"{twenty}, another end", "x" * 40]
    assert sorted(contained(needles, texts, lambda cost: cost > 0)) == [
        (twenty, f"before {twenty}"),
        (twenty, f"{twenty} and more"),
        (twenty, f"{twenty}, another end"),
    ]
    assert list(contained(needles, texts, lambda cost: False)) == []
    assert list(contained(["short"], ["short text with more"], lambda cost: True)) == []


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"message": "Which seat?"}, "Which seat?"),
        ({"query": "Which seat?", "top_k": 3, "exact": True}, "Which seat?"),
        ({"args": ["Which seat?"], "kwargs": {}}, "Which seat?"),
        ({"args": [], "kwargs": {"question": "Which seat?", "limit": 2}}, "Which seat?"),
        ({"messages": [{"role": "user", "content": "Which seat?"}]}, "Which seat?"),
        ({"from": "Which", "to": "seat?"}, '{"from":"Which","to":"seat?"}'),
    ],
)
def test_a_function_of_langfuse_is_asked_its_only_argument(given: Any, wanted: str) -> None:
    found = step({"langfuse.observation.type": "span", GIVEN: json.dumps(given)}, parent=None)
    assert [(one.kind, one.text) for one in found.inputs] == [(QUERY, wanted)]


@pytest.mark.parametrize("member", ["data", "kwargs"])
def test_a_run_whose_state_is_a_conversation_answers_with_what_it_said_last(member: str) -> None:
    said = [("human", "How much?"), ("ai", ""), ("tool", "Bo: 180 g"), ("ai", "80 g.")]
    call = {"tool_calls": [{"name": "find", "args": {"of": "Bo"}, "id": "c1"}]}
    state = [{"type": one, member: {"type": one, "content": text} | ({} if text else call)} for one, text in said]
    attributes = {
        "openinference.span.kind": "CHAIN",
        "input.value": json.dumps({"messages": [{"role": "user", "content": "How much?"}]}),
        "output.value": json.dumps({"messages": state}),
    }
    found = step(attributes, parent=None)
    assert sides(found) == ([Item(QUERY, "query", "How much?", is_outside=True)], [Item(ANSWER, "output", "80 g.")])
    assert found.taken == ()  # the other messages stay as attributes
    inner = step(attributes | {"output.value": json.dumps({"messages": state[1:2]})})
    assert sides(inner)[0] == [Item(CONTEXT, "input", "user: How much?")]


@pytest.mark.parametrize(
    ("attributes", "resource", "session", "conversation"),
    [
        ({}, {}, None, None),
        ({"session.id": "s"}, {}, "s", "s"),
        ({}, {"session.id": "s"}, "s", "s"),
        ({"gen_ai.conversation.id": "c"}, {"gen_ai.conversation.id": "of the program"}, "c", "c"),
        # The name for MemTrace is of the session alone; the first of several conversations counts, wherever it stands.
        ({"session.id": "s"}, {"memtrace.session": "m"}, "m", "s"),
        ({"session.id": "s"}, {"gen_ai.conversation.id": "c"}, "c", "c"),
        ({"session.id": "", "langfuse.session.id": "l"}, {}, "l", "l"),
        ({"session.id": ""}, {"session.id": "s"}, "s", "s"),
        ({"mlflow.trace.session": "m", "ai.telemetry.metadata.chatId": "v"}, {}, "m", "m"),
        ({"traceloop.association.properties.thread_id": 7}, {}, "7", "7"),
    ],
)
def test_the_session_of_a_span_may_be_told_by_its_program(
    attributes: dict[str, Any], resource: dict[str, Any], session: str | None, conversation: str | None
) -> None:
    span = replace(span_of({}), attributes=attributes, resource=resource)
    assert (session_of(span), conversation_of(span)) == (session, conversation)
