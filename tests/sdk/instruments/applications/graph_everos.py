"""Graphs and chains that remember with EverMind's clients and answer with LangChain. It knows nothing of MemTrace."""

import asyncio
import json
import os

from evermemos import EverMemOS
from everos import AsyncEverOS, EverOS
from everos_cloud import EverOS as Cloud
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

URL = os.environ["EVEROS_URL"]
USERS = 8
oldest, newer = EverMemOS(api_key="scripted", base_url=URL), EverOS(api_key="scripted", base_url=URL)
newer_later, cloud = AsyncEverOS(api_key="scripted", base_url=URL), Cloud(api_key="scripted", host=URL)
model = ChatOpenAI(model="scripted", max_retries=0)


class State(MessagesState):
    user: str
    found: list[str]


def add_to_oldest(user: str, said: str) -> None:
    oldest.v0.memories.add(content=said, create_time="2026-01-15T10:00:00+00:00", message_id=said, sender=user)


def search_oldest(user: str, asked: str) -> list[str]:
    found = oldest.v0.memories.search(extra_query={"query": asked, "user_id": user})
    return [memory.episode for memory in found.result.memories]


def add_to_newer(user: str, said: str) -> None:
    newer.v1.memories.add(user_id=user, messages=[{"role": "user", "timestamp": 1, "content": said}])


def search_newer(user: str, asked: str) -> list[str]:
    found = newer.v1.memories.search(query=asked, filters={"user_id": user})
    return [episode.summary for episode in found.data.episodes]


def add_to_cloud(user: str, said: str) -> None:
    message = {"role": "user", "content": said, "sender_id": user}
    cloud.add(session_id=f"session of {user}", messages=[message])


def search_cloud(user: str, asked: str) -> list[str]:
    return [episode.summary for episode in cloud.search(asked, user_id=user, top_k=3).episodes]


def prompted(state: State) -> list:
    units = "\n".join(f"- {text}" for text in state["found"])
    return [SystemMessage(f"Memories:\n{units}"), state["messages"][-1]]


def graph_of(recall, answer, remember):
    builder = StateGraph(State)
    for name, node in (("recall", recall), ("answer", answer), ("remember", remember)):
        builder.add_node(name, node)
    for before, after in ((START, "recall"), ("recall", "answer"), ("answer", "remember"), ("remember", END)):
        builder.add_edge(before, after)
    return builder.compile(checkpointer=InMemorySaver())


def graph(search, add):
    return graph_of(
        lambda state: {"found": search(state["user"], state["messages"][-1].content)},
        lambda state: {"messages": [model.invoke(prompted(state))]},
        lambda state: add(state["user"], state["messages"][-2].content),
    )


async def recall_later(state: State) -> dict:
    found = await newer_later.v1.memories.search(
        query=state["messages"][-1].content, filters={"user_id": state["user"]}
    )
    return {"found": [episode.summary for episode in found.data.episodes]}


async def answer_later(state: State) -> dict:
    return {"messages": [await model.ainvoke(prompted(state))]}


async def remember_later(state: State) -> None:
    said = {"role": "user", "timestamp": 1, "content": state["messages"][-2].content}
    await newer_later.v1.memories.add(user_id=state["user"], messages=[said])


def begun(user: str, said: str) -> tuple[dict, dict]:
    return {"messages": [HumanMessage(said)], "user": user}, {"configurable": {"thread_id": f"{user}: {said}"}}


def in_a_graph(user: str, search, add) -> list[str]:
    made = graph(search, add)
    turns = (f"I am {user}, and I live in the town of {user}.", f"In which town does {user} live?")
    return [made.invoke(*begun(user, said))["messages"][-1].content for said in turns]


async def in_a_graph_later(user: str, made) -> list[str]:
    turns = (f"I am {user}, and I live in the town of {user}.", f"In which town does {user} live?")
    return [(await made.ainvoke(*begun(user, said)))["messages"][-1].content for said in turns]


def in_a_chain(user: str, search, add) -> str:
    add(user, f"I am {user}, and I live in the town of {user}.")
    prompt = ChatPromptTemplate.from_messages([("system", "Memories:\n{memories}"), ("human", "{question}")])
    recall = RunnableLambda(lambda question: "\n".join(f"- {text}" for text in search(user, question)))
    chain = {"memories": recall, "question": RunnablePassthrough()} | prompt | model
    return chain.invoke(f"In which town does {user} live?").content


async def main() -> dict:
    clients = {
        "oldest": (search_oldest, add_to_oldest),
        "newer": (search_newer, add_to_newer),
        "cloud": (search_cloud, add_to_cloud),
    }
    later = graph_of(recall_later, answer_later, remember_later)
    return {
        "graphs": [in_a_graph(f"{name}-ann", *client) for name, client in clients.items()],
        "chains": [in_a_chain(f"{name}-ben", *client) for name, client in clients.items()],
        "later": await asyncio.gather(*(in_a_graph_later(f"user{number}", later) for number in range(USERS))),
    }


print(json.dumps(asyncio.run(main())))
