"""Recognises that an operation translated a message: the words of its result then prove no loss."""

from __future__ import annotations

from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.loss import Loss
from attribution.needed.presence import LARGE
from attribution.text.languages import are_comparable
from schema.kinds import ErrorType, VariableKind

TRANSLATED = (
    "what was made of the message is in another language than the message, and words of different languages can't be "
    "compared; let a model judge it (memtrace attribute --method llm), or let the memory keep the language of its user"
)


async def is_translated(traced: FailureInTrace, loss: Loss) -> bool:
    """Whether the operation wrote in another language than the detail: then its words don't tell whether it is lost.

    Numbers and dates are the same in most languages.
    """
    detail, graph = traced.detail, traced.graph
    if loss.error_type is ErrorType.DELETION or detail.core.numbers or detail.core.dates:
        return False
    made = [one for one in graph.made(loss.operation_id) if graph.variables[one].kind is not VariableKind.PROMPT]
    written = [text for text in (await graph.texts(made)).values() if len(text) <= LARGE]
    words, said = detail.core.words, detail.sentence.text
    return bool(written) and not any(are_comparable(words, said, text) for text in written)
