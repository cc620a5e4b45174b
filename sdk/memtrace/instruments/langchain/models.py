"""Records calls of models: the prompt and messages, and the reply with its tool calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memtrace.instruments import conversations, joining
from memtrace.instruments.conversations import Held, Talk
from memtrace.instruments.frameworks import answering
from memtrace.instruments.frameworks.messages import content, leaves, spoken, tool_calls
from memtrace.instruments.frameworks.replies import replied
from memtrace.instruments.frameworks.runs import Run, is_writing
from memtrace.instruments.frameworks.values import same, sources, write
from memtrace.instruments.langchain.prompts import read_by_model
from memtrace.instruments.making import Making, gave, known, learn


def begin(run: Run, messages: Any, parameters: Mapping[str, Any] | None) -> None:
    """Record the beginning of a call: messages to a chat model, or a text to another model."""
    here = run.here  # first: choosing the trace writes the waiting records, which tell what the messages are
    run.is_turn = _has_question(run, messages)
    read = [(write(run, messages), "prompt")] if isinstance(messages, str) else read_by_model(run, messages)
    attributes = {"model": _model(parameters)} if _model(parameters) else None
    run.making = Making(here, run.name, "Extraction" if is_writing() else "Generation", attributes=attributes)
    for variable, role in read:
        run.making.use(variable, role)
    around = run.parent
    while around is not None:
        for told in around.messages:
            run.making.use(told, "message")  # the model extracts from the message; the prompt only carries it
        around = around.parent
    if not isinstance(messages, str) and messages:
        question = run.root.searched.get(content(messages[-1]))
        if question is not None and question.kind == "Query":
            run.making.use(question, "question")  # the question of this turn, if the conversation has several
        turn = None if is_writing() else next((one for one in reversed(messages) if one.type == "human"), None)
        said = (known(here, turn, run.asked), same(run, content(turn))) if turn is not None else ()
        asked = next((one for one in said if one is not None and one.kind in {"Message", "Query"}), None)
        if asked is not None:
            run.making.use(asked, "question")
            run.question = asked
            run.is_turn = run.is_direct


def _has_question(run: Run, messages: Any) -> bool:
    """Whether the application put a question that it searched for into a message, and no earlier reply.

    With an earlier reply inside, the message rather asks for a judgement of the reply.
    """
    if not run.is_direct or is_writing() or isinstance(messages, str) or not messages:
        return False
    kinds = {one.kind for one in sources(run, content(messages[-1]))}
    return "Query" in kinds and kinds.isdisjoint({"Answer", "Response"})


def end(run: Run, response: Any) -> None:
    """Record the reply; ``response`` is an ``LLMResult``."""
    making = run.making
    if making is None:
        return
    first = next((one for batch in response.generations for one in batch), None)
    message = getattr(first, "message", None)
    if first is not None:
        made = replied(making, str(first.text) if message is None else message, is_answer=run.is_turn)
        run.root.carried |= made.questions
        if run.is_turn and message is not None:
            talk = Talk(spoken=spoken(run.inputs))
            trace = run.here.trace.id
            conversations.answered(talk, trace, [content(message)], None, Held(trace))
        for call in () if message is None else tool_calls(message):
            conversations.called(call["name"], call["args"], run.here.trace.id)
        is_managed = False
        manager = run.parent
        while manager is not None:
            if manager.kind == "manager":
                manager.replies.append(made)
                is_managed = True
            manager = manager.parent
        if not is_managed and not (message is not None and tool_calls(message)):
            answering.replied(run, str(first.text) if message is None else content(message), made)
        if message is not None and isinstance(message.content, str):
            learn(run.here, message.content, made)
            gave(run.here, message, made, is_own=True)
            gave(run.here, message.content, made)
            if run.parent is None:
                joining.wrote(run.here.trace.id, written_as_arguments(message))
        elif message is None:
            learn(run.here, first.text, made)
            gave(run.here, first.text, made)
    making.end(attributes={**(_usage(response, message) or {}), **run.noted})


def written_as_arguments(message: Any) -> list[str]:
    """The texts that a reply has as arguments of tools."""
    return [leaf for _, leaf in leaves([call.get("args") for call in tool_calls(message)]) if isinstance(leaf, str)]


def _model(parameters: Mapping[str, Any] | None) -> str | None:
    said = parameters or {}
    return next((str(said[key]) for key in ("model", "model_name", "deployment_name") if said.get(key)), None)


def _usage(response: Any, message: Any) -> dict[str, Any] | None:
    usage = getattr(message, "usage_metadata", None)
    if isinstance(usage, Mapping):
        return {key: usage[key] for key in ("input_tokens", "output_tokens") if isinstance(usage.get(key), int)}
    told = (getattr(response, "llm_output", None) or {}).get("token_usage")
    if not isinstance(told, Mapping):
        return None
    names = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
    return {name: told[key] for key, name in names.items() if isinstance(told.get(key), int)}
