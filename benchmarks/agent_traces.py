"""Traces of a memory agent, recorded with the recorder itself, as applications would send them.

A turn is a message of some hundred bytes, two units that are extracted from it, a search with ten candidates, a prompt
of several thousand bytes, and an answer. Each conversation is a trace.
"""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import memtrace
from memtrace.exporters.memory import MemoryExporter

from benchmarks.vocabulary import made_up_words

MAX_BATCH_EVENTS, MAX_BATCH_BYTES = 2_000, 1_000_000
"""How many events the recorder sends at a time."""

_CANDIDATES, _RETURNED = 10, 3
_RULES_WORDS, _UNIT_WORDS, _ANSWER_WORDS, _HISTORY = 200, 25, 60, 6
_EVENTS_A_TURN = 48
_AT_A_TIME = 4
"""How many conversations an application has at a time."""


class _Agent:
    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.words = made_up_words(random.Random("words"))  # all speak one language
        self.units: list[str] = []
        self.history: deque[str] = deque(maxlen=_HISTORY)
        self.rules = self.text(_RULES_WORDS)

    def text(self, words: int) -> str:
        return " ".join(self.random.choices(self.words, k=words))

    @memtrace.operation(kind="Extraction", each=True, output="MemoryUnit", output_name="unit")
    def extract(self, message: str) -> list[str]:
        return [self.text(_UNIT_WORDS), self.text(_UNIT_WORDS)]

    @memtrace.operation(kind="Generation", output="Prompt", output_name="prompt")
    def write_prompt(self, message: str, units: Sequence[str]) -> str:
        return "\n".join((self.rules, *self.history, *units, message))

    @memtrace.operation(kind="Generation", output="Answer", output_name="answer")
    def answer(self, prompt: str) -> str:
        return self.text(_ANSWER_WORDS)

    def turn(self, number: int) -> None:
        words = 40 + number % 5 * 20
        message = memtrace.variable(self.text(words), kind="Message", name=f"message {number}")
        self.units += self.extract(message)
        candidates = self.random.sample(self.units, min(_CANDIDATES, len(self.units)))
        returned = candidates[:_RETURNED]
        memtrace.retrieved(message, candidates, returned)
        self.history += message, self.answer(self.write_prompt(message, returned))


def conversation(trace: str, turns: int) -> list[bytes]:
    """The events of one trace, a line each and without line ends."""
    kept = MemoryExporter()
    memtrace.configure(exporter=kept)
    agent = _Agent(trace)
    with memtrace.trace("conversation", id=trace):
        for number in range(turns):
            agent.turn(number)
    return [json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() for event in kept.events]


def applications(conversations: Sequence[list[bytes]]) -> list[list[list[bytes]]]:
    """The requests of each application, which has some conversations at a time and takes turns between them."""
    starts = range(0, len(conversations), _AT_A_TIME)
    return [list(_requests(_in_turns(conversations[start : start + _AT_A_TIME]))) for start in starts]


def _requests(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for line in lines:
        if batch and (len(batch) == MAX_BATCH_EVENTS or size + len(line) > MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += len(line) + 1
    if batch:
        yield batch


def _in_turns(conversations: Sequence[list[bytes]]) -> Iterator[bytes]:
    waiting = [iter(one) for one in conversations]
    while waiting:
        for one in list(waiting):
            part = list(islice(one, _EVENTS_A_TURN))
            if not part:
                waiting.remove(one)
            yield from part
