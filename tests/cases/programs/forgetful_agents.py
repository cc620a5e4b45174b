"""Agents that lose a fact where no operation is recorded, or where the model did not write it.

The first keeps notes in a list of its own and drops one in place; the second promises to remember and calls no tool;
the third ends a turn with a summary; the fourth looks into notes that the conversation of another guest wrote.
"""

import json
from typing import TypedDict

from langchain_core.messages import HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_store
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore

model = ChatOpenAI(model="scripted", max_retries=0)
embeddings = OpenAIEmbeddings(model="scripted", check_embedding_ctx_length=False)


class Listed(TypedDict):
    text: str
    notes: list
    reply: str


def listing():
    def take(state):
        state["notes"].append(model.invoke("Note this down in a few words: " + state["text"]).content)
        return {}

    def clear(state):
        if len(state["notes"]) > 2:
            del state["notes"][0]
        return {}

    def reply(state):
        asked = "Notes:\n" + "\n".join(state["notes"]) + "\n\nNow answer: " + state["text"]
        return {"reply": model.invoke(asked).content}

    builder = StateGraph(Listed)
    builder.add_node("take", take)
    builder.add_node("clear", clear)
    builder.add_node("reply", reply)
    builder.add_conditional_edges(START, lambda s: "reply" if s["text"].endswith("?") else "take", ["reply", "take"])
    builder.add_edge("take", "clear")
    builder.add_edge("clear", END)
    builder.add_edge("reply", END)
    graph, notes = builder.compile(), []
    configuration = {"configurable": {"thread_id": "attic"}}
    told = ["The attic key hangs behind the clock.", "The roof was mended in spring.", "The cat sleeps upstairs."]
    for one in [*told, "Where does the attic key hang?"]:
        said = graph.invoke({"text": one, "notes": notes}, configuration)
    return said["reply"]


store = InMemoryStore(index={"dims": 512, "embed": embeddings})


@tool
def write_note(key: str, text: str) -> str:
    """Write a note."""
    get_store().put(("notes",), key, {"text": text})
    return f"stored {key}"


@tool
def find_notes(query: str) -> str:
    """Find notes."""
    return "\n".join(one.value["text"] for one in get_store().search(("notes",), query=query, limit=3)) or "nothing"


@tool
def read_note(key: str) -> str:
    """Read one note."""
    one = get_store().get(("notes",), key)
    return one.value["text"] if one else "nothing"


TOOLS = {one.name: one for one in (write_note, find_notes, read_note)}


def agent(**kept):
    able = model.bind_tools(list(TOOLS.values()))

    def act(state):
        calls = state["messages"][-1].tool_calls
        done = [ToolMessage(TOOLS[one["name"]].invoke(one["args"]), tool_call_id=one["id"]) for one in calls]
        return {"messages": done}

    builder = StateGraph(MessagesState)
    builder.add_node("think", lambda state: {"messages": [able.invoke(state["messages"])]})
    builder.add_node("act", act)
    builder.add_edge(START, "think")
    builder.add_conditional_edges("think", lambda s: "act" if s["messages"][-1].tool_calls else END, ["act", END])
    builder.add_edge("act", "think")
    return builder.compile(checkpointer=InMemorySaver(), **kept)


def promising():
    graph = agent(store=store)

    def say(text, thread):
        given = {"configurable": {"thread_id": thread, "user_id": "ida"}}
        return graph.invoke({"messages": [HumanMessage(text)]}, given)["messages"][-1].content

    say("My goat Pia eats thistles.", "one")
    say("Please remember: the fence was painted in Vejle.", "one")
    say("What does my goat eat?", "two")
    return say("Where was the fence painted?", "two")


class Summed(MessagesState):
    summary: str


def summing():
    def talk(state):
        return {"messages": [model.invoke(state["messages"])]}

    def shorten(state):
        said = model.invoke([*state["messages"], HumanMessage("Sum this up, please.")]).content
        return {"summary": said, "messages": [RemoveMessage(id=one.id) for one in state["messages"][:-1]]}

    builder = StateGraph(Summed)
    builder.add_node("talk", talk)
    builder.add_node("shorten", shorten)
    builder.add_edge(START, "talk")
    builder.add_edge("talk", "shorten")
    builder.add_edge("shorten", END)
    said = builder.compile(checkpointer=InMemorySaver()).invoke(
        {"messages": [HumanMessage("Which tea grows in the shade?")]}, {"configurable": {"thread_id": "tea"}}
    )
    return said["messages"][-1].content


def apart():
    graph = agent(store=InMemoryStore())

    def say(text, thread, guest):
        given = {"configurable": {"thread_id": thread, "guest": guest}}
        return graph.invoke({"messages": [HumanMessage(text)]}, given)["messages"][-1].content

    say("The ferry Alva sails at dawn and at noon.", "north", "ida")
    return say("When does the ferry sail?", "south", "bo")


print(json.dumps([listing(), promising(), summing(), apart()]))
