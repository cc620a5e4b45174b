"""The messages of a conversation with a model, and estimates of their tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from attribution.llm.transport.data import as_data

Message = dict[str, Any]

_FRAME_TOKENS = 512
"""Tokens that a server's template may add once: a preamble, instructions for tool calls."""
_MESSAGE_TOKENS = 16
"""Tokens that a server's template may add to each message."""
_TOKENS_PER_BYTE = 1 / 3
"""A first guess; each reply tells the true rate."""
_LEFT_OUT = as_data({"note": "left out to save room: call the tool again if it is needed"})
_KEPT_RESULTS = 2


class Conversation:
    """Messages in order: the system's, the task, and replies."""

    def __init__(self, system: str, user: str) -> None:
        self.messages: list[Message] = [{"role": "system", "content": system}, {"role": "user", "content": user}]
        self._results: list[Message] = []
        self._counted = 0
        self._counted_tokens = 0
        self._rate = _TOKENS_PER_BYTE

    def say(self, text: str) -> None:
        """Add a message by us, or a part to the first one: some templates refuse two messages of one role."""
        if len(self.messages) == 2 and not self._counted:
            task = self.messages[1]
            self.messages[1] = task | {"content": f"{task['content']}\n\n{text}"}
        else:
            self.messages.append({"role": "user", "content": text})

    def add(self, message: Message) -> None:
        """Add a message by the model or a tool."""
        self.messages.append(message)

    def result(self, message: Message) -> None:
        """Add the result of a tool, which ``shorten`` may drop later."""
        self.messages.append(message)
        self._results.append(message)

    def bound(self, extra: Sequence[Any] = ()) -> int:
        """An upper bound of the tokens of the messages.

        No token is shorter than a byte. The exact number is known for messages that the server has already counted.

        Args:
            extra: other parts of the request: tools, a schema. Must not grow from call to call.
        """
        new = self.messages[self._counted :]
        most = sum(map(byte_size, new)) + _MESSAGE_TOKENS * len(new)
        if self._counted:
            return self._counted_tokens + most
        return _FRAME_TOKENS + most + sum(map(byte_size, extra))

    def estimate(self) -> int:
        """The likely number of tokens of the messages."""
        return int(sum(map(byte_size, self.messages)) * self._rate)

    def counted(self, tokens: int) -> None:
        """Store the number of tokens that the server counted for the messages so far."""
        self._counted = len(self.messages)
        self._counted_tokens = tokens
        self._rate = tokens / sum(map(byte_size, self.messages))

    def shorten(self, tokens: int) -> bool:
        """Drop the oldest tool results until about ``tokens`` remain; returns whether any was dropped."""
        changed = False
        for message in self._results[:-_KEPT_RESULTS]:
            if self.estimate() <= tokens:
                break
            if len(message["content"]) > len(_LEFT_OUT):
                message["content"] = _LEFT_OUT
                changed = True
        return changed


def byte_size(part: Any) -> int:
    """The size of a part of a request, in bytes as sent."""
    return len(json.dumps(part, ensure_ascii=False).encode("utf-8", "backslashreplace"))
