"""A long-context buffer: all messages go into the prompt of each answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import memtrace
from memtrace.program.adapters.chat import Chat
from memtrace.program.adapters.heading import with_date, with_heading
from memtrace.program.protocol import Message

_ANSWER = (
    "Here is what was said, oldest first:\n\n{conversation}\n\nAnswer the question in as few words as possible. If the "
    "conversation does not tell, say that you do not know.\n\nQuestion: {question}"
)


class LongContextBuffer:
    """The whole conversation as one growing text. Run it as ``memtrace.program.adapters.buffer:LongContextBuffer``."""

    def __init__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> None:
        self._answer = prompts.get("answer", _ANSWER)
        self._chat = Chat()
        self._lines: list[str] = []

    def prompts(self) -> dict[str, str]:
        """The prompt of an answer, with places ``{conversation}`` and ``{question}``."""
        return {"answer": self._answer}

    def add(self, messages: Sequence[Message]) -> None:
        """Append the messages to the buffer."""
        for message in messages:
            self._append(message.text, message)

    @memtrace.operation(kind="Update", inputs={"text": "Message"}, output=False)
    def _append(self, text: str, message: Message) -> None:
        with memtrace.mutation(self._lines, "buffer", kind="Buffer"):
            self._lines.append(with_heading(message))

    def answer(self, question: str, time: datetime | None = None) -> str:
        """Ask the model."""
        return self._asked(self._answer, question, self._lines, time)

    @memtrace.operation(
        "answer",
        kind="Generation",
        inputs={"prompt": "Prompt", "question": "Query", "conversation": "Buffer"},
        output="Answer",
    )
    def _asked(self, prompt: str, question: str, conversation: list[str], time: datetime | None) -> str:
        said = "\n".join(conversation)
        return self._chat.reply(prompt.replace("{conversation}", said).replace("{question}", with_date(question, time)))
