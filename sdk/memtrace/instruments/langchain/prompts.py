"""Records prompts: filled templates, and messages that the application wrote itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memtrace.identity import Variable
from memtrace.instruments.frameworks.buffers import buffer, is_kept
from memtrace.instruments.frameworks.messages import (
    KINDS_BY_KEY,
    content,
    conversations,
    is_conversation,
    is_document,
    is_message,
    leaves,
    rendered,
)
from memtrace.instruments.frameworks.runs import Run, is_writing
from memtrace.instruments.frameworks.values import given, message, same, sources, write
from memtrace.instruments.making import Making, known, learn
from memtrace.instruments.texts import outermost


def formatted(run: Run, prompt: Any) -> None:
    """Record a filled template.

    Args:
        run: the template's run, whose inputs are the values for the template.
        prompt: the result, a text or messages.
    """
    inputs = run.inputs if isinstance(run.inputs, Mapping) else {"input": run.inputs}
    value: Any
    for key, value in inputs.items():
        if is_conversation(value):
            buffer(run, str(key), list(value))
    written = getattr(prompt, "messages", None)
    messages = None if written is None else [one for one in written if id(one) not in run.root.buffers]
    text = str(getattr(prompt, "text", "")) if messages is None else rendered(messages)
    if not text:
        return
    found = _reached(run, inputs, text)
    making = Making(run.here, run.name, "Other")
    for one in found:
        making.use(one)
    made = making.make(text, "prompt", "Prompt")
    making.end()
    for one in messages or ():
        learn(run.here, one, made)


def _reached(run: Run, inputs: Mapping[str, Any], text: str) -> list[Variable]:
    """The variables of the inputs whose text is inside the prompt."""
    found: dict[Variable, None] = {}
    listed = list(leaves({key: value for key, value in inputs.items() if not is_conversation(value)}))
    reaching = set(outermost((_said(leaf).strip() for _, leaf in listed), text))
    for key, leaf in listed:
        said = _said(leaf)
        if said.strip() not in reaching:
            continue
        one = known(run.here, leaf, run.asked) or same(run, said)
        if one is not None:
            found[one] = None
            continue
        came_from = sources(run, said, is_speech=KINDS_BY_KEY.get(key) in {"Message", "Query"})
        now = same(run, said)  # ``sources`` may have recorded it
        if now is not None:
            found[now] = None
        elif came_from:
            found |= dict.fromkeys(came_from)
        elif len(said) > 1:
            found[given(run, said, key)] = None
    return list(found)


def _said(leaf: Any) -> str:
    return str(leaf.page_content) if is_document(leaf) else content(leaf) if is_message(leaf) else str(leaf)


def read_by_model(run: Run, messages: Sequence[Any]) -> list[tuple[Variable, str]]:
    """The inputs of a model's call, each with its role: prompts and the buffer of the conversation."""
    read: dict[Variable, str] = {}
    rest: list[Any] = []
    is_held = False
    for one in messages:
        if id(one) in run.root.buffers and one.type != "system":
            is_held = True
            rest.append(one)
            continue
        found = known(run.here, one, run.asked)
        if found is not None and found.kind == "Prompt" and (one.type == "system" or not is_kept(run, one)):
            read[found] = "prompt"
        else:
            rest.append(one)
    spoken = [one for one in rest if one.type != "system"]
    may_be_said = (
        run.root.session is not None
        or (run.is_direct and spoken[:1] and spoken[0].type == "human")
        or (spoken[:1] and _is_in_state(run, spoken[0]))
    )
    is_conversation = is_held or len(spoken) > 1
    if not is_writing() and (is_conversation or (spoken and may_be_said and _is_said(run, spoken[0]))):
        read[buffer(run, "messages", spoken)] = "messages"
        rest = [one for one in rest if one.type == "system"]
    if rest:
        read[_written(run, rest)] = "prompt"
    return list(read.items())


def _is_in_state(run: Run, one: Any) -> bool:
    """Whether a message is in the conversation that a node around the model was given: an agent's state."""
    around = run.parent
    while around is not None:
        if around.kind == "node" and any(one is said for _, spoken in conversations(around.inputs) for said in spoken):
            return True
        around = around.parent
    return False


def _is_said(run: Run, one: Any) -> bool:
    """Whether a message belongs to a conversation, and is no prompt that the application wrote."""
    return message(run, one).kind != "Prompt"


def _written(run: Run, messages: Sequence[Any]) -> Variable:
    if len(messages) == 1:
        known_one = known(run.here, messages[0], run.asked)
        if known_one is None:
            known_one = same(run, messages[0].content)
            if known_one is not None and known_one.kind == "Prompt":
                return write(run, messages[0].content)  # anew, if what it is made of was read again
        if known_one is not None:
            return known_one
    return write(run, rendered(messages), messages)
