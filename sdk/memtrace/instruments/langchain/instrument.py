"""Attaches the recorder to LangChain."""

from __future__ import annotations

from contextvars import ContextVar
from importlib import import_module
from typing import Any

from memtrace.instruments import placing
from memtrace.instruments.covering import covered
from memtrace.instruments.frameworks.runs import room
from memtrace.instruments.langchain import embeddings, replayed, rerankers, vectorstores
from memtrace.instruments.langchain.handler import Handler
from memtrace.instruments.patches import Patches, wrap_all

_handlers: dict[Any, Any] = {}
"""The handler by LangChain's base class, made once: runs that began earlier pass it on, and must not get a second."""


class LangChainInstrument:
    """Records LangChain by one handler of callbacks; stores, rerankers, models and retrievers are also wrapped."""

    distribution = "langchain-core"
    modules = ("langchain_core",)
    tested = ("0.3.86", "1.7.2")

    def __init__(self) -> None:
        self._patches = Patches("langchain")
        self._hook: tuple[Any, ...] | None = None

    def install(self) -> None:
        """Attach it."""
        base = import_module("langchain_core.callbacks.base").BaseCallbackHandler
        handler = _handlers.setdefault(base, None) or type("MemTraceHandler", (Handler, base), {})()
        _handlers[base] = handler
        tracers = import_module("langchain_core.tracers.context")
        tracers.register_configure_hook(ContextVar("memtrace.langchain", default=handler), True)
        self._hook = tracers._configure_hooks[-1]
        placing.around = room
        stores = import_module("langchain_core.vectorstores")
        wrap_all(self._patches, stores.VectorStore, vectorstores.wrappers())
        compressor = import_module("langchain_core.documents.compressor").BaseDocumentCompressor
        wrap_all(self._patches, compressor, rerankers.wrappers(), with_base=False)
        embedding = import_module("langchain_core.embeddings").Embeddings
        wrap_all(self._patches, embedding, embeddings.wrappers(), with_base=False)
        language = import_module("langchain_core.language_models")
        for kind in (language.BaseChatModel, language.BaseLLM):
            replayed_calls = dict.fromkeys(_WHOLE, replayed.generating) if kind is language.BaseChatModel else {}
            calls = {**dict.fromkeys((*_WHOLE, *_CALLS), covered), **replayed_calls}
            wrap_all(self._patches, kind, calls, with_base=False)
        retriever = import_module("langchain_core.retrievers").BaseRetriever
        wrap_all(self._patches, retriever, dict.fromkeys(_RETRIEVING, replayed.retrieving), with_base=False)

    def remove(self) -> None:
        """Detach the handler; runs that have begun keep the handler until they end."""
        hooks = import_module("langchain_core.tracers.context")._configure_hooks
        if self._hook in hooks:
            hooks.remove(self._hook)
        self._hook = None
        placing.around = None
        self._patches.restore()


_WHOLE = ("_generate", "_agenerate")
_CALLS = ("_stream", "_astream", "_call", "_acall")
_RETRIEVING = ("_get_relevant_documents", "_aget_relevant_documents")
