"""Chains in which something runs before the search of documents, or beside it."""

import asyncio
import json
import time

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableBranch, RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI

QUESTION = "Who guards the trees at night?"
FACT = "The dog Figa guards the trees at night."


def late(question: str) -> str:
    """What runs beside the search has ended by then."""
    time.sleep(0.3)
    return question


def broken(question: str) -> str:
    raise LookupError(f"no way for {question}")


store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
store.add_documents([Document(FACT, id="dog")])
search = store.as_retriever(search_kwargs={"k": 1}) | RunnableLambda(lambda found: found[0].page_content)
template = ChatPromptTemplate.from_messages([("system", "Answer from this:\n{context}"), ("human", "{question}")])
model = ChatOpenAI(model="scripted", max_retries=0)
wished = ChatPromptTemplate.from_template("Please: {question}") | RunnableLambda(lambda prompt: prompt.to_string())

rewritten = ChatPromptTemplate.from_template("Rewrite: {question}") | model | StrOutputParser()
retriever = store.as_retriever(search_kwargs={"k": 1})


def looked_up(question: str) -> str:
    """A function that searches by itself."""
    return retriever.invoke(question)[0].page_content


chains = {
    "passed on beside it": (RunnableLambda(late) | search, RunnablePassthrough()),
    "changed beside it": (RunnableLambda(late) | search, RunnableLambda(lambda question: f"{question} In a word.")),
    "written beside it": (RunnableLambda(late) | search, {"question": RunnablePassthrough()} | wished),
    "changed before it": (RunnableLambda(lambda question: f"{question} The animal.") | search, RunnablePassthrough()),
    "cleaned before it": (RunnableLambda(lambda question: question.strip("?").upper()) | search, RunnablePassthrough()),
    "rewritten by a model before it": (rewritten | search, RunnablePassthrough()),
    "rewritten before a function searches": (rewritten | RunnableLambda(looked_up), RunnablePassthrough()),
    "rewritten before a branch": (
        rewritten | RunnableBranch((lambda text: len(text) > 3, search), RunnableLambda(late)),
        RunnablePassthrough(),
    ),
    "failed before it": (RunnableLambda(broken).with_fallbacks([RunnableLambda(late)]) | search, RunnablePassthrough()),
}
said = []
for name, (context, question) in chains.items():
    chain = {"context": context, "question": question} | template | model | StrOutputParser()
    said.append(chain.invoke(f"{name}: {QUESTION}"))


async def in_other_ways() -> list[str]:
    """The chain whose model comes first, called in all other ways."""
    context, question = chains["rewritten by a model before it"]
    chain = {"context": context, "question": question} | template | model | StrOutputParser()
    made = [await chain.ainvoke(f"ainvoke: {QUESTION}")]
    made.append("".join(chain.stream(f"stream: {QUESTION}")))
    made.append("".join([part async for part in chain.astream(f"astream: {QUESTION}")]))
    return made + chain.batch([f"batch {number}: {QUESTION}" for number in (1, 2)])


said += asyncio.run(in_other_ways())
other = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
other.add_documents([Document("The gate squeaks.", id="gate")])
both = {
    "context": rewritten | search,
    "question": other.as_retriever() | RunnableLambda(lambda found: "Of which gate?"),
}
said.append((both | template | model | StrOutputParser()).invoke(f"two stores: {QUESTION}"))
alone = RunnableLambda(lambda text: f"{text} And nothing else.") | RunnableLambda(lambda text: [len(text)])
said.append(alone.invoke("A function without any memory."))
print(json.dumps(said))
