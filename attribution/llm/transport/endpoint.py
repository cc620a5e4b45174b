"""A connection to one server that keeps the server's key secret."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from openai import AsyncOpenAI, DefaultAsyncHttpxClient, OpenAIError

from attribution.llm.transport.faults import Fault, fault_of

_NO_KEY = "none"
_SECRET_CHARACTERS = 8
"""Shorter keys are not concealed: they are no secrets, and could be parts of words."""
_CONCEALED = "[key]"


class Endpoint:
    """Sends requests, and removes the key from all responses, because some servers repeat the key in their errors."""

    def __init__(self, base_url: str, key: str | None) -> None:
        self.base_url = base_url
        self._key = key if key is not None and len(key) >= _SECRET_CHARACTERS else None
        # The contents of a memory are sent to the configured server only, so redirects are not followed.
        http = DefaultAsyncHttpxClient(follow_redirects=False)
        self._client = AsyncOpenAI(base_url=base_url, api_key=key or _NO_KEY, max_retries=0, http_client=http)
        # Otherwise the client reads these from environment variables for another server.
        self._client.organization = None
        self._client.project = None

    def conceal(self, text: str) -> str:
        """The text without the key."""
        return text.replace(self._key, _CONCEALED) if self._key else text

    async def complete(self, body: dict[str, Any], seconds: float) -> str | Fault:
        """The body of the response to a request for a chat completion."""
        return await self._answer(
            self._client.chat.completions.with_raw_response.create(**body, timeout=seconds), seconds
        )

    async def embed(self, body: dict[str, Any], seconds: float) -> str | Fault:
        """The body of the response to a request for embeddings."""
        return await self._answer(self._client.embeddings.with_raw_response.create(**body, timeout=seconds), seconds)

    async def _answer(self, call: Awaitable[Any], seconds: float) -> str | Fault:
        # The client's errors contain the request with its headers, so they are not passed on.
        try:
            answer = await call
        except OpenAIError as error:
            return fault_of(error, seconds, self.conceal)
        return self.conceal(answer.http_response.text)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()
