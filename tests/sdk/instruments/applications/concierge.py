"""A travel concierge: facts in mem0, preferences in a store of LangGraph's on disk. It knows nothing of MemTrace.

The first argument is the conversation, the others are what the guest says in it.
"""

import json
import os
import sys

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.base import BaseStore
from langgraph.store.sqlite import SqliteStore
from mem0 import Memory

FOLDER = os.environ["APPLICATION_FOLDER"]
HERE = {"api_key": "k", "openai_base_url": os.environ["OPENAI_BASE_URL"]}
QDRANT = {"path": f"{FOLDER}/qdrant", "on_disk": True, "collection_name": "u", "embedding_model_dims": 512}
GUEST = "kim"
facts = Memory.from_config(
    {
        "llm": {"provider": "openai", "config": {"model": "m", **HERE}},
        "embedder": {"provider": "openai", "config": {"model": "e", "embedding_dims": 512, **HERE}},
        "vector_store": {"provider": "qdrant", "config": QDRANT},
        "history_db_path": f"{FOLDER}/history.db",
    }
)
model = ChatOpenAI(model="scripted", max_retries=0)


class State(MessagesState):
    notes: str


def recall(state: State, config: RunnableConfig, *, store: BaseStore) -> dict:
    said = state["messages"][-1].content
    found = facts.search(said, filters={"user_id": GUEST}, top_k=3, threshold=0.0)["results"]
    known = [item["memory"] for item in found] + [item.value["text"] for item in store.search(("preferences", GUEST))]
    return {"notes": "\n".join(f"* {text}" for text in known)}


def respond(state: State) -> dict:
    system = SystemMessage(f"You are a concierge. What you know of the guest:\n{state['notes']}")
    return {"messages": [model.invoke([system, state["messages"][-1]])]}


def learn(state: State, config: RunnableConfig, *, store: BaseStore) -> None:
    said = state["messages"][-2].content
    if said.endswith("?"):
        return
    facts.add([{"role": "user", "content": said}], user_id=GUEST)
    reply = model.invoke(f"Name the preferences of the guest in this as JSON: {said}")
    for key, text in json.loads(reply.content).items():
        store.put(("preferences", GUEST), key, {"text": text})


builder = StateGraph(State)
for name, node in (("recall", recall), ("respond", respond), ("learn", learn)):
    builder.add_node(name, node)
for before, after in ((START, "recall"), ("recall", "respond"), ("respond", "learn"), ("learn", END)):
    builder.add_edge(before, after)

with (
    SqliteStore.from_conn_string(f"{FOLDER}/store.db") as kept,
    SqliteSaver.from_conn_string(f"{FOLDER}/t.db") as saver,
):
    kept.setup()
    graph = builder.compile(store=kept, checkpointer=saver)
    config = {"configurable": {"thread_id": sys.argv[1]}}
    turns = [graph.invoke({"messages": [HumanMessage(line)]}, config) for line in sys.argv[2:]]
print(json.dumps([turn["messages"][-1].content for turn in turns]))
