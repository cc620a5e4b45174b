"""Chats with a model of LangChain that is called directly. It knows nothing of a recorder."""

import json
import sys

from langchain_core.messages import (
    AIMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_from_dict,
    messages_to_dict,
)
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

model = ChatOpenAI(model="m")
SAID = ("My parcel is in box 5512, remember it.", "Tell me about kites.", "Which box is my parcel in?")


def grown() -> str:
    history = [SystemMessage("Be kind.")]
    for text in SAID:
        history.append(HumanMessage(text))
        history.append(model.invoke(history))
    return history[-1].content


def copied() -> str:
    """The history is stored as JSON between the turns."""
    stored: list[dict] = []
    for text in ("I am Ann.", "Who am I?"):
        history = [*messages_from_dict(json.loads(json.dumps(stored))), HumanMessage(text)]
        reply = model.invoke(history)
        stored = messages_to_dict([*history, AIMessage(reply.content)])
    return stored[-1]["data"]["content"]


@tool
def card(name: str) -> str:
    """The card of an animal."""
    return f"{name} is a goat and weighs 41 kilos."


def streamed() -> str:
    """Replies are streamed, and the program itself runs the tool that a reply calls."""
    history = []
    for text in ("Good morning!", "Look up Bo."):
        history.append(HumanMessage(text))
        first, *rest = model.stream(history) if text[0] == "G" else [model.invoke(history)]
        history.append(sum(rest, first))
    call = history[-1].tool_calls[0]
    history.append(ToolMessage(card.invoke(call["args"]), tool_call_id=call["id"]))
    return model.invoke(history).content


sys.stdout.write(json.dumps({"grown": grown(), "copied": copied(), "streamed": streamed()}))
