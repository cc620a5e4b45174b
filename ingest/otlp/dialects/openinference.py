"""OpenInference, the attributes of Phoenix's instrumentations.

Source: Arize-ai/openinference, spec/semantic_conventions.md. Lists are spread over numbered names. There is no kind of
span for memories, and most instrumentations send documents without ids and scores.
"""

from __future__ import annotations

from memtrace.kinds import OperationKind, VariableKind

from ingest.otlp.dialects.items import KINDS, also_kept, documents, inference, plain, question, session_of, tool, whole
from ingest.otlp.reading import messages, nested, objects, structured, text_of, words
from ingest.otlp.spans import Span
from ingest.otlp.steps import Item, Step

_NAME = "openinference"

_TAKEN: tuple[str, ...] = (
    "input.value",
    "output.value",
    "llm.input_messages.",
    "llm.output_messages.",
    "retrieval.documents.",
    "reranker.query",
    "reranker.input_documents.",
    "reranker.output_documents.",
    "embedding.embeddings.",
    "tool.parameters",
)

_VECTOR = ".embedding.vector"


def read(span: Span) -> Step | None:
    """The step of an OpenInference span; None for other spans."""
    said = span.attributes
    word = words(said.get("openinference.span.kind"))
    if word is None:
        return None
    kind, taken = KINDS.get(word.lower(), OperationKind.OTHER), _TAKEN
    given, got = structured(said.get("input.value")), structured(said.get("output.value"))
    match word.upper():
        case "LLM":
            asked = nested(said, "llm.input_messages") or given
            inputs, outputs = inference(span, asked, nested(said, "llm.output_messages") or got)
        case "RETRIEVER":
            inputs, outputs = question(span, given), _documents(span, "retrieval.documents")
        case "RERANKER":
            inputs = question(span, said.get("reranker.query") or given)
            inputs += _documents(span, "reranker.input_documents")
            outputs = _documents(span, "reranker.output_documents")
        case "EMBEDDING":
            listed = objects(nested(said, "embedding.embeddings"))
            texts = [text_of(one.get("embedding", one).get("text")) for one in listed if _is_embedding(one)]
            inputs = [Item(VariableKind.OTHER, "text", text) for text in texts if text]
            inputs = inputs or plain(given, None)[0]
            outputs = []
        case "TOOL":
            name = words(said.get("tool.name")) or span.name
            kind, inputs, outputs = tool(span, name, given or said.get("tool.parameters"), got)
        case "EVALUATOR":
            inputs, outputs = plain(given, got, VariableKind.JUDGEMENT)
        case _:
            inputs, outputs = whole(span, given, got, is_agent=word.upper() == "AGENT")
            taken = also_kept(given, _TAKEN, got)
    left_out = ("vectors of embeddings are not kept",) if any(one.endswith(_VECTOR) for one in said) else ()
    return Step(_NAME, kind, word, inputs, outputs, session=session_of(span), taken=taken, left_out=left_out)


def _is_embedding(one: dict[str, object]) -> bool:
    return isinstance(one.get("embedding", one), dict)


def _documents(span: Span, name: str) -> list[Item]:
    """The documents of a search; missing ids come from ``output.value``, where LangChain's instrumentation has them."""
    found = objects(nested(span.attributes, name))
    listed = structured(span.attributes.get("output.value"))
    if isinstance(listed, dict):
        listed = listed.get("documents")
    whole_ones = objects(listed) if name != "reranker.input_documents" else []
    if found and len(found) == len(whole_ones):
        for one, beside in zip(found, whole_ones, strict=True):
            fields = one["document"] if isinstance(one.get("document"), dict) else one
            if fields.get("id") is None and beside.get("id") is not None:
                fields["id"] = beside["id"]
    return documents(found or (whole_ones if not messages(whole_ones) else []), None)
