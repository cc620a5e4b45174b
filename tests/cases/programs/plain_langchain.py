"""Chats with a model of LangChain that is called directly. It knows nothing of a recorder."""

import json
import sys

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, messages_from_dict, messages_to_dict
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


sys.stdout.write(json.dumps({"grown": grown(), "copied": copied()}))
