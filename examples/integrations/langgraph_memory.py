"""An assistant that is a graph of LangGraph: it remembers a user in a store, and each conversation in a checkpointer.

To record it: memtrace run -- python examples/integrations/langgraph_memory.py

``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` name the server of the models.
"""

import os

from langchain_core.messages import HumanMessage, SystemMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore

MODEL = os.environ.get("MODEL", "gpt-5-mini")
NAMESPACE = ("users", "alice")


def remember(state: MessagesState) -> dict[str, object]:
    """Keep what is said; a question is answered from what was kept."""
    said = state["messages"][-1].content
    if not said.endswith("?"):
        get_store().put(NAMESPACE, str(len(said)), {"text": said})
    return {}


def answer(state: MessagesState) -> dict[str, object]:
    """Reply with what is known of the user."""
    known = get_store().search(NAMESPACE, query=state["messages"][-1].content)
    facts = "\n".join(item.value["text"] for item in known)
    system = SystemMessage(f"Known about the user:\n{facts}")
    return {"messages": [ChatOpenAI(model=MODEL).invoke([system, *state["messages"]])]}


def main() -> None:
    """Talk on two days."""
    builder = StateGraph(MessagesState).add_node(remember).add_node(answer)
    builder.add_edge(START, "remember").add_edge("remember", "answer").add_edge("answer", END)
    graph = builder.compile(checkpointer=InMemorySaver(), store=InMemoryStore())
    for day, said in (("monday", "I live in Berlin."), ("tuesday", "Where do I live?")):
        config = {"configurable": {"thread_id": day, "user_id": "alice"}}
        print(graph.invoke({"messages": [HumanMessage(said)]}, config)["messages"][-1].content)


if __name__ == "__main__":
    main()
