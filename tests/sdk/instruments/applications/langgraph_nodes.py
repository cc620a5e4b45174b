"""A graph whose nodes call models by OpenAI's own client and by LangChain. It knows nothing of MemTrace."""

import asyncio
import json

import openai
from langchain_core.messages import HumanMessage
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

client = openai.OpenAI(max_retries=0)
client_later = openai.AsyncOpenAI(max_retries=0)
model = ChatOpenAI(model="scripted", max_retries=0)


class State(MessagesState):
    topic: str


def classify(state: State) -> dict:
    asked = [{"role": "user", "content": f"topic of: {state['messages'][-1].content}"}]
    return {"topic": client.chat.completions.create(model="m", messages=asked).choices[0].message.content}


async def classify_later(state: State) -> dict:
    asked = [{"role": "user", "content": f"topic of: {state['messages'][-1].content}"}]
    reply = await client_later.chat.completions.create(model="m", messages=asked)
    return {"topic": reply.choices[0].message.content}


def answer(state: State) -> dict:
    return {"messages": [model.invoke([HumanMessage(f"{state['topic']}: {state['messages'][-1].content}")])]}


async def answer_later(state: State) -> dict:
    return {"messages": [await model.ainvoke([HumanMessage(f"{state['topic']}: {state['messages'][-1].content}")])]}


def built(first, second):
    builder = StateGraph(State)
    builder.add_node("classify", first)
    builder.add_node("answer", second)
    builder.add_edge(START, "classify")
    builder.add_edge("classify", "answer")
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=InMemorySaver())


graph, graph_later = built(classify, answer), built(classify_later, answer_later)


def config(thread: str) -> dict:
    return {"configurable": {"thread_id": thread}}


async def main() -> list[str]:
    asked = graph.invoke({"messages": [HumanMessage("When do the plums ripen?")]}, config("garden"))
    asked = [asked, graph.invoke({"messages": [HumanMessage("And the pears of Halina?")]}, config("garden"))]
    questions = [f"What is in room number {number}?" for number in range(20)]
    asked += await asyncio.gather(
        *(graph_later.ainvoke({"messages": [HumanMessage(one)]}, config(one)) for one in questions)
    )
    alone = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "by itself"}])
    return [*(state["messages"][-1].content for state in asked), alone.choices[0].message.content]


print(json.dumps(asyncio.run(main())))
