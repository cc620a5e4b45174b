"""Assistants whose history is cut or summarised, each in its own way. The last question is about the first message."""

import json
from typing import TypedDict

from langchain_core.messages import HumanMessage, RemoveMessage, SystemMessage, trim_messages
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langmem.short_term import SummarizationNode

model = ChatOpenAI(model="scripted", max_retries=0)


class Plain(TypedDict):
    messages: list


class Summed(MessagesState):
    summary: str


class Condensed(MessagesState):
    context: dict
    summarized_messages: list


def reply(state):
    return {"messages": [model.invoke(state["messages"])]}


def forget(state):
    return {"messages": [RemoveMessage(id=one.id) for one in state["messages"][:-2]]}


def recent(state):
    return {"messages": state["messages"][-2:]}


def add(state):
    return {"messages": [*state["messages"], model.invoke(state["messages"])]}


def last_only(state):
    return {"messages": [model.invoke(state["messages"][-1:])]}


def window(state):
    kept = trim_messages(state["messages"], strategy="last", token_counter=len, max_tokens=2, start_on="human")
    return {"messages": [model.invoke(kept)]}


def sum_up(state):
    if len(state["messages"]) < 4:
        return {}
    before = state.get("summary") or "nothing"
    said = model.invoke([*state["messages"], HumanMessage(f"Sum up. So far: {before}")]).content
    return {"summary": said, "messages": [RemoveMessage(id=one.id) for one in state["messages"][:-2]]}


def with_summary(state):
    head = [SystemMessage(f"Earlier: {state['summary']}")] if state.get("summary") else []
    return {"messages": [model.invoke([*head, *state["messages"]])]}


def condensed(state):
    return {"messages": [model.invoke(state["summarized_messages"])]}


def in_brief(state):
    """The state keeps all messages, and each call gets a summary and the newest message."""
    said, before = state["messages"], state.get("summary")
    if len(said) < 4:
        return {"messages": [model.invoke(said)]}
    older = said[:-1] if before is None else [SystemMessage(f"Earlier: {before}"), *said[-3:-1]]
    summary = model.invoke([*older, HumanMessage("Sum up.")]).content
    return {"messages": [model.invoke([SystemMessage(f"Earlier: {summary}"), *said[-1:]])], "summary": summary}


def chain(state_type, *nodes):
    builder = StateGraph(state_type)
    before = START
    for name, node in nodes:
        builder.add_node(name, node)
        builder.add_edge(before, name)
        before = name
    return builder.compile(checkpointer=InMemorySaver())


class Kept:
    """A graph without a reducer gets its whole history at each call, as its caller keeps it."""

    def __init__(self, graph):
        self.graph, self.history = graph, []

    def invoke(self, given, config):
        state = self.graph.invoke({"messages": [*self.history, *given["messages"]]}, config)
        self.history = state["messages"]
        return state


condensing = SummarizationNode(
    model=model,
    max_tokens=60,
    max_tokens_before_summary=60,
    max_summary_tokens=20,
    token_counter=lambda ms: 20 * len(ms),
)
GRAPHS = {
    "harbour": chain(MessagesState, ("reply", reply), ("forget", forget)),
    "pigeon": Kept(chain(Plain, ("recent", recent), ("add", add))),
    "attic": chain(MessagesState, ("last_only", last_only)),
    "cellar": chain(MessagesState, ("window", window)),
    "bakery": chain(Summed, ("with_summary", with_summary), ("sum_up", sum_up)),
    "library": chain(Summed, ("in_brief", in_brief)),
    "orchard": chain(Condensed, ("condense", condensing), ("condensed", condensed)),
}


def say(place, text):
    config = {"configurable": {"thread_id": f"about the {place}"}}
    return GRAPHS[place].invoke({"messages": [HumanMessage(text)]}, config)["messages"][-1].content


answers = {}
for place in GRAPHS:
    say(place, f"The code of the {place} is 7731, please keep it in mind.")
    say(place, f"Tell me about ropes in the {place}.")
    say(place, f"And about knots in the {place}?")
    answers[place] = say(place, f"What is the code of the {place}?")
print(json.dumps(answers))
