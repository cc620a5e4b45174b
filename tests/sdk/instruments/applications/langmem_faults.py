"""Five assistants whose memory goes wrong, each in another way. It knows nothing of MemTrace."""

import json
import re

from langchain_openai import ChatOpenAI
from langgraph.store.memory import InMemoryStore
from langmem import create_memory_store_manager

SAID = {
    "dropped": ["By the way, my cat is called Luna.", "I drink green tea."],
    "overwritten": ["My cat is called Luna.", "Instead of it, I drink green tea."],
    "deleted": ["My cat is called Luna.", "Please forget it."],
    "missed": ["My cat is called Luna.", "I drink green tea."],
    "ignored": ["My cat is called Luna.", "I drink green tea."],
}
QUESTION = "What is the name of the cat?"

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


def shuffled(texts: list[str]) -> list[list[float]]:
    """Vectors that say the opposite: a cat is far from a question about a cat."""
    return [[1.0, 0.0] if "?" in text or "tea" in text else [0.0, 1.0] for text in texts]


def ask(user: str) -> str:
    embed, size = (shuffled, 2) if user == "missed" else (vectors, 64)
    store = InMemoryStore(index={"dims": size, "embed": embed, "fields": ["content.content"]})
    manager = create_memory_store_manager(model, namespace=("memories", "{user}"), store=store, enable_deletes=True)
    for text in SAID[user]:
        manager.invoke({"messages": [{"role": "user", "content": text}]}, {"configurable": {"user": user}})
    found = store.search(("memories", user), query=QUESTION, limit=1)
    notes = "\n".join(f"- {item.value['content']['content']}" for item in found)
    manner = "Be careless." if user == "ignored" else "Be exact."
    return model.invoke(f"{manner} Known about the user:\n{notes}\n\nQuestion: {QUESTION}").content


print(json.dumps({user: ask(user) for user in SAID}))
