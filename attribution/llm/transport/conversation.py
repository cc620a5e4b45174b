"""A conversation with a model so far, and how many tokens it can be."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from attribution.llm.transport.data import as_data

Message = dict[str, Any]

_FRAME_TOKENS = 512
"""How many tokens a server's template may add once: a preamble, instructions for calling tools."""
_MESSAGE_TOKENS = 16
"""How many tokens it may add to each message: the marks around it."""
_TOKENS_PER_BYTE = 1 / 3
"""A first guess; each reply tells the true rate."""
_LEFT_OUT = as_data({"note": "left out to save room: call the tool again if it is needed"})
_KEPT_RESULTS = 2


class Conversation:
    """Messages in order. The first is the system's, the second says what is wanted."""

    def __init__(self, system: str, user: str) -> None:
        self.messages: list[Message] = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        self._counted = 0
        self._counted_tokens = 0
        self._rate = _TOKENS_PER_BYTE

    def say(self, text: str) -> None:
        """Add a message of ours."""
        self.messages.append({"role": "user", "content": text})

    def add(self, message: Message) -> None:
        """Add a message of the model or of a tool."""
        self.messages.append(message)

    def bound(self, extra: Sequence[Any] = ()) -> int:
        """The most tokens that the messages can be.

        No token is shorter than a byte; what the server has already counted is known exactly.

        Args:
            extra: what else is sent along: tools, a schema. The same, or less, with each call.
        """
        new = self.messages[self._counted :]
        most = sum(map(byte_size, new)) + _MESSAGE_TOKENS * len(new)
        if self._counted:
            return self._counted_tokens + most
        return _FRAME_TOKENS + most + sum(map(byte_size, extra))

    def estimate(self) -> int:
        """About how many tokens the messages are."""
        return int(sum(map(byte_size, self.messages)) * self._rate)

    def counted(self, tokens: int) -> None:
        """Remember how many tokens the server counted for the messages so far."""
        self._counted = len(self.messages)
        self._counted_tokens = tokens
        self._rate = tokens / sum(map(byte_size, self.messages))

    def shorten(self, tokens: int) -> bool:
        """Leave out the oldest results of tools until about so many tokens remain; whether any was left out."""
        results = [message for message in self.messages if message["role"] == "tool"]
        changed = False
        for message in results[:-_KEPT_RESULTS]:
            if self.estimate() <= tokens:
                break
            if len(message["content"]) > len(_LEFT_OUT):
                message["content"] = _LEFT_OUT
                changed = True
        return changed


def byte_size(part: Any) -> int:
    """Bytes of a part of a request, as it is sent."""
    return len(json.dumps(part, ensure_ascii=False).encode("utf-8", "backslashreplace"))
