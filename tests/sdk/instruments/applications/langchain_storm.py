"""LangChain and LangGraph while the recorder is switched on and off: what the program gets stays the same."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor

import memtrace
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI
from langgraph.store.base import BaseStore
from langgraph.store.base.batch import AsyncBatchedBaseStore
from langgraph.store.memory import InMemoryStore
from memtrace.exporters.memory import MemoryExporter

NAMES = ("langchain", "langgraph", "openai")
ORIGINALS = {(kind, name): vars(kind).get(name) for kind in (BaseStore, InMemoryVectorStore) for name in vars(kind)}

exporter = MemoryExporter()
memtrace.configure(exporter=exporter)
index = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
index.add_documents([Document(f"fact number {number}", id=str(number)) for number in range(5)])
prompt = ChatPromptTemplate.from_messages([("system", "{context}"), ("human", "{question}")])
model = ChatOpenAI(model="scripted", max_retries=0)
joined = RunnableLambda(lambda documents: "\n".join(document.page_content for document in documents))
chain = (
    {"context": index.as_retriever(search_kwargs={"k": 2}) | joined, "question": RunnablePassthrough()}
    | prompt
    | model
    | StrOutputParser()
)


def broken(question):
    raise LookupError(f"no way for {question}")


def error_of(call):
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return None


def operations():
    ended = [event["operation"] for event in exporter.of("operationEnded")]
    started = [event["operation"] for event in exporter.of("operationStarted")]
    return {"whole": sorted(ended) == sorted(started), "count": len(started)}


def failures():
    errors = [
        error_of(lambda: (RunnableLambda(broken) | model).invoke("here")),
        error_of(lambda: chain.invoke("fail")),
        error_of(lambda: list(chain.stream("fail"))),
        error_of(lambda: index.similarity_search("query", k="many")),
        error_of(lambda: InMemoryStore().put((), "key", {"a": 1})),
    ]
    statuses = [event["status"] for event in exporter.of("operationEnded")]
    return {"errors": errors, "recorded": statuses.count("error")}


class Batched(AsyncBatchedBaseStore):
    """What stores in databases are: calls of many tasks become one batch of a task of the store's own."""

    def __init__(self):
        super().__init__()
        self.inner = InMemoryStore()

    async def abatch(self, ops):
        return await self.inner.abatch(ops)


async def tasks():
    store = Batched()
    patient = ChatOpenAI(model="scripted", max_retries=5)
    try:
        await chain.ainvoke("fail")
    except Exception as error:
        failed = type(error).__name__

    async def user(number):
        namespace = ("users", f"user-{number}")
        with memtrace.trace(id=f"user-{number}"):
            await store.aput(namespace, "fact", {"text": f"the word of user-{number} is w{number}w"})
            (item,) = await store.asearch(namespace, query="word")
            reply = await patient.ainvoke(f"say: {item.value['text']}")
            await store.adelete(namespace, "fact")
            return reply.content, await store.aget(namespace, "fact")

    said = await asyncio.gather(*(user(number) for number in range(200)))
    right = all(
        word == f"said: the word of user-{number} is w{number}w" and gone is None
        for number, (word, gone) in enumerate(said)
    )
    mixed = 0
    units = {event["variable"]: event for event in exporter.of("variable")}
    for variable in units.values():
        number = variable["trace"].removeprefix("user-")
        mixed += variable["trace"].startswith("user-") and f"user-{number}" not in json.dumps(variable)
    return {"right": right, "mixed": mixed, "failed": failed}


def load():
    stop = threading.Event()

    def switch():
        while not stop.is_set():
            memtrace.uninstrument()
            memtrace.instrument(*NAMES)

    with ThreadPoolExecutor(5) as pool:
        switching = pool.submit(switch)
        said = list(pool.map(lambda number: chain.invoke(f"say: {number}"), range(40)))
        stop.set()
        switching.result()
    return said == [f"said: {number}" for number in range(40)]


def in_flight():
    memtrace.instrument(*NAMES)
    stream = chain.stream("say: a longer reply that comes in pieces")
    first = next(stream)
    memtrace.uninstrument()
    return first + "".join(stream)


def main():
    found = {
        "before": chain.invoke("say: nothing is recorded"),
        "plain": failures()["errors"],
        "none": operations()["count"],
    }
    for _ in range(3):
        memtrace.instrument(*NAMES)
    found["once"] = chain.invoke("say: once")
    found["operations"] = operations()
    found |= {"failures": failures(), "tasks": asyncio.run(tasks())}
    found |= {"load": load(), "in_flight": in_flight()}
    count = operations()["count"]
    found["after"] = chain.invoke("say: nothing again")
    found["still"] = operations()["count"] == count
    found["whole"] = operations()["whole"]
    found["originals"] = all(vars(kind).get(name) is one for (kind, name), one in ORIGINALS.items())
    found["faults"] = memtrace.fault_counts()
    return found


print(json.dumps(main()))
