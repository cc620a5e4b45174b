"""The agent: three prompts, a list of facts, and a search by common words."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import memtrace
from memtrace.program import Message
from memtrace.program.adapters.chat import Chat

PROMPTS = {
    "extraction": "List the facts about pets in the message of {speaker}, as a JSON list of sentences.",
    "greeting": "Greet {speaker} in one sentence.",
    "answer": "Answer the question from the notes in one or two words.",
}


class Agent:
    """Remembers facts from the messages of one user."""

    def __init__(self, *, user: str, prompts: Mapping[str, str], folder: Path) -> None:
        """``memtrace evaluate`` and ``memtrace optimize`` make one for each user."""
        self._prompts = {**PROMPTS, **prompts}
        self._chat = Chat()
        self._facts: list[str] = []

    def prompts(self) -> dict[str, str]:
        """The prompts that may be changed."""
        return self._prompts

    def add(self, messages: Sequence[Message]) -> None:
        """Remember what was said."""
        for message in messages:
            self._facts += self.extract(self._prompts["extraction"], message.text, message.speaker)

    def answer(self, question: str) -> str:
        """Answer from memory."""
        return self.generate(self._prompts["answer"], question, self.search(question))

    @memtrace.operation(
        kind="Extraction", inputs={"prompt": "Prompt", "text": "Message"}, output="MemoryUnit", each=True
    )
    def extract(self, prompt: str, text: str, speaker: str) -> list[str]:
        """Ask the model for the facts of a message."""
        facts: list[str] = json.loads(self._chat.reply(prompt.replace("{speaker}", speaker) + f"\n\n{text}"))
        return facts

    @memtrace.operation(kind="Retrieval")
    def search(self, question: str) -> list[str]:
        """The three facts that share most words with the question."""
        asked = set(question.lower().strip("?").split())
        ranked = sorted(self._facts, key=lambda fact: -len(asked & set(fact.lower().strip(".").split())))
        memtrace.retrieved(question, ranked, ranked[:3])
        return ranked[:3]

    @memtrace.operation(
        kind="Generation", inputs={"prompt": "Prompt", "question": "Query", "notes": "Other"}, output="Answer"
    )
    def generate(self, prompt: str, question: str, notes: list[str]) -> str:
        """Ask the model for the answer."""
        return self._chat.reply(f"{prompt}\n\nNotes:\n" + "\n".join(notes) + f"\n\nQuestion: {question}")
