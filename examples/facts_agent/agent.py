"""An asynchronous agent: threads extract facts, which are added, updated and deleted; answers are streamed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import memtrace

from examples.shared import model
from examples.shared.talk import NO_FAULT, Fault, Question, Reply

from . import rules
from .conversation import SESSIONS
from .rules import Fact

RETURNED = 3
"""Units that a search gives back."""


class FactsAgent:
    """Remembers one unit for each thing that a person speaks of."""

    def __init__(self, threads: ThreadPoolExecutor, fault: Fault = NO_FAULT) -> None:
        self.fault = fault
        self.threads = memtrace.executor(threads)  # tasks stay in the trace of the caller
        self.units: dict[str, str] = {}
        self.count = 0

    async def remember(self, messages: Sequence[str]) -> None:
        """Extract the facts of all messages at the same time, then bring the units up to date one by one."""
        loop = asyncio.get_running_loop()
        found = await asyncio.gather(*(loop.run_in_executor(self.threads, self.extract, text) for text in messages))
        for fact in [fact for facts in found for fact in facts]:
            if fact.about not in self.units:
                if not fact.is_end:
                    self.units[fact.about] = self.add(fact)
            elif fact.is_end:
                self.forget(fact.about, fact)
            else:
                self.units[fact.about] = self.update(self.units[fact.about], fact)

    @memtrace.operation(kind="Extraction", each=True, output_name="fact")
    def extract(self, message: str) -> list[Fact]:
        """The facts of a message, each a variable."""
        return [] if self.fault.hits("extraction", message) else rules.facts(message)

    @memtrace.operation(kind="Update")
    def add(self, fact: Fact) -> str:
        """Make a unit of a fact."""
        self.count += 1
        text = fact.text.partition(" ")[0] if self.fault.hits("add", fact.text) else fact.text
        return memtrace.variable(text, kind="MemoryUnit", name=f"unit {self.count}")

    @memtrace.operation(kind="Update")
    def update(self, unit: str, fact: Fact) -> str:
        """Make the next version of a unit: the old text, and the new fact."""
        text = f"{unit} {fact.text}"
        if self.fault.hits("overwrite", fact.text):
            text = fact.text
        elif self.fault.hits("update", fact.text):
            text = str(unit)
        return memtrace.variable(text, kind="MemoryUnit", revises=unit)

    def forget(self, about: str, fact: Fact) -> None:
        """Delete the unit about something."""
        if self.fault.hits("deletion", fact.text):
            known = list(self.units)
            about = known[known.index(about) - 1]
        self.delete(self.units.pop(about), fact)

    @memtrace.operation(kind="Deletion", output=False)
    def delete(self, unit: str, fact: Fact) -> None:
        """Tell that a unit is no longer there, because of what was said."""
        memtrace.deleted(unit)

    @memtrace.operation(kind="Retrieval")
    def search(self, question: str, units: Sequence[str]) -> list[str]:
        """The units that share most words with the question. All units are candidates, as they are an argument."""
        ranked = sorted(units, key=lambda unit: -rules.shared(unit, question))
        return ranked[-RETURNED:] if self.fault.hits("retrieval", question) else ranked[:RETURNED]

    @memtrace.operation(output="Prompt", output_name="prompt")
    def write_prompt(self, question: str, units: Sequence[str]) -> str:
        """Put what was found before the question."""
        notes = units[1:] if self.fault.hits("prompt", question) else units
        return model.PROMPT.format(notes="\n".join(notes), question=question)

    @memtrace.operation(kind="Generation", output="Answer", output_name="answer")
    async def answer(self, prompt: str) -> AsyncIterator[str]:
        """Ask the model, whose answer comes word by word; the answer is complete when the stream ends."""
        for word in model.answer(prompt, is_confused=self.fault.hits("response", prompt)).split():
            await asyncio.sleep(0)
            yield word + " "

    async def ask(self, question: Question) -> Reply:
        """Search the memory, and answer a question from the results."""
        asked = memtrace.variable(question.text, kind="Query", name=question.name)
        found = await asyncio.to_thread(self.search, asked, list(self.units.values()))
        words = [word async for word in self.answer(self.write_prompt(asked, found))]
        return Reply(question, "".join(words).strip())


async def live(fault: Fault = NO_FAULT, trace: str | None = None) -> list[Reply]:
    """Record the agent over its conversation, asking as it goes on: all questions of a session at the same time.

    Args:
        fault: what goes wrong.
        trace: id of the trace; without one, a new trace.
    """
    replies: list[Reply] = []
    with ThreadPoolExecutor(4) as threads:
        agent = FactsAgent(threads, fault)
        given = {"fault": fault, "trace": trace}
        async with memtrace.trace("facts agent", id=trace, program=f"{__name__}:live", input=given):
            for session in SESSIONS:
                with memtrace.session(session.name, category="conversation"):
                    await agent.remember(
                        [memtrace.variable(one.text, kind="Message", name=one.name) for one in session.messages]
                    )
                with memtrace.session(f"questions after {session.name}", category="evaluation"):
                    replies += await asyncio.gather(*(agent.ask(question) for question in session.questions))
    return replies


def run(fault: Fault = NO_FAULT, trace: str | None = None) -> list[Reply]:
    """The same for a program that is not asynchronous."""
    return asyncio.run(live(fault, trace))
