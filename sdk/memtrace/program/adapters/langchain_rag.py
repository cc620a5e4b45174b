"""Retrieval-augmented generation with LangChain: each message is a document in a vector store.

The environment needs ``langchain-openai``; models are named as for ``memtrace.program.adapters.mem0``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import memtrace
from memtrace.program.adapters.heading import with_date, with_heading
from memtrace.program.adapters.limits import found_at_most, reply_tokens
from memtrace.program.adapters.prompts import ANSWER
from memtrace.program.protocol import Message

_TOP = 5


class LangChainRag:
    """Run it as ``memtrace.program.adapters.langchain_rag:LangChainRag``."""

    def __init__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> None:
        memtrace.instrument("langchain")
        from langchain_core.vectorstores import InMemoryVectorStore
        from langchain_openai import ChatOpenAI, OpenAIEmbeddings

        embedder = os.environ.get("MEMTRACE_PROGRAM_EMBEDDER", "text-embedding-3-small")
        server = os.environ.get("MEMTRACE_PROGRAM_EMBEDDER_URL") or None  # None: the same as the model's
        self._prompts = {"answer": ANSWER, **prompts}
        self._store = InMemoryVectorStore(
            OpenAIEmbeddings(model=embedder, base_url=server, check_embedding_ctx_length=False)
        )
        self._top = found_at_most(_TOP)
        named = os.environ.get("MEMTRACE_PROGRAM_MODEL", "gpt-4.1-mini")
        self._model = ChatOpenAI(model=named, temperature=0, max_completion_tokens=reply_tokens())

    def prompts(self) -> dict[str, str]:
        """The prompt of an answer."""
        return self._prompts

    def add(self, messages: Sequence[Message]) -> None:
        """Add each message as a document, with speaker and date."""
        from langchain_core.documents import Document

        self._store.add_documents([Document(page_content=with_heading(one), id=one.id) for one in messages])

    def answer(self, question: str, time: datetime | None = None) -> str:
        """Retrieve, and ask the model."""
        from langchain_core.prompts import PromptTemplate

        documents = self._store.as_retriever(search_kwargs={"k": self._top}).invoke(question)
        notes = "\n".join(document.page_content for document in documents)
        chain: Any = PromptTemplate.from_template(self._prompts["answer"]) | self._model
        return str(chain.invoke({"notes": notes, "question": with_date(question, time)}).content)
