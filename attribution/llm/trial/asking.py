"""Requests of a trial: in exactly one dialect each, timed, and never answered from a cache."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from attribution.llm.transport.attempts import Attempts, Request
from attribution.llm.transport.budget import LlmBudget
from attribution.llm.transport.conversation import Conversation
from attribution.llm.transport.dialect import Dialect, Schema
from attribution.llm.transport.endpoint import Endpoint
from attribution.llm.transport.faults import Fault
from attribution.llm.transport.listed import Listed, read_listed
from attribution.llm.transport.reply import Reply, Tokens, read_reply
from attribution.llm.transport.settings import LlmSettings

_RETRIES = 1
"""A trial tells of a server that is overloaded, instead of waiting for it."""
_LONGEST_REPLY = 1_024
_LISTING_SECONDS = 30.0
_BYTES_PER_TOKEN = 4
"""For servers that do not report usage."""


@dataclass(frozen=True, slots=True)
class Timed:
    """A reply.

    Attributes:
        tokens: as the server reports them, or else an estimate.
        seconds: from sending the request to the end of the response.
    """

    reply: Reply
    tokens: Tokens
    seconds: float


class Asking:
    """Asks one model; an asynchronous context manager."""

    def __init__(self, settings: LlmSettings) -> None:
        """Opens no connection.

        Raises:
            InputError: the key's file can't be read.
        """
        self.settings = settings
        self.reply_tokens = min(settings.reply_tokens, _LONGEST_REPLY)
        self._endpoint = Endpoint(settings.base_url, settings.key())
        self._attempts = Attempts(settings.model_copy(update={"retries": min(settings.retries, _RETRIES)}))
        self.budget = LlmBudget(settings.run_limits, "run")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._endpoint.close()

    async def listed(self) -> tuple[Listed, ...] | None:
        """The models that the server lists; None if it lists none."""
        body = await self._endpoint.models(min(self.settings.timeout, _LISTING_SECONDS))
        return None if isinstance(body, Fault) else read_listed(body)

    async def ask(
        self,
        dialect: Dialect,
        text: str,
        tools: Sequence[dict[str, Any]] = (),
        schema: Schema | None = None,
        reply_tokens: int | None = None,
    ) -> Timed:
        """The reply to one message.

        Raises:
            LlmError: the server gave no answer, or refuses the request.
            BudgetError: the call could exceed the budget of a run, and was not made.
        """
        settings = self.settings
        talk = Conversation("You are tried out. Do exactly what you are asked to do.", text)
        most = reply_tokens or self.reply_tokens
        body = dialect.body(settings.model, talk.messages, most, settings.temperature, tools, schema)
        seconds = 0.0

        async def send(limit: float) -> str | Fault:
            nonlocal seconds
            start = time.perf_counter()
            try:
                return await self._endpoint.complete(body, limit)
            finally:
                seconds = time.perf_counter() - start

        extra = [*tools, schema.schema] if schema else list(tools)
        request = Request(
            send=send,
            estimate=settings.usage(talk.bound(extra), most),
            usage=lambda tokens: settings.usage(tokens.input, tokens.output),
        )
        answer = await self._attempts.run(request, self.budget, _read)
        reply = answer.found
        said = len(reply.content.encode("utf-8", "backslashreplace"))
        guess = Tokens(max(len(str(body)) // _BYTES_PER_TOKEN, 1), said // _BYTES_PER_TOKEN)
        return Timed(reply, reply.tokens or guess, seconds)


def _read(text: str) -> tuple[Reply, Tokens | None]:
    reply = read_reply(text)
    return reply, reply.tokens
