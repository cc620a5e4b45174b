"""A span or two of each dialect, with the expected step: kind, inputs and outputs as (kind, text)."""

from __future__ import annotations

import json
from typing import Any

from openinference.semconv.trace import (
    DocumentAttributes,
    EmbeddingAttributes,
    MessageAttributes,
    OpenInferenceSpanKindValues,
    RerankerAttributes,
    SpanAttributes,
)

from tests.otlp.spans import Sent, memory

Said = tuple[str, list[tuple[str, str]], list[tuple[str, str]]]

_SYSTEM, _USER = "Be short.", "Where does Ada live?"
_PROMPT = f"system: {_SYSTEM}\n\nuser: {_USER}"
_MESSAGES = [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": _USER}]
_REPLY = "Ada lives in Paris."


def examples(trace: str) -> list[tuple[Sent, Said]]:
    """Spans of one MemTrace trace, below a root span that was never sent."""
    found: list[tuple[Sent, Said]] = []

    def add(name: str, said: dict[str, Any], kind: str, given: list[Any], got: list[Any], **more: Any) -> None:
        place = len(found)
        resource = {"service.name": "examples", "memtrace.trace": trace}
        fields = {"parent": "nobody", "trace": "examples", "resource": resource} | more
        found.append(
            (
                Sent(f"example {place}", name, 10_000 + place * 10, 10_005 + place * 10, said, **fields),
                (kind, given, got),
            )
        )

    prompt, response, asked = ("Prompt", _PROMPT), ("Response", _REPLY), ("RefinedQuery", _USER)

    # GenAI
    older = {f"gen_ai.prompt.{place}.{name}": one[name] for place, one in enumerate(_MESSAGES) for name in one}
    older |= {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": _REPLY}
    add("chat", {"gen_ai.system": "openai"} | older, "Generation", [prompt], [response])
    newer = {"gen_ai.operation.name": "chat", "gen_ai.system_instructions": [{"type": "text", "content": _SYSTEM}]}
    newer["gen_ai.input.messages"] = [{"role": "user", "parts": [{"type": "text", "content": _USER}]}]
    newer["gen_ai.output.messages"] = [{"role": "assistant", "parts": [{"type": "text", "content": _REPLY}]}]
    add("structured chat", newer, "Generation", [prompt], [response])
    tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "map", "gen_ai.tool.call.result": "Paris"}
    add(
        "tool",
        tool | {"gen_ai.tool.call.arguments": '{"of": "Ada"}'},
        "Tool",
        [("Other", '{"of": "Ada"}')],
        [("Context", "Paris")],
    )
    documents = json.dumps([{"id": "d1", "score": 0.5}, {"id": "d2"}])
    retrieval = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.documents": documents}
    add(
        "retrieval",
        retrieval | {"gen_ai.retrieval.query.text": _USER},
        "Retrieval",
        [asked],
        [("RetrievalResult", ""), ("RetrievalResult", "")],
    )
    add(
        "upsert",
        memory("upsert_memory", "ada", "Ada lives in Rome."),
        "Update",
        [],
        [("MemoryUnit", "Ada lives in Rome.")],
    )
    add(
        "failed",
        {"gen_ai.operation.name": "embeddings"},
        "Embedding",
        [],
        [],
        error="no such model",
        moments=(("exception", {"exception.type": "NotFound", "exception.message": "no model e"}),),
    )

    # GenAI, older: messages in span events
    rooms = {"gen_ai.operation.name": "chat", "gen_ai.system": "m"}
    moments: Any = (
        ("gen_ai.system.message", {"content": _SYSTEM}),
        ("gen_ai.user.message", {"content": json.dumps([{"text": _USER}])}),
        ("gen_ai.choice", {"message": json.dumps([{"text": _REPLY}]), "finish_reason": "end_turn"}),
    )
    add("strands chat", rooms, "Generation", [prompt], [response], moments=moments)
    cycle = {"event_loop.cycle_id": "1"}
    add("execute_event_loop_cycle", cycle, "Other", [("Context", _PROMPT)], [response], moments=moments)
    azure = (
        ("gen_ai.system.message", {"gen_ai.event.content": json.dumps({"role": "system", "content": _SYSTEM})}),
        ("gen_ai.user.message", {"gen_ai.event.content": json.dumps({"role": "user", "content": _USER})}),
        ("gen_ai.choice", {"gen_ai.event.content": json.dumps({"message": {"content": _REPLY}, "index": 0})}),
    )
    add("azure chat", {"gen_ai.system": "az.ai.inference"}, "Generation", [prompt], [response], moments=azure)
    oldest = (
        ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps(_MESSAGES)}),
        ("gen_ai.content.completion", {"gen_ai.completion": json.dumps([{"role": "assistant", "content": _REPLY}])}),
    )
    add("oldest chat", {}, "Generation", [prompt], [response], moments=oldest)
    asked_for = (
        ("gen_ai.tool.message", {"role": "tool", "content": '{"of": "Ada"}', "id": "t"}),
        ("gen_ai.choice", {"message": json.dumps([{"text": "Paris"}]), "id": "t"}),
    )
    used = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "map"}
    add("strands tool", used, "Tool", [("Other", '{"of": "Ada"}')], [("Context", "Paris")], moments=asked_for)
    found_by = used | {"gen_ai.tool.name": "searchMemories", "gen_ai.tool.call.result": json.dumps(["Paris", "Rome"])}
    results_of = [("RetrievalResult", "Paris"), ("RetrievalResult", "Rome")]
    add(
        "search tool",
        found_by | {"gen_ai.tool.call.arguments": '{"query": "Where does Ada live?"}'},
        "Retrieval",
        [asked],
        results_of,
    )
    thought: Any = [{"role": "assistant", "parts": [{"type": "reasoning", "content": "Paris, then."}]}]
    thought[0]["parts"] += [{"type": "text", "content": _REPLY}]
    add(
        "reasoning",
        newer | {"gen_ai.output.messages": thought},
        "Generation",
        [prompt],
        [response, ("Other", "Paris, then.")],
    )

    # pydantic-ai, in the versions of its instrumentation
    of_run = {"agent_name": "a", "final_result": _REPLY}
    told_events = [
        {"event.name": "gen_ai.system.message", "content": _SYSTEM},
        {"event.name": "gen_ai.user.message", "content": _USER},
    ]
    reply_event = {"event.name": "gen_ai.choice", "index": 0, "message": {"role": "assistant", "content": _REPLY}}
    whole = [("Query", _USER)], [("Answer", _REPLY)]
    add("agent run", of_run | {"all_messages_events": json.dumps(told_events)}, "Other", *whole)
    turns = [
        {"role": "user", "parts": [{"type": "text", "content": _USER}]},
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "map", "arguments": {}}]},
        {"role": "user", "parts": [{"type": "tool_call_response", "id": "1", "name": "map", "result": "Paris"}]},
        {"role": "assistant", "parts": [{"type": "text", "content": _REPLY}]},
    ]
    add("invoke_agent a", of_run | {"pydantic_ai.all_messages": json.dumps(turns)}, "Other", *whole)
    events_of_model = {"events": json.dumps([*told_events, reply_event]), "gen_ai.operation.name": "chat"}
    add("pydantic chat", events_of_model, "Generation", [prompt], [response], scope="pydantic-ai")
    running = {"gen_ai.tool.name": "map", "tool_arguments": '{"of": "Ada"}', "tool_response": "Paris"}
    add("running tool", running, "Tool", [("Other", '{"of": "Ada"}')], [("Context", "Paris")], scope="pydantic-ai")

    # Vercel's AI SDK
    outer = {"ai.operationId": "ai.generateText", "ai.prompt": json.dumps({"system": _SYSTEM, "prompt": _USER})}
    add("ai.generateText", outer | {"ai.response.text": _REPLY}, "Other", *whole)
    inner = {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.prompt.messages": json.dumps(
            [_MESSAGES[0], {"role": "user", "content": [{"type": "text", "text": _USER}]}]
        ),
    }
    add("ai.generateText.doGenerate", inner | {"ai.response.text": _REPLY}, "Generation", [prompt], [response])
    older_sdk = inner | {"ai.operationId": "ai.streamText.doStream", "ai.result.text": _REPLY}
    add("ai.streamText.doStream", older_sdk, "Generation", [prompt], [response])
    called = {"ai.operationId": "ai.toolCall", "ai.toolCall.name": "map", "ai.toolCall.args": '{"of": "Ada"}'}
    add(
        "ai.toolCall",
        called | {"ai.toolCall.result": '"Paris"'},
        "Tool",
        [("Other", '{"of": "Ada"}')],
        [("Context", '"Paris"')],
    )
    embedded = {"ai.operationId": "ai.embed", "ai.value": json.dumps(_USER), "ai.embedding": "[0.5]"}
    add("ai.embed", embedded, "Embedding", [("Other", _USER)], [])

    # OpenInference, by the names of its own package
    kind = SpanAttributes.OPENINFERENCE_SPAN_KIND
    inference: dict[str, Any] = {kind: OpenInferenceSpanKindValues.LLM.value, SpanAttributes.LLM_MODEL_NAME: "m"}
    for place, one in zip((0, 2), _MESSAGES, strict=True):  # with a gap
        start = f"{SpanAttributes.LLM_INPUT_MESSAGES}.{place}."
        inference[start + MessageAttributes.MESSAGE_ROLE] = one["role"]
        inference[start + MessageAttributes.MESSAGE_CONTENT] = one["content"]
    start = f"{SpanAttributes.LLM_OUTPUT_MESSAGES}.0."
    inference |= {
        start + MessageAttributes.MESSAGE_ROLE: "assistant",
        start + MessageAttributes.MESSAGE_CONTENT: _REPLY,
    }
    add("openinference chat", inference | {SpanAttributes.SESSION_ID: "s"}, "Generation", [prompt], [response])
    retriever: dict[str, Any] = {kind: OpenInferenceSpanKindValues.RETRIEVER.value, SpanAttributes.INPUT_VALUE: _USER}
    for place, text in enumerate(("Ada moved to Paris in May.", "Bo is a dog.")):
        start = f"{SpanAttributes.RETRIEVAL_DOCUMENTS}.{place}."
        retriever |= {start + DocumentAttributes.DOCUMENT_CONTENT: text, start + DocumentAttributes.DOCUMENT_SCORE: 0.5}
    both = [("RetrievalResult", "Ada moved to Paris in May."), ("RetrievalResult", "Bo is a dog.")]
    add("retriever", retriever, "Retrieval", [asked], both)
    reranker: dict[str, Any] = {kind: OpenInferenceSpanKindValues.RERANKER.value}
    reranker[RerankerAttributes.RERANKER_QUERY] = _USER
    for place, (_, text) in enumerate(both):
        start = f"{RerankerAttributes.RERANKER_INPUT_DOCUMENTS}.{place}."
        reranker |= {start + DocumentAttributes.DOCUMENT_CONTENT: text, start + DocumentAttributes.DOCUMENT_ID: place}
    start = f"{RerankerAttributes.RERANKER_OUTPUT_DOCUMENTS}.0."
    reranker |= {start + DocumentAttributes.DOCUMENT_CONTENT: both[0][1], start + DocumentAttributes.DOCUMENT_ID: 0}
    add("reranker", reranker, "Retrieval", [asked, *both], both[:1])
    embedding: dict[str, Any] = {kind: OpenInferenceSpanKindValues.EMBEDDING.value}
    start = f"{SpanAttributes.EMBEDDING_EMBEDDINGS}.0."
    embedding |= {
        start + EmbeddingAttributes.EMBEDDING_TEXT: _USER,
        start + EmbeddingAttributes.EMBEDDING_VECTOR: [0.5],
    }
    add("embedding", embedding, "Embedding", [("Other", _USER)], [])
    chain = {kind: OpenInferenceSpanKindValues.CHAIN.value, SpanAttributes.INPUT_VALUE: _USER}
    chain[SpanAttributes.OUTPUT_VALUE] = _REPLY
    add("chain", chain, "Other", [("Context", _USER)], [response])
    agent = chain | {kind: OpenInferenceSpanKindValues.AGENT.value}
    add("agent", agent, "Other", [("Query", _USER)], [("Answer", _REPLY)])
    add("root chain", chain, "Other", [("Query", _USER)], [("Answer", _REPLY)], parent=None, trace="root of a chain")

    # OpenLLMetry
    task = {"traceloop.span.kind": "workflow", "traceloop.entity.name": "qa"}
    task["traceloop.entity.input"] = json.dumps({"args": [_USER], "kwargs": {}})
    task["traceloop.entity.output"] = json.dumps(_REPLY)
    add("workflow", task, "Other", [("Query", _USER)], [("Answer", _REPLY)])
    add("openai.chat", {"llm.request.type": "chat"} | older, "Generation", [prompt], [response])
    results = tuple(
        ("db.query.result", {"db.query.result.id": id_, "db.query.result.document": text, "db.query.result.score": 0.5})
        for id_, text in (("c1", "Ada moved to Paris in May."), ("c2", "Bo is a dog."))
    )
    add("chroma.query", {"db.vector.query.top_k": 2}, "Retrieval", [], both, moments=results)

    # MLflow
    model = {"messages": _MESSAGES, "model": "m"}
    mlflow = {"mlflow.spanType": '"CHAT_MODEL"', "mlflow.spanInputs": json.dumps(model)}
    choices = {"choices": [{"message": {"role": "assistant", "content": _REPLY}}]}
    add("mlflow chat", mlflow | {"mlflow.spanOutputs": json.dumps(choices)}, "Generation", [prompt], [response])
    retriever = {"mlflow.spanType": '"RETRIEVER"', "mlflow.spanInputs": json.dumps({"query": _USER})}
    pages = [{"page_content": text, "metadata": {"doc_uri": "x"}, "id": None} for _, text in both]
    add("mlflow retriever", retriever | {"mlflow.spanOutputs": json.dumps(pages)}, "Retrieval", [asked], both)

    # Langfuse
    generation = {"langfuse.observation.type": "generation", "langfuse.observation.input": json.dumps(_MESSAGES)}
    reply = json.dumps({"role": "assistant", "content": _REPLY})
    add("langfuse", generation | {"langfuse.observation.output": reply}, "Generation", [prompt], [response])

    # EverOS
    given, got = "langfuse.observation.input", "langfuse.observation.output"
    search = {given: json.dumps({"query": _USER}), got: json.dumps({"episodes": [{"id": "e1", "summary": _REPLY}]})}
    add("everos.memory.search", search, "Retrieval", [asked], [("MemoryUnit", _REPLY)])
    extract = {given: json.dumps(_MESSAGES[1:]), got: "Ada asked where she lives."}
    add("everos.extract", extract, "Extraction", [("Message", _USER)], [("MemoryUnit", "Ada asked where she lives.")])
    add("everos.memory.add", {}, "Update", [], [])

    # MemTrace's own
    own = {"memtrace.operation.kind": "Segmentation"}
    own["memtrace.inputs"] = json.dumps([{"kind": "Message", "name": "m", "value": _USER, "outside": True}])
    own["memtrace.outputs"] = json.dumps([{"kind": "Buffer", "name": "b", "value": [_USER], "version": 3}])
    add("own", own, "Segmentation", [("Message", _USER)], [("Buffer", json.dumps([_USER]))])

    # No dialect
    add("GET /", {"http.route": "/", "strange": [1, {"a": b"bytes".decode()}]}, "Other", [], [])
    return found
