"""The reflecting model, which writes new texts of prompts. Replies are kept by request and number of repetitions."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from memtrace.replay.budget import Budget
from memtrace.replay.proxy import Proxy
from memtrace.replay.replies import Replies

from attribution.llm.transport.client import LlmClient
from attribution.llm.transport.conversation import Conversation
from attribution.llm.transport.settings import LlmSettings
from schema.errors import MemTraceError

_ROLE = "You improve prompts of programs that remember conversations and answer questions about them."


class Reflector:
    """Asks the model; an asynchronous context manager.

    Args:
        settings: the model (``MEMTRACE_LLM_...``).
        folder: the folder of kept replies.
        budget: budget of live calls, shared with the program.

    Attributes:
        asked: number of reflections.
        problem: why the model gave no reply, which ends the search; None so far.
    """

    def __init__(self, settings: LlmSettings, folder: Path, budget: Budget) -> None:
        self._settings = settings
        self._proxy = Proxy(Replies(folder, "resume"), budget)
        self._client: LlmClient | None = None
        self.asked = 0
        self.problem: str | None = None

    async def __aenter__(self) -> Self:
        base = self._proxy.url_of(self._settings.base_url)
        self._client = await LlmClient(self._settings.model_copy(update={"base_url": base})).__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._client is not None:
            await self._client.__aexit__(None, None, None)
        self._proxy.close()

    async def reply(self, prompt: str) -> str:
        """The model's reply to a prompt.

        Raises:
            MemTraceError: the reply is missing or empty, or the budget is spent.
        """
        assert self._client is not None
        self.asked += 1
        try:
            found = await self._client.complete(Conversation(_ROLE, prompt), self._client.case_budget())
        except MemTraceError as error:
            self.problem = "; ".join(self._proxy.problems) or str(error)
            raise
        return found.content
