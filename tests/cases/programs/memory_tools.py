"""An agent that writes its memory by tools: a wrong new note, and a wrong change of a note."""

import json

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from langgraph.config import get_store
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore

embeddings = OpenAIEmbeddings(model="scripted", check_embedding_ctx_length=False)
store = InMemoryStore(index={"dims": 512, "embed": embeddings})


@tool
def note(key: str, text: str) -> str:
    """Write a note."""
    get_store().put(("notes",), key, {"text": text})
    return f"stored {key}"


@tool
def look(query: str) -> str:
    """Look for notes."""
    return "\n".join(one.value["text"] for one in get_store().search(("notes",), query=query, limit=3)) or "nothing"


TOOLS = {"note": note, "look": look}
model = ChatOpenAI(model="scripted", max_retries=0).bind_tools(list(TOOLS.values()))
prompt = ChatPromptTemplate.from_messages([("placeholder", "{messages}"), ("system", "Use your notes.")])


def think(state):
    return {"messages": [model.invoke(prompt.invoke({"messages": state["messages"]}).messages)]}


def act(state):
    calls = state["messages"][-1].tool_calls
    return {"messages": [ToolMessage(TOOLS[one["name"]].invoke(one["args"]), tool_call_id=one["id"]) for one in calls]}


builder = StateGraph(MessagesState)
builder.add_node("think", think)
builder.add_node("act", act)
builder.add_edge(START, "think")
builder.add_conditional_edges(
    "think", lambda s: "act" if s["messages"][-1].tool_calls else "__end__", ["act", "__end__"]
)
builder.add_edge("act", "think")
agent = builder.compile(store=store)


def say(text):
    return agent.invoke({"messages": [HumanMessage(text)]}, {"configurable": {"user_id": "oda"}})["messages"][
        -1
    ].content


TOLD = [
    "My brother Jonas keeps bees in Tromso.",
    "My boat is called Heron and lies in Bergen.",
    "My boat lies in Stavanger now.",
]
for one in TOLD:
    say(one)
print(json.dumps([say("What does my brother keep?"), say("Where does my boat lie now?")]))
