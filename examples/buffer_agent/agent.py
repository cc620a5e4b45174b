"""A long-context agent: every message is appended to one buffer, and the whole buffer is in every prompt."""

from __future__ import annotations

import memtrace

from examples.shared import model
from examples.shared.talk import NO_FAULT, Fault, Reply

from .conversation import SESSIONS

WINDOW = 8
"""Messages that the faults ``window`` and ``prompt`` leave."""


class BufferAgent:
    """Remembers by appending."""

    def __init__(self, fault: Fault = NO_FAULT) -> None:
        self.fault = fault
        self.buffer: list[str] = []

    @memtrace.operation(kind="Update", output=False)
    def append(self, message: str) -> None:
        """Bring a message into the buffer, which is changed in place: its next version derives from both."""
        with memtrace.mutation(self.buffer, "buffer"):
            if not self.fault.hits("append", message):
                self.buffer.append(message)
            if self.fault.hits("window", message):
                del self.buffer[:-WINDOW]

    @memtrace.operation(output="Prompt", output_name="prompt")
    def write_prompt(self, question: str, buffer: list[str]) -> str:
        """Put all that is remembered before the question."""
        notes = buffer[-WINDOW:] if self.fault.hits("prompt", question) else buffer
        return model.PROMPT.format(notes="\n".join(notes), question=question)

    @memtrace.operation(kind="Generation", output="Answer", output_name="answer")
    def answer(self, prompt: str) -> str:
        """Ask the model."""
        return model.answer(prompt, is_confused=self.fault.hits("response", prompt))

    def ask(self, question: str) -> str:
        """Answer a question from the buffer. Questions are not remembered, so no answer depends on another question."""
        return self.answer(self.write_prompt(question, self.buffer))


def run(fault: Fault = NO_FAULT, trace: str | None = None) -> list[Reply]:
    """Record the agent over its conversation, asking as it goes on.

    Args:
        fault: what goes wrong.
        trace: id of the trace; without one, a new trace.
    """
    agent = BufferAgent(fault)
    replies = []
    given = {"fault": fault, "trace": trace}
    with memtrace.trace("buffer agent", id=trace, program=f"{__name__}:run", input=given):
        for session in SESSIONS:
            with memtrace.session(session.name, category="conversation"):
                for message in session.messages:
                    agent.append(memtrace.variable(message.text, kind="Message", name=message.name))
            with memtrace.session(f"questions after {session.name}", category="evaluation"):
                for question in session.questions:
                    asked = memtrace.variable(question.text, kind="Query", name=question.name)
                    replies.append(Reply(question, agent.ask(asked)))
    return replies
