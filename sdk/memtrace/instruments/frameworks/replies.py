"""Records the reply of a model, with its reasoning and its calls of tools."""

from __future__ import annotations

from typing import Any

from memtrace.identity import Variable
from memtrace.instruments.frameworks.messages import content, leaves, reasoning, tool_calls
from memtrace.instruments.making import Making, learn, text_of
from memtrace.instruments.texts import texts
from memtrace.instruments.think_tags import parted
from memtrace.told import ask_for


def replied(making: Making, message: Any, *, is_answer: bool = False) -> Variable:
    """Record a reply; the message, its text and the texts in its tool calls stand for the reply.

    Args:
        making: the call.
        message: the message, or the text of a model that returns texts.
        is_answer: whether a reply without calls of tools is the answer to a user.
    """
    if isinstance(message, str):
        return making.make(message, "reply", "Response")
    calls, (told, said) = tool_calls(message), parted(content(message))
    thought = "\n\n".join(one for one in (reasoning(message), told) if one)
    value: Any = {"content": said, "tool_calls": calls} if calls else said
    sources = None
    if thought:
        sources = [*making.step.inputs, making.make(thought, "reasoning", "Other", is_learned=False)]
    kind = "Answer" if is_answer and not calls else "Response"
    made = making.make(value, "reply", kind, sources=sources)
    learn(making.here, message, made)
    known = texts(making.here.trace)
    if calls and content(message):
        known.add(content(message), made)
    if calls:
        known.add(text_of(calls), made)
    for _, leaf in leaves([call["args"] for call in calls]):
        if isinstance(leaf, str):
            known.add(leaf, made)
            ask_for(making.here.trace, leaf, made)
    return made
