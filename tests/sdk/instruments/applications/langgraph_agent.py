"""An assistant with memory: a graph with a checkpointer and a store. It knows nothing of MemTrace."""

import asyncio
import json
import re

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config, get_store
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore

model = ChatOpenAI(model="scripted", max_retries=0)


def vectors(texts: list[str]) -> list[list[float]]:
    """Vectors of counts of words: near where words are alike."""
    made = []
    for text in texts:
        vector = [0.01] * 64
        for word in re.findall(r"[a-z]+", text.lower()):
            vector[sum(map(ord, word)) % 64] += 1.0
        made.append(vector)
    return made


store = InMemoryStore(index={"dims": 64, "embed": vectors, "fields": ["text"]})


def remember(state: MessagesState) -> dict:
    """Statements are stored as they are said."""
    said = state["messages"][-1].content
    if not said.endswith("?"):
        user = get_config()["configurable"]["user_id"]
        key = "home" if "live" in said else f"fact {len(get_store().search(('users', user)))}"
        get_store().put(("users", user), key, {"text": said})
    return {}


def answer(state: MessagesState) -> dict:
    """Questions are answered from what is stored."""
    said = state["messages"][-1].content
    user = get_config()["configurable"]["user_id"]
    notes = get_store().search(("users", user), query=said, limit=1) if said.endswith("?") else []
    context = "\n".join(item.value["text"] for item in notes)
    system = SystemMessage(f"You know this:\n{context}" if notes else "Be brief.")
    return {"messages": [model.invoke([system, *state["messages"]])]}


builder = StateGraph(MessagesState)
builder.add_node("remember", remember)
builder.add_node("answer", answer)
builder.add_edge(START, "remember")
builder.add_edge("remember", "answer")
builder.add_edge("answer", END)
graph = builder.compile(checkpointer=InMemorySaver(), store=store)


def talk(user: str, thread: str, *messages: str) -> list[str]:
    config = {"configurable": {"thread_id": thread, "user_id": user}}
    return [graph.invoke({"messages": [HumanMessage(said)]}, config)["messages"][-1].content for said in messages]


async def talk_later(user: str, thread: str, *messages: str) -> list[str]:
    config = {"configurable": {"thread_id": thread, "user_id": user}}
    states = [await graph.ainvoke({"messages": [HumanMessage(said)]}, config) for said in messages]
    return [state["messages"][-1].content for state in states]


async def main() -> list[list[str]]:
    replies = [
        talk("ann", "monday", "I have a dog called Figa.", "I live in Tarnow.", "What is my dog called?"),
        talk("ann", "tuesday", "I live in Krakow now.", "Where do I live?"),
    ]
    users = ("ben", "cleo", "dora")
    replies += await asyncio.gather(
        *(talk_later(user, f"{user} today", f"I live in the town of {user}.", "Where do I live?") for user in users)
    )
    store.delete(("users", "ann"), "home")
    return replies


print(json.dumps(asyncio.run(main())))
