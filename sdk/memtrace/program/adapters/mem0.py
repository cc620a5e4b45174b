"""mem0, 1.x or 2.x, with a Qdrant in the program's folder. The environment needs ``mem0ai``.

``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` name the server of both models, ``MEMTRACE_PROGRAM_MODEL`` and
``MEMTRACE_PROGRAM_EMBEDDER`` (with ``MEMTRACE_PROGRAM_DIMENSIONS``) the models. ``MEMTRACE_PROGRAM_EMBEDDER_URL`` names
another server for embeddings.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import memtrace
from memtrace.program.adapters.chat import Chat
from memtrace.program.adapters.heading import with_date, with_heading
from memtrace.program.adapters.limits import found_at_most, reply_tokens
from memtrace.program.adapters.prompts import ANSWER, filled
from memtrace.program.protocol import Message

_TOP = 10
_OWN = {"extraction": "custom_fact_extraction_prompt", "update": "custom_update_memory_prompt"}
"""Names of prompts and of mem0 1.x's settings for them."""
_OWN_OF_2 = {"instructions": "custom_instructions"}


class Mem0Program:
    """A ``mem0.Memory`` of one user. Run it as ``memtrace.program.adapters.mem0:Mem0Program``."""

    def __init__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> None:
        os.environ.setdefault("MEM0_TELEMETRY", "False")
        os.environ.setdefault("MEM0_DIR", str(folder))
        memtrace.instrument("mem0")
        import mem0
        from mem0.configs.base import MemoryConfig

        self._user = "_".join(user.split())  # mem0 takes no spaces
        self._chat = Chat()
        self._top = found_at_most(_TOP)
        self._is_old = "custom_instructions" not in MemoryConfig.model_fields
        own = _OWN if self._is_old else _OWN_OF_2
        self._prompts = {**_usual(self._is_old), "answer": ANSWER, **prompts}
        changed = {own[name]: text for name, text in prompts.items() if name in own}
        self._memory = mem0.Memory.from_config({**_config(folder), **changed})

    def prompts(self) -> dict[str, str]:
        """The changeable prompts of mem0 (1.x: extraction and update; 2.x: instructions), and the answer's prompt."""
        return self._prompts

    def add(self, messages: Sequence[Message]) -> None:
        """Give mem0 the messages of a session, with speakers and dates."""
        said = [
            {
                "role": "assistant" if one.speaker.casefold() == "assistant" else "user",
                "content": with_heading(one),
                "name": one.speaker,
            }
            for one in messages
        ]
        self._memory.add(said, user_id=self._user)

    def answer(self, question: str, time: datetime | None = None) -> str:
        """Answer from the memories that mem0 finds."""
        if self._is_old:
            found: Any = self._memory.search(question, user_id=self._user, limit=self._top)
        else:
            found = self._memory.search(question, filters={"user_id": self._user}, top_k=self._top)
        return self._asked(self._prompts["answer"], question, [one["memory"] for one in found["results"]], time)

    @memtrace.operation("answer", kind="Generation", inputs={"prompt": "Prompt", "question": "Query", "notes": "Other"},
                        output="Answer")  # fmt: skip
    def _asked(self, prompt: str, question: str, notes: list[str], time: datetime | None) -> str:
        return self._chat.reply(filled(prompt, notes, with_date(question, time)))


def _usual(is_old: bool) -> dict[str, str]:
    if not is_old:
        return {"instructions": ""}
    from mem0.configs import prompts

    return {"extraction": prompts.FACT_RETRIEVAL_PROMPT, "update": prompts.DEFAULT_UPDATE_MEMORY_PROMPT}


def _config(folder: Path) -> dict[str, Any]:
    here = {
        "api_key": os.environ.get("OPENAI_API_KEY") or "none",
        "openai_base_url": os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1"),
    }
    there = {**here, "openai_base_url": os.environ.get("MEMTRACE_PROGRAM_EMBEDDER_URL") or here["openai_base_url"]}
    tokens = reply_tokens()
    limit = {"max_tokens": tokens} if tokens else {}
    dimensions = int(os.environ.get("MEMTRACE_PROGRAM_DIMENSIONS", "1536"))
    model = os.environ.get("MEMTRACE_PROGRAM_MODEL", "gpt-4.1-mini")
    embedder = os.environ.get("MEMTRACE_PROGRAM_EMBEDDER", "text-embedding-3-small")
    return {
        "llm": {"provider": "openai", "config": {"model": model, **limit, **here}},
        "embedder": {"provider": "openai", "config": {"model": embedder, "embedding_dims": dimensions, **there}},
        "vector_store": {
            "provider": "qdrant",
            "config": {
                "path": str(folder / "qdrant"),
                "collection_name": "units",
                "embedding_model_dims": dimensions,
                "on_disk": True,
            },
        },
        "history_db_path": str(folder / "history.db"),
    }
