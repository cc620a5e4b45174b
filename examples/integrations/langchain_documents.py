"""A chain of LangChain that answers from documents.

To record it: memtrace run -- python examples/integrations/langchain_documents.py

``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` name the server of the models.
"""

import os

from langchain_core.documents import Document
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

MODEL = os.environ.get("MODEL", "gpt-5-mini")
FACTS = ("Bo is a dog.", "Alice lives in Berlin.", "The office is in Hamburg.")


def main() -> None:
    """Put facts into an index, and ask about one of them."""
    store = InMemoryVectorStore(OpenAIEmbeddings(check_embedding_ctx_length=False))
    store.add_documents([Document(fact) for fact in FACTS])
    joined = RunnableLambda(lambda documents: "\n".join(document.page_content for document in documents))
    prompt = ChatPromptTemplate.from_messages([("system", "Answer from this:\n{context}"), ("human", "{question}")])
    chain = (
        {"context": store.as_retriever(search_kwargs={"k": 1}) | joined, "question": RunnablePassthrough()}
        | prompt
        | ChatOpenAI(model=MODEL)
        | StrOutputParser()
    )
    print(chain.invoke("Where does Alice live?"))


if __name__ == "__main__":
    main()
