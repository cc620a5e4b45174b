"""Programs that ask a model over HTTP, to be recorded and run again."""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime

import memtrace
import openai

SERVER = "MEMTRACE_TEST_MODEL"
"""The variable of the environment with the address of the model's server."""
KEY = "sk-a-key-that-nobody-may-keep"

MESSAGES = (
    "Lena: I keep my spare key under the blue pot.",
    "Lena: My brother Otto repairs clocks in Linz.",
    "Lena: On Sunday I bake bread with rye flour.",
)
QUESTION = "Where does Lena keep her spare key?"
GOLD = "under the blue pot"
MISSED = "blue pot"


class Asking:
    """A memory of messages; a model words its answers."""

    def __init__(self, is_faulty: bool) -> None:
        self.is_faulty = is_faulty
        url = memtrace.replay.model_url(os.environ[SERVER])
        self.client = openai.OpenAI(base_url=url, api_key=KEY, max_retries=2)
        self.units: list[str] = []

    def say(self, prompt: str) -> str:
        """The model's reply."""
        reply = self.client.chat.completions.create(model="m", messages=[{"role": "user", "content": prompt}])
        return reply.choices[0].message.content or ""

    @memtrace.operation(kind="Extraction", output="MemoryUnit", output_name="unit")
    def extract(self, message: str) -> str:
        """The fact of a message, in the model's words."""
        return self.say(f"FACT {message}")

    @memtrace.operation(kind="Retrieval")
    def search(self, question: str, units: list[str]) -> list[str]:
        """The units of this memory; the fault misses one unit."""
        return [unit for unit in units if not (self.is_faulty and MISSED in unit)]

    @memtrace.operation(kind="Generation", output="Answer", output_name="answer")
    def answer(self, question: str, units: list[str]) -> str:
        """The model's answer."""
        return self.say("ANSWER {}\nQuestion: {}".format("\n".join(units), question))


def asking(is_faulty: bool = True, trace: str = "asking") -> str:
    """Remember messages, and answer a question."""
    given = {"is_faulty": is_faulty, "trace": trace}
    with memtrace.trace("asking", id=trace, program=f"{__name__}:asking", input=given):
        agent = Asking(is_faulty)
        for number, text in enumerate(MESSAGES, 1):
            message = memtrace.variable(text, kind="Message", name=f"m{number}")
            agent.units.append(agent.extract(message))
        question = memtrace.variable(QUESTION, kind="Query", name="question")
        return agent.answer(question, agent.search(question, agent.units))


def chance(trace: str = "chance") -> str:
    """Answer by chance: the recorder keeps the state of the random numbers."""
    with memtrace.trace("chance", id=trace, program=f"{__name__}:chance", input={"trace": trace}):
        memtrace.variable(MESSAGES[0], kind="Message", name="m1")
        question = memtrace.variable(QUESTION, kind="Query", name="question")
        return draw(question)


def dated(trace: str = "dated") -> str:
    """Answer with the day: a replay uses the day of the recording."""
    with memtrace.trace("dated", id=trace, program=f"{__name__}:dated", input={"trace": trace}):
        question = memtrace.variable(QUESTION, kind="Query", name="question")
        return today(question)


@memtrace.operation(kind="Generation", output="Answer", output_name="answer")
def today(question: str) -> str:
    """The day, as the clock has it."""
    return f"Today is {datetime.now(UTC):%A, %d %B %Y}."


@memtrace.operation(kind="Generation", output="Answer", output_name="answer")
def draw(question: str) -> str:
    """A number of many digits."""
    return f"Perhaps {random.random()}."
