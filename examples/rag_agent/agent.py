"""Retrieval-augmented generation: messages become chunks in a full-text index (SQLite FTS5, ranked by BM25)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import apsw
import memtrace

from examples.shared import model
from examples.shared.talk import NO_FAULT, Fault, Reply

from .conversation import SESSIONS

CHUNK = 2
"""Messages of a chunk: a message and the reply."""
RETURNED = 2
"""Chunks that a search gives back."""


class RagAgent:
    """Remembers chunks of the conversation, and finds them again by their words."""

    def __init__(self, fault: Fault = NO_FAULT) -> None:
        self.fault = fault
        self.index = apsw.Connection(":memory:")
        self.index.execute("CREATE VIRTUAL TABLE chunks USING fts5(name UNINDEXED, text, tokenize = 'porter')")
        self.count = 0

    @memtrace.operation(kind="Segmentation")
    def chunk(self, messages: Sequence[str]) -> str:
        """Make a chunk of some messages: a memory unit with a name for the index."""
        kept = messages[1:] if self.fault.hits("chunk", messages[0]) else messages
        self.count += 1
        return memtrace.variable("\n".join(kept), kind="MemoryUnit", name=f"chunk {self.count}")

    def remember(self, messages: Sequence[str]) -> None:
        """Bring the messages of a session into the index."""
        for start in range(0, len(messages), CHUNK):
            text = self.chunk(messages[start : start + CHUNK])
            self.index.execute("INSERT INTO chunks VALUES (?, ?)", (f"chunk {self.count}", text))

    @memtrace.operation(kind="Retrieval")
    def search(self, question: str) -> list[str]:
        """Find the chunks that share most with the question.

        What comes out of the index is new text: the names say which variables it stands for. All candidates are told
        with their scores, so that a miss can be told from a chunk that was never there.
        """
        asked = " OR ".join(f'"{word}"' for word in model.keywords(question))
        select = "SELECT name, text, bm25(chunks) FROM chunks WHERE text MATCH ? ORDER BY bm25(chunks), rowid"
        rows = cast("list[tuple[str, str, float]]", self.index.execute(select, (asked,)).fetchall())
        found = rows[RETURNED:] if self.fault.hits("retrieval", question) else rows[:RETURNED]
        memtrace.retrieved(
            question,
            candidates=[(name, -score) for name, _, score in rows],
            returned=[(text, name) for name, text, _ in found],
        )
        return [text for _, text, _ in found]

    @memtrace.operation(output="Prompt", output_name="prompt")
    def write_prompt(self, question: str, chunks: Sequence[str]) -> str:
        """Put what was found before the question."""
        notes = chunks[1:] if self.fault.hits("prompt", question) else chunks
        return model.PROMPT.format(notes="\n".join(notes), question=question)

    @memtrace.operation(kind="Generation", output="Answer", output_name="answer")
    def answer(self, prompt: str) -> str:
        """Ask the model."""
        return model.answer(prompt, is_confused=self.fault.hits("response", prompt))

    def ask(self, question: str) -> str:
        """Search the memory, and answer a question from the results."""
        return self.answer(self.write_prompt(question, self.search(question)))


def run(fault: Fault = NO_FAULT, trace: str | None = None) -> list[Reply]:
    """Record the agent over its conversation, asking as it goes on.

    Args:
        fault: what goes wrong.
        trace: id of the trace; without one, a new trace.
    """
    agent = RagAgent(fault)
    replies = []
    given = {"fault": fault, "trace": trace}
    with memtrace.trace("RAG agent", id=trace, program=f"{__name__}:run", input=given):
        for session in SESSIONS:
            with memtrace.session(session.name, category="conversation"):
                agent.remember([memtrace.variable(one.text, kind="Message", name=one.name) for one in session.messages])
            with memtrace.session(f"questions after {session.name}", category="evaluation"):
                for question in session.questions:
                    asked = memtrace.variable(question.text, kind="Query", name=question.name)
                    replies.append(Reply(question, agent.ask(asked)))
    return replies
