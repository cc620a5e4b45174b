"""An agent of LangGraph that keeps messages in a store, and searches the store before an answer.

The environment needs ``langgraph`` and ``langchain-openai``; models are named as in ``adapters.mem0``.
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
from memtrace.program.adapters.prompts import ANSWER, filled
from memtrace.program.protocol import Message

_TOP = 5


class LangGraphStore:
    """Run it as ``memtrace.program.adapters.langgraph_store:LangGraphStore``."""

    def __init__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> None:
        memtrace.instrument("langchain", "langgraph")
        from langchain_openai import ChatOpenAI, OpenAIEmbeddings
        from langgraph.graph import END, START, StateGraph
        from langgraph.store.memory import InMemoryStore

        embedder = os.environ.get("MEMTRACE_PROGRAM_EMBEDDER", "text-embedding-3-small")
        server = os.environ.get("MEMTRACE_PROGRAM_EMBEDDER_URL") or None  # None: the same as the model's
        dimensions = int(os.environ.get("MEMTRACE_PROGRAM_DIMENSIONS", "1536"))
        embeddings = OpenAIEmbeddings(model=embedder, base_url=server, check_embedding_ctx_length=False)
        self._prompts = {"answer": ANSWER, **prompts}
        self._namespace = ("memories", user.replace(".", "-"))
        self._store = InMemoryStore(index={"dims": dimensions, "embed": embeddings, "fields": ["text"]})
        self._top = found_at_most(_TOP)
        named = os.environ.get("MEMTRACE_PROGRAM_MODEL", "gpt-4.1-mini")
        self._model = ChatOpenAI(model=named, temperature=0, max_completion_tokens=reply_tokens())
        graph: Any = StateGraph(dict)
        graph.add_node("respond", self._respond)
        graph.add_edge(START, "respond")
        graph.add_edge("respond", END)
        self._graph = graph.compile(store=self._store)

    def prompts(self) -> dict[str, str]:
        """The prompt of an answer."""
        return self._prompts

    def add(self, messages: Sequence[Message]) -> None:
        """Put each message into the store, with speaker and date."""
        for one in messages:
            self._store.put(self._namespace, one.id, {"text": with_heading(one)})

    def answer(self, question: str, time: datetime | None = None) -> str:
        """Run the graph."""
        return str(self._graph.invoke({"question": question, "time": time})["answer"])

    def _respond(self, state: dict[str, Any]) -> dict[str, Any]:
        question = state["question"]
        found = self._store.search(self._namespace, query=question, limit=self._top)
        notes = [item.value["text"] for item in found]
        prompt = filled(self._prompts["answer"], notes, with_date(question, state["time"]))
        return {"question": question, "answer": self._model.invoke(prompt).content}
