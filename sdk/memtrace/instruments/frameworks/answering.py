"""The answer of an outermost run: a model's reply becomes an ``Answer`` when the application gets the reply's text.

Which of several replies is the answer is known only at the end of the run: an agent's loop, or a chain that rewrites
the question first, asks models for other replies too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from memtrace.identity import Variable
from memtrace.instruments.frameworks.messages import content, conversations, is_message, leaves, tool_calls
from memtrace.instruments.frameworks.runs import Run, is_writing
from memtrace.instruments.making import Making
from memtrace.values import own_copy

MAX_REPLIES = 200
"""Number of replies of a run that may become its answer: the newest."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of a model without calls of tools.

    Attributes:
        text: of the reply.
        made: the reply's variable.
        question: what the user said, if the model read it as a message.
    """

    text: str
    made: Variable
    question: Variable | None


def replied(run: Run, text: str, made: Variable) -> None:
    """Note a model's reply, which may become the answer of the outermost run; ``run`` is the model's."""
    if text and made.kind == "Response" and not is_writing():
        replies = run.root.replies
        replies.append(Reply(text, made, run.question))
        del replies[:-MAX_REPLIES]


def give(run: Run, outputs: object) -> None:
    """Record the answer that a run gives to the application: its newest reply with the text of an output.

    Only outermost runs give answers: those of a conversation, and those that search for a user's question. A decorated
    function around the run names its answer itself.

    Args:
        run: that ends.
        outputs: what the application gets.
    """
    root = run.root
    if run.parent is not None or not root.replies or is_writing() or not run.is_direct:
        return
    found = next(
        (one for given in _texts(outputs) for one in map(_handed_out(given), reversed(root.replies)) if one), None
    )
    if found is None or not (root.session or root.questions or found.question or _is_conversation(outputs)):
        return
    giving = Making(run.here, "give the answer", "Other")
    giving.use(found.made, "reply")
    # The application's object still stands for the reply: what uses it later continues from the reply.
    giving.make(own_copy(found.text), "answer", "Answer", is_learned=False)
    giving.end()


def _handed_out(given: AbstractSet[str]) -> Callable[[Reply], Reply | None]:
    """Finds out whether the application gets a reply: whole, or the part after a label, as ``Answer: in Leeds``."""

    def handed_out(reply: Reply) -> Reply | None:
        if reply.text in given:
            return reply
        parts = [one for one in given if one and reply.text.removesuffix(one).rstrip().endswith(":")]
        return replace(reply, text=max(parts, key=len)) if parts else None

    return handed_out


def _is_conversation(outputs: object) -> bool:
    """Whether the outputs have a conversation in which a user speaks."""
    return any(one.type == "human" for _, messages in conversations(outputs) for one in messages)


def _texts(outputs: object) -> Sequence[AbstractSet[str]]:
    """The texts that may be an answer, the likeliest first.

    Of a conversation, the last message is likelier than texts beside it, such as a summary that the run keeps.
    """
    last = [messages[-1] for _, messages in conversations(outputs)]
    said = [outputs, *last] if is_message(outputs) else last
    found = {content(one) for one in said if one.type in {"ai", "AIMessageChunk"} and not tool_calls(one)}
    own = () if is_message(outputs) else (leaf for _, leaf in leaves(outputs) if isinstance(leaf, str))
    return found, frozenset(own)


def text_of(result: Any) -> str | None:
    """The text of a result of LlamaIndex: of an agent, a workflow, a chat engine, a query engine or a chat model."""
    given = getattr(result, "result", result)
    given = getattr(given, "response", given)
    given = getattr(given, "message", given)
    given = getattr(given, "content", given)
    return given if isinstance(given, str) else None
