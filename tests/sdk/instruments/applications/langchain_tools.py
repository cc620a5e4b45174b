"""An agent with tools and no checkpointer, which gets messages as dictionaries. It knows nothing of MemTrace."""

import json

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

notes = []


@tool
def save_note(note: str) -> str:
    """Keep a note."""
    notes.append(note)
    return "saved"


@tool
def search_notes(query: str) -> str:
    """Find notes."""
    return "\n".join(notes)


model = ChatOpenAI(model="scripted", max_retries=0)
agent = create_agent(model, [save_note, search_notes], system_prompt="You keep notes for a farm shop.")
asked = "Goat cheese is made by Piet.", "Who makes the goat cheese?"
states = [agent.invoke({"messages": [{"role": "user", "content": text}]}) for text in asked]
print(json.dumps([state["messages"][-1].content for state in states]))
