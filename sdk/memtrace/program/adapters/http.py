"""A memory system behind HTTP, in any language: three requests, each a POST of JSON, and two more where it can.

    POST URL/add     {"user": ..., "session": ..., "messages": [{"id", "speaker", "text", "time"}]}
    POST URL/answer  {"user", "question", "prompts": {name: text}, "time" if known}   -> {"answer": ...}
    POST URL/prompts {"user": ...}                                            -> {name: text}; 404 if it has none
    POST URL/save    {"user": ...}                                            -> any JSON; 404 if it can't
    POST URL/restore {"user": ..., "saved": what save gave}

``MEMTRACE_PROGRAM_URL`` is the URL. The system behind the URL records itself; it gets the trace by the header
``traceparent`` (``memtrace.extract``). Without such a recording, the graph has only messages, questions and answers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
from pydantic_core import from_json, to_json

import memtrace
from memtrace.program.loading import ProgramError
from memtrace.program.protocol import Message

_SAVED = "saved.json"
_SECONDS = httpx.Timeout(600.0, connect=30.0)


class HttpProgram:
    """The system at ``MEMTRACE_PROGRAM_URL``. Run it as ``memtrace.program.adapters.http:HttpProgram``."""

    is_replayable = False
    """A replay would write to the system's memory once more."""

    def __init__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> None:
        url = os.environ.get("MEMTRACE_PROGRAM_URL", "")
        if not url:
            raise ProgramError("set MEMTRACE_PROGRAM_URL to the address of the memory system")
        self._user = user
        self._changed = dict(prompts)
        self._client = httpx.Client(base_url=url.rstrip("/") + "/", timeout=_SECONDS)

    def prompts(self) -> dict[str, str]:
        """The system's prompts, and the changed prompts."""
        response = self._client.post("prompts", json={"user": self._user})
        own = {} if response.status_code == httpx.codes.NOT_FOUND else self._checked(response)
        return {**own, **self._changed}

    def add(self, messages: Sequence[Message]) -> None:
        """Send messages."""
        said = [
            {
                "id": one.id,
                "speaker": one.speaker,
                "text": one.text,
                "time": None if one.time is None else one.time.isoformat(),
            }
            for one in messages
        ]
        self._post("add", {"session": messages[0].session, "messages": said})

    def answer(self, question: str, time: datetime | None = None) -> str:
        """Ask for an answer."""
        dated = {} if time is None else {"time": time.isoformat()}
        return str(self._post("answer", {"question": question, **dated})["answer"])

    def save(self, path: Path) -> None:
        """Save the system's answer to ``save``."""
        response = self._client.post("save", json={"user": self._user})
        if response.status_code != httpx.codes.NOT_FOUND:
            (path / _SAVED).write_bytes(to_json(self._checked(response)))

    def restore(self, path: Path) -> None:
        """Send the saved answer back to the system, if any."""
        if (path / _SAVED).exists():
            saved = from_json((path / _SAVED).read_bytes())
            self._checked(self._client.post("restore", json={"user": self._user, "saved": saved}))

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        headers: dict[str, str] = {}
        memtrace.inject(headers)
        found: dict[str, Any] = self._checked(
            self._client.post(path, json={"user": self._user, "prompts": self._changed, **body}, headers=headers)
        )
        return found

    def _checked(self, response: httpx.Response) -> Any:
        if response.is_error:
            raise ProgramError(f"POST {response.url} gave {response.status_code}: {response.text[:300]}")
        return response.json() if response.content else {}
