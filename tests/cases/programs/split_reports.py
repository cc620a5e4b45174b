"""Graphs that shorten reports part by part, and whose node asks twice. They know nothing of a recorder."""

import json
import operator
import sys
from typing import Annotated, TypedDict

from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command, Send, interrupt

model = ChatOpenAI(model="m")


def asked(system: str, user: str):
    return ChatPromptTemplate.from_messages([("system", system), ("user", user)]) | model | StrOutputParser()


shorten, merge, tell = asked("Shorten.", "{part}"), asked("Merge.", "{file}\n{notes}"), asked("File: {file}", "{text}")


class State(TypedDict, total=False):
    text: str
    notes: Annotated[list[str], operator.add]
    file: str
    answer: str


def split(state: State):
    if state["text"].endswith("?"):
        return "respond"
    return [Send("condense", {"part": part}) for part in state["text"].split("\n\n")]


reports = StateGraph(State)
reports.add_node("condense", lambda state: {"notes": [shorten.invoke({"part": state["part"]})]})
reports.add_node("fuse", lambda state: {"file": merge.invoke({"file": "", "notes": "\n".join(state["notes"])})})
reports.add_node("respond", lambda state: {"answer": tell.invoke({"file": state["file"], "text": state["text"]})})
reports.add_conditional_edges(START, split, ["condense", "respond"])
reports.add_edge("condense", "fuse")
reports.add_edge("fuse", END)
reports.add_edge("respond", END)
app = reports.compile(checkpointer=InMemorySaver())
config = {"configurable": {"thread_id": "barns"}}
app.invoke({"text": "The roof of the barn costs 1480 crowns.\n\nThe owner of the barn is Aud Solli."}, config)
said = [
    app.invoke({"text": text}, config)["answer"]
    for text in ("What does the roof of the barn cost?", "Who owns the barn?")
]


def book(state, config, *, store):
    line = shorten.invoke({"part": state["messages"][-1].content})
    interrupt("Is a table free?")
    interrupt("Which one?")
    store.put(("book",), "first", {"line": line})
    return {"messages": [("ai", "It is booked.")]}


def answer(state, config, *, store):
    found = "\n".join(item.value["line"] for item in store.search(("book",)))
    return {"messages": [("ai", tell.invoke({"file": found, "text": state["messages"][-1].content}))]}


tables = StateGraph(MessagesState)
tables.add_node("book", book)
tables.add_node("answer", answer)
tables.add_conditional_edges(START, lambda state: "answer" if state["messages"][-1].content.endswith("?") else "book")
tables.add_edge("book", END)
tables.add_edge("answer", END)
inn = tables.compile(checkpointer=InMemorySaver(), store=InMemoryStore())


def at(thread: str, text: str) -> str:
    config = {"configurable": {"thread_id": thread, "user_id": "inn"}}
    out = inn.invoke({"messages": [("user", text)]}, config)
    while "__interrupt__" in out:
        out = inn.invoke(Command(resume="yes"), config)
    return out["messages"][-1].content


at("first", "The Moen party brings 30 guests on the 9th.")
said.append(at("second", "How many guests does the Moen party bring?"))
sys.stdout.write(json.dumps(said))
