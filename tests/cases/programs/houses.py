"""An agent for several houses: the house stands in the runtime context, and every talk is a thread of its own."""

import json
from dataclasses import dataclass

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import get_runtime
from langgraph.store.memory import InMemoryStore


@dataclass
class Place:
    house: str
    host: str


@tool
def note(key: str, text: str) -> str:
    """Write a note."""
    get_store().put(("notes", get_runtime(Place).context.house), key, {"text": text})
    return f"stored {key}"


@tool
def look(word: str) -> str:
    """Read the notes."""
    found = get_store().search(("notes", get_runtime(Place).context.house), limit=20)
    return "\n".join(one.value["text"] for one in found) or "nothing"


TOOLS = {"note": note, "look": look}
model = ChatOpenAI(model="scripted", max_retries=0).bind_tools(list(TOOLS.values()))


def think(state):
    return {"messages": [model.invoke(state["messages"])]}


def act(state):
    calls = state["messages"][-1].tool_calls
    return {"messages": [ToolMessage(TOOLS[one["name"]].invoke(one["args"]), tool_call_id=one["id"]) for one in calls]}


builder = StateGraph(MessagesState, context_schema=Place)
builder.add_node("think", think)
builder.add_node("act", act)
builder.add_edge(START, "think")
builder.add_conditional_edges(
    "think", lambda s: "act" if s["messages"][-1].tool_calls else "__end__", ["act", "__end__"]
)
builder.add_edge("act", "think")
agent = builder.compile(store=InMemoryStore(), checkpointer=InMemorySaver())


def say(house, number, text):
    config = {"configurable": {"thread_id": f"{house}-{number}"}}
    told = agent.invoke({"messages": [HumanMessage(text)]}, config, context=Place(house, "Ida"))
    return told["messages"][-1].content


say("mill", 1, "The boiler of the mill is drained on the fourth of May.")
say("inn", 1, "The boiler of the inn is drained on the ninth of June.")
say("mill", 2, "The parrot of the mill is called Figaro.")
print(json.dumps([say("mill", 3, "When is the boiler drained?"), say("inn", 2, "When is the boiler drained?")]))
