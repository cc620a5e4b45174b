"""Memories are inserted, changed and removed by langmem's managers. It knows nothing of MemTrace."""

import asyncio
import json
import re

from langchain_openai import ChatOpenAI
from langgraph.store.memory import InMemoryStore
from langmem import create_memory_manager, create_memory_store_manager

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


store = InMemoryStore(index={"dims": 64, "embed": vectors, "fields": ["content.content"]})
stored = create_memory_store_manager(model, namespace=("memories", "{user}"), store=store, enable_deletes=True)
loose = create_memory_manager(model, enable_deletes=True)


def said(text: str) -> list[dict]:
    return [{"role": "user", "content": text}]


def texts(user: str) -> list[str]:
    return sorted(item.value["content"]["content"] for item in store.search(("memories", user)))


async def main() -> dict:
    config = {"configurable": {"user": "ann"}}
    kept = []
    for text in ("I live in Berlin.", "I have moved to Paris.", "Please forget where I live."):
        stored.invoke({"messages": said(text)}, config)
        kept.append(texts("ann"))
    await stored.ainvoke({"messages": said("I live in Rome.")}, {"configurable": {"user": "ben"}})
    question = "Where does Ben live?"
    notes = store.search(("memories", "ben"), query=question, limit=1)
    reply = model.invoke(f"Answer {question} from: {notes[0].value['content']['content']}")
    memories = loose.invoke({"messages": said("I live in Lisbon.")})
    memories = loose.invoke({"messages": said("I have moved to Porto."), "existing": memories})
    contents = [memory.content.content for memory in memories]
    gone = loose.invoke({"messages": said("Please forget where I live."), "existing": memories})
    return {"kept": kept, "ben": texts("ben"), "reply": reply.content, "loose": contents, "gone": len(gone)}


print(json.dumps(asyncio.run(main())))
