"""Replies of a model with the protocol of OpenAI, over HTTP."""

from __future__ import annotations

import os
from typing import Any

import httpx

from memtrace.program.adapters.limits import reply_tokens
from memtrace.program.loading import ProgramError

_SECONDS = httpx.Timeout(3600.0, connect=30.0)
"""A slow server may need long; ``memtrace evaluate --seconds`` limits each answer."""
_TRIES = 4
_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


class Chat:
    """A model at ``OPENAI_BASE_URL`` with the key ``OPENAI_API_KEY``; ``MEMTRACE_PROGRAM_MODEL`` is its name."""

    def __init__(self) -> None:
        self._model = os.environ.get("MEMTRACE_PROGRAM_MODEL", "gpt-4.1-mini")
        base = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1").rstrip("/")
        key = os.environ.get("OPENAI_API_KEY", "")
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        tokens = reply_tokens()
        self._limit = {"max_tokens": tokens} if tokens else {}
        self._client = httpx.Client(base_url=base + "/", headers=headers, timeout=_SECONDS)

    def reply(self, prompt: str) -> str:
        """The model's reply to a prompt, at temperature 0.

        Raises:
            ProgramError: the server gives no reply.
        """
        said_by_user = [{"role": "user", "content": prompt}]
        body = {"model": self._model, "temperature": 0, **self._limit, "messages": said_by_user}
        for left in range(_TRIES - 1, -1, -1):
            response = self._client.post("chat/completions", json=body)
            if response.status_code not in _AGAIN or not left:
                break
        if response.is_error:
            raise ProgramError(f"the model's server answered {response.status_code}: {response.text[:300]}")
        said: Any = response.json()
        return str(said["choices"][0]["message"]["content"] or "")
