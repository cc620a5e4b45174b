"""A made trace of a memory that keeps all messages in one text: each message makes a version of it."""

from __future__ import annotations

import random

from benchmarks.vocabulary import made_up_words
from schema.kinds import OperationKind, VariableKind
from schema.models import Variable
from store.contract.protocol import GraphStore
from tests.factory import TraceBuilder

MESSAGES, QUICK_MESSAGES = 1_376, 126
"""About 1.4 MB in the end."""
FAILURES = 42
_SENTENCES, _WORDS = 10, 12
_ASKED, _GOLD = 5, 3
"""Words of a sentence that a question has, and that the gold answer has."""
_LOST_EVERY = 3
"""So often the memory loses the sentence that is asked for next; of the others the answers are at fault."""


async def write(store: GraphStore, messages: int) -> None:
    """Write the trace with all its failures, asked between the messages.

    Args:
        store: of a project that does not have it.
        messages: that it has, at least as many as failures.
    """
    draw = random.Random("long buffer")
    words = made_up_words(draw)
    texts = [[_sentence(draw.choices(words, k=_WORDS)) for _ in range(_SENTENCES)] for _ in range(messages)]
    between = messages // FAILURES
    places = [draw.randrange(number * between + 1) for number in range(FAILURES)]
    asked = [draw.choice(texts[place]) for place in places]
    builder = TraceBuilder(store.project_id, "long-buffer")
    buffer = builder.variable("buffer-0", "", by=builder.operation("start"))
    content, told = "", list[Variable]()
    for number, text in enumerate(texts):
        told.append(builder.variable(f"message-{number}", " ".join(text), kind=VariableKind.MESSAGE))
        content += f"{' '.join(text)}\n"
        question, after = divmod(number, between)
        if question % _LOST_EVERY == 0 and question < FAILURES and after == between // 2:
            content = content.replace(asked[question], "")
        adding = builder.operation(f"add-{number}", kind=OperationKind.UPDATE)
        version = builder.variable(f"buffer-{number + 1}", content, by=adding, revision_of=buffer.id)
        builder.use(adding, buffer, told[-1])
        builder.derive(version, buffer, told[-1], by=adding)
        buffer = version
        if question < FAILURES and after == between - 1:
            sought = asked[question].split()
            builder.wrong_answer(
                str(question),
                question=f"What of {' '.join(sought[:_ASKED])}?",
                read=buffer,
                context=f"Memory:\n{content}\nQuestion {question}",
                answer=" ".join(draw.choices(words, k=_GOLD)),
                gold_answers=(" ".join(sought[_ASKED : _ASKED + _GOLD]),),
                evidence_ids=(told[places[question]].id,),
            )
    await builder.write(store)


def _sentence(words: list[str]) -> str:
    return f"{' '.join(words).capitalize()}."
