"""Tasks of LangGraph's functional API that keep notes in a store and read them. They know nothing of a recorder."""

import json

from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store
from langgraph.func import entrypoint, task
from langgraph.store.memory import InMemoryStore

model = ChatOpenAI(model="m")


@task
def note(text: str):
    get_store().put(("log",), text[:8], {"line": model.invoke("Note: " + text).content})
    return "The log has it now: " + text


@task
def look():
    return "The log says: " + "; ".join(one.value["line"] for one in get_store().search(("log",)))


@entrypoint(checkpointer=InMemorySaver(), store=InMemoryStore())
def keeper(text: str):
    if text.endswith("?"):
        return model.invoke(look().result() + "\n" + text).content
    return note(text).result()


@entrypoint(checkpointer=InMemorySaver(), store=InMemoryStore())
def bell(text: str):
    note(text).result()
    return entrypoint.final(value="Rung.", save=text)


config = {"configurable": {"thread_id": "lighthouse"}}
bell.invoke("Rain at 5.", {"configurable": {"thread_id": "bell"}})
print(
    json.dumps(
        [keeper.invoke(text, config) for text in ("Oil came on 4 May.", "The lens is clean.", "When did oil come?")]
    )
)
