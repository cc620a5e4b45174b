"""Chains in which something runs before the search of documents, or beside it."""

import json
import time

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
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

chains = {
    "passed on beside it": (RunnableLambda(late) | search, RunnablePassthrough()),
    "changed beside it": (RunnableLambda(late) | search, RunnableLambda(lambda question: f"{question} In a word.")),
    "written beside it": (RunnableLambda(late) | search, {"question": RunnablePassthrough()} | wished),
    "changed before it": (RunnableLambda(lambda question: f"{question} The animal.") | search, RunnablePassthrough()),
    "failed before it": (RunnableLambda(broken).with_fallbacks([RunnableLambda(late)]) | search, RunnablePassthrough()),
}
said = []
for name, (context, question) in chains.items():
    chain = {"context": context, "question": question} | template | model | StrOutputParser()
    said.append(chain.invoke(f"{name}: {QUESTION}"))
alone = RunnableLambda(lambda text: f"{text} And nothing else.") | RunnableLambda(lambda text: [len(text)])
said.append(alone.invoke("A function without any memory."))
print(json.dumps(said))
