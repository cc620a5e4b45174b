"""A made trace of a memory that keeps all messages in one text: each message makes a version of it."""

from __future__ import annotations

import random

from benchmarks.vocabulary import made_up_words
from schema.kinds import OperationKind, VariableKind
from schema.models import Variable
from store.protocol import GraphStore
from tests.factory import TraceBuilder

MESSAGES, QUICK_MESSAGES = 1_376, 120
"""About 1.4 MB in the end."""
FAILURES = 42
_SENTENCES, _WORDS = 10, 12
_ASKED, _GOLD = 5, 3
"""Words of a sentence that a question has, and that the gold answer has."""
_DROPPED_EVERY = 100
"""So often a version leaves out the sentence that the next question asks for."""


async def write(store: GraphStore, messages: int) -> None:
    """Write the trace with all its failures, asked between the messages.

    Args:
        store: of a project that does not have it.
        messages: that it has.
    """
    draw = random.Random("long buffer")
    words = made_up_words(draw)
    builder = TraceBuilder(store.project_id, "long-buffer")
    buffer = builder.variable("buffer-0", "", by=builder.operation("start"))
    content = ""
    told: list[tuple[Variable, list[list[str]]]] = []
    for number in range(messages):
        sentences = [draw.choices(words, k=_WORDS) for _ in range(_SENTENCES)]
        text = " ".join(f"{' '.join(sentence).capitalize()}." for sentence in sentences)
        message = builder.variable(f"message-{number}", text, kind=VariableKind.MESSAGE)
        told.append((message, sentences))
        content += f"{text}\n"
        if number % _DROPPED_EVERY == _DROPPED_EVERY - 1:
            asked = _asked(told, number // (messages // FAILURES) + 1)
            content = content.replace(f"{' '.join(asked[1]).capitalize()}.", "")
        adding = builder.operation(f"add-{number}", kind=OperationKind.UPDATE)
        after = builder.variable(f"buffer-{number + 1}", content, by=adding, revision_of=buffer.id)
        builder.use(adding, buffer, message)
        builder.derive(after, buffer, message, by=adding)
        buffer = after
        if (number + 1) % (messages // FAILURES) == 0 and len(builder.failures) < FAILURES:
            _ask(builder, buffer, content, *_asked(told, len(builder.failures)), draw.choices(words, k=_GOLD))
    await builder.write(store)


def _asked(told: list[tuple[Variable, list[list[str]]]], number: int) -> tuple[Variable, list[str]]:
    """The message and the sentence that a question is about: any of those that were said, the same in each run."""
    draw = random.Random(number)
    message, sentences = told[draw.randrange(min(len(told), 30 * (number + 1)))]
    return message, draw.choice(sentences)


def _ask(
    builder: TraceBuilder, buffer: Variable, content: str, message: Variable, sentence: list[str], said: list[str]
) -> None:
    number = len(builder.failures)
    question = builder.variable(f"query-{number}", f"What of {' '.join(sentence[:_ASKED])}?", kind=VariableKind.QUERY)
    search = builder.operation(f"search-{number}", kind=OperationKind.RETRIEVAL)
    prompt = f"Memory:\n{content}\nQuestion {number}"
    context = builder.variable(f"context-{number}", prompt, by=search, kind=VariableKind.CONTEXT)
    builder.use(search, question, buffer)
    builder.derive(context, question, buffer, by=search)
    answering = builder.operation(f"answering-{number}", kind=OperationKind.GENERATION)
    answer = builder.variable(f"answer-{number}", " ".join(said), by=answering, kind=VariableKind.ANSWER)
    builder.use(answering, question, context)
    builder.derive(answer, question, context, by=answering)
    gold = " ".join(sentence[_ASKED : _ASKED + _GOLD])
    builder.failure(question, answer, gold_answers=(gold,), evidence_ids=(message.id,))
