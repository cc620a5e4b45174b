"""A memory that langmem's manager keeps: a model decides what is inserted, changed and removed.

To record it: memtrace run -- python examples/integrations/langmem_manager.py

``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` name the server of the models.
"""

import os

from langchain_openai import ChatOpenAI
from langgraph.store.memory import InMemoryStore
from langmem import create_memory_store_manager

MODEL = os.environ.get("MODEL", "gpt-5-mini")


def main() -> None:
    """Tell the manager two things, and ask about them."""
    model, store = ChatOpenAI(model=MODEL), InMemoryStore()
    manager = create_memory_store_manager(model, namespace=("memories", "{user}"), store=store)
    for said in ("I live in Berlin.", "I have moved to Paris."):
        messages = [{"role": "user", "content": said}]
        manager.invoke({"messages": messages}, {"configurable": {"user": "alice"}})
    question = "Where do I live?"
    found = store.search(("memories", "alice"), query=question)
    facts = "\n".join(f"- {item.value['content']['content']}" for item in found)
    print(model.invoke(f"Known about the user:\n{facts}\n\nQuestion: {question}").content)


if __name__ == "__main__":
    main()
