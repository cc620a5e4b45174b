"""A connection to one server that keeps the server's key secret."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from typing import Any

from openai import AsyncOpenAI, DefaultAsyncHttpxClient, OpenAIError

from attribution.llm.transport.faults import Fault, UnreadableReplyError, fault_of, unreadable

_NO_KEY = "none"
_SECRET_CHARACTERS = 8
"""Shorter keys are not concealed: they are no secrets, and could be parts of words."""
_CONCEALED = "[key]"
_MOST_MEBIBYTES = 16
"""Largest body of a response; the vectors of a batch of texts take a third of it at most."""


class Endpoint:
    """Sends requests, and removes the key from all responses, because some servers repeat the key in their errors."""

    def __init__(self, base_url: str, key: str | None) -> None:
        self.base_url = base_url
        self._key = key if key is not None and len(key) >= _SECRET_CHARACTERS else None
        # The contents of a memory are sent to the configured server only, so redirects are not followed.
        # A compressed response could be small and become large, so none is asked for.
        http = DefaultAsyncHttpxClient(
            follow_redirects=False,
            headers={"Accept-Encoding": "identity"},
            event_hooks={"response": [_bound]},
        )
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

    async def models(self, seconds: float) -> str | Fault:
        """The body of the response to a request for the list of models."""
        return await self._answer(self._client.models.with_raw_response.list(timeout=seconds), seconds)

    async def _answer(self, call: Awaitable[Any], seconds: float) -> str | Fault:
        # The client's errors contain the request with its headers, so they are not passed on.
        try:
            answer = await call
        except OpenAIError as error:
            return fault_of(error, seconds, self.conceal)
        except UnreadableReplyError as error:
            return unreadable(error)
        return self.conceal(answer.http_response.text)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.close()


async def _bound(response: Any) -> None:
    """Limit what is read of a response, also of an error."""
    encoding = response.headers.get("content-encoding", "identity")
    if encoding != "identity":
        raise UnreadableReplyError(
            f"the server's answer is compressed ({encoding[:20]}), although it was asked not to be"
        )
    response.stream = _bounded(type(response.stream), response.stream)


def _bounded(kind: type[Any], stream: Any) -> Any:
    """The stream, which raises when more than the limit has come. ``kind``: the HTTP client's type of streams."""

    class Bounded(kind):  # type: ignore[misc]
        def __init__(self) -> None:
            """Does not call the constructor of the stream, which opens a connection."""

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = _MOST_MEBIBYTES << 20
            async for part in stream:
                left -= len(part)
                if left < 0:
                    raise UnreadableReplyError(f"the server's answer is longer than {_MOST_MEBIBYTES} MiB")
                yield part

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()
