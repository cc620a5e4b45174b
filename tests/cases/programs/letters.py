"""A graph that reads several letters at once, each by a model; then a chain answers questions from the cards."""

import json
import operator
from typing import Annotated, TypedDict

from langchain_core.prompts import ChatPromptTemplate
from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph
from langgraph.store.memory import InMemoryStore
from langgraph.types import Send

store = InMemoryStore()
model = ChatOpenAI(model="scripted", max_retries=0)
read = ChatPromptTemplate.from_messages([("system", "Read the letter."), ("human", "{letter}")]) | model
answer = ChatPromptTemplate.from_messages([("system", "Cards:\n{cards}"), ("human", "{question}")]) | model


class Desk(TypedDict):
    letters: list[str]
    filed: Annotated[list[str], operator.add]


def file_letter(one):
    card = read.invoke({"letter": one["letter"]}).tool_calls[0]["args"]
    store.put(("croft",), card["sender"], {"line": f"{card['sender']}: {card['matter']}"})
    return {"filed": [card["sender"]]}


builder = StateGraph(Desk)
builder.add_node("file_letter", file_letter)
builder.add_conditional_edges(
    START, lambda state: [Send("file_letter", {"letter": one}) for one in state["letters"]], ["file_letter"]
)
builder.add_edge("file_letter", END)
config = {"configurable": {"user_id": "croft"}}
letters = ["The ram sale needs your entry by the 3rd of August. Hector Gunn", "I can shear ninety ewes. Iona Tait"]
builder.compile(store=store).invoke({"letters": letters}, config)
cards = "\n".join(one.value["line"] for one in store.search(("croft",)))
asked = ("By when must I enter for the ram sale?", "How many ewes can Iona Tait shear?")
print(json.dumps([answer.invoke({"cards": cards, "question": one}, config).content for one in asked]))
