"""Attaches the recorder to LlamaIndex's dispatcher, and to its vector stores."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from memtrace.instruments.covering import covered
from memtrace.instruments.llamaindex import memories, stores
from memtrace.instruments.llamaindex.events import Events
from memtrace.instruments.llamaindex.spans import Spans
from memtrace.instruments.patches import Patches, wrap_all

_MODEL_CALLS = ("chat", "achat", "complete", "acomplete", "stream_chat", "astream_chat")
_MORE_CALLS = ("stream_complete", "astream_complete", "chat_with_tools", "achat_with_tools")

_EMBEDDINGS = tuple(
    f"_{prefix}get_{what}" for prefix in ("", "a") for what in ("query_embedding", "text_embedding", "text_embeddings")
)


class LlamaIndexInstrument:
    """Records LlamaIndex by the events of its dispatcher. Vector stores send no events, so they are wrapped."""

    distribution = "llama-index-core"
    modules = ("llama_index.core",)
    tested = ("0.13.6", "0.14.25")

    def __init__(self) -> None:
        self._patches = Patches("llamaindex")
        self._attached: list[tuple[Any, str, Any]] = []

    def install(self) -> None:
        """Attach it."""
        dispatcher = import_module("llama_index.core.instrumentation").get_dispatcher()
        events = import_module("llama_index.core.instrumentation.event_handlers").BaseEventHandler
        spans = import_module("llama_index.core.instrumentation.span_handlers").BaseSpanHandler
        listener = type("MemTraceEvents", (Events, events), {"__doc__": Events.__doc__})()
        watcher = type("MemTraceSpans", (Spans, spans), {"__doc__": Spans.__doc__})()
        dispatcher.add_event_handler(listener)
        dispatcher.add_span_handler(watcher)
        self._attached = [(dispatcher, "event_handlers", listener), (dispatcher, "span_handlers", watcher)]
        store = import_module("llama_index.core.vector_stores.types").BasePydanticVectorStore
        wrap_all(self._patches, store, stores.wrappers())
        memory = import_module("llama_index.core.memory.types").BaseMemory
        wrap_all(self._patches, memory, memories.wrappers())
        block = import_module("llama_index.core.memory.memory").BaseMemoryBlock
        wrap_all(self._patches, block, memories.block_wrappers())
        embedding = import_module("llama_index.core.base.embeddings.base").BaseEmbedding
        wrap_all(self._patches, embedding, dict.fromkeys(_EMBEDDINGS, covered), with_base=False)
        model = import_module("llama_index.core.llms.llm").LLM
        wrap_all(self._patches, model, dict.fromkeys((*_MODEL_CALLS, *_MORE_CALLS), covered), with_base=False)

    def remove(self) -> None:
        """Detach it."""
        for dispatcher, name, handler in self._attached:
            setattr(dispatcher, name, [one for one in getattr(dispatcher, name) if one is not handler])
        self._attached = []
        self._patches.restore()
