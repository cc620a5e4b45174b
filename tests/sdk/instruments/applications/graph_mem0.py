"""A graph that remembers with mem0 and answers with LangChain. It knows nothing of MemTrace."""

import json
import os

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from mem0 import Memory

FOLDER = os.environ["APPLICATION_FOLDER"]
HERE = {"api_key": "k", "openai_base_url": os.environ["OPENAI_BASE_URL"]}
memory = Memory.from_config(
    {
        "llm": {"provider": "openai", "config": {"model": "m", **HERE}},
        "embedder": {"provider": "openai", "config": {"model": "e", "embedding_dims": 512, **HERE}},
        "vector_store": {
            "provider": "qdrant",
            "config": {
                "path": f"{FOLDER}/qdrant",
                "on_disk": True,
                "collection_name": "u",
                "embedding_model_dims": 512,
            },
        },
        "history_db_path": f"{FOLDER}/history.db",
    }
)
model = ChatOpenAI(model="scripted", max_retries=0)


def answer(state: MessagesState) -> dict:
    said = state["messages"][-1].content
    found = memory.search(said, filters={"user_id": "alice"}, top_k=1, threshold=0.0)["results"]
    units = "\n".join(f"- {item['memory']}" for item in found)
    reply = model.invoke([SystemMessage(f"Memories:\n{units}"), *state["messages"]])
    memory.add([{"role": "user", "content": said}], user_id="alice")
    return {"messages": [reply]}


builder = StateGraph(MessagesState)
builder.add_node("answer", answer)
builder.add_edge(START, "answer")
builder.add_edge("answer", END)
graph = builder.compile(checkpointer=InMemorySaver())


def talk(thread: str, said: str) -> str:
    state = graph.invoke({"messages": [HumanMessage(said)]}, {"configurable": {"thread_id": thread}})
    return state["messages"][-1].content


print(json.dumps([talk("monday", "I live in Berlin."), talk("friday", "Where does alice live?")]))
