"""Questions are answered from documents: vector store, reranker, prompt and model. It knows nothing of MemTrace."""

import asyncio
import json
import os
import re
from collections.abc import Sequence

from langchain_core.documents import Document
from langchain_core.documents.compressor import BaseDocumentCompressor
from langchain_core.embeddings import Embeddings
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI

FACTS = {
    "trees": "Tomas planted twelve apple trees behind the barn.",
    "quince": "The quince beside the gate is from grandmother Halina.",
    "dog": "The dog Figa guards the trees at night.",
    "press": "The old press makes ninety litres of juice an hour.",
}


class Words(Embeddings):
    """Vectors of counts of letters: near where words are alike."""

    def embed_query(self, text: str) -> list[float]:
        words = re.findall(r"[a-z]+", text.lower())
        vector = [0.01] * 64
        for word in words:
            vector[sum(map(ord, word)) % 64] += 1.0
        return vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


class Shortest(BaseDocumentCompressor):
    """Keeps the two shortest documents."""

    def compress_documents(self, documents: Sequence[Document], query: str, callbacks: object = None) -> list[Document]:
        return sorted(documents, key=lambda document: len(document.page_content))[:2]


def joined(documents: list[Document]) -> str:
    return "\n".join(document.page_content for document in documents)


def filled(kind: str):
    """A vector store with all facts: in memory, or a real one on disk."""
    documents = [Document(text, id=name) for name, text in FACTS.items()]
    folder = os.environ["APPLICATION_FOLDER"]
    if kind == "faiss":
        from langchain_community.vectorstores import FAISS

        return FAISS.from_documents(documents, Words())
    if kind == "chroma":
        from langchain_chroma import Chroma

        return Chroma.from_documents(documents, Words(), persist_directory=f"{folder}/chroma")
    if kind == "qdrant":
        from langchain_qdrant import QdrantVectorStore
        from qdrant_client import QdrantClient
        from qdrant_client.models import Distance, VectorParams

        client = QdrantClient(path=f"{folder}/qdrant")
        client.create_collection("facts", VectorParams(size=64, distance=Distance.COSINE))
        made = QdrantVectorStore(client, "facts", Words())
        made.add_documents([Document(text) for text in FACTS.values()])  # Qdrant makes ids, and spells them otherwise
        return made
    made = InMemoryVectorStore(Words())
    made.add_documents(documents)
    return made


store = filled(os.environ.get("APPLICATION_STORE", "memory"))
retriever = store.as_retriever(search_kwargs={"k": 3})
reranker = Shortest()


def reranked(given: dict) -> list[Document]:
    return list(reranker.compress_documents(given["found"], given["question"]))


prompt = ChatPromptTemplate.from_messages([("system", "Answer from this:\n{context}"), ("human", "{question}")])
model = ChatOpenAI(model="scripted", max_retries=0)
chain = (
    {"found": retriever, "question": RunnablePassthrough()}
    | RunnablePassthrough.assign(context=RunnableLambda(reranked) | RunnableLambda(joined))
    | prompt
    | model
    | StrOutputParser()
)


async def main() -> list[str]:
    answers = [chain.invoke("Who guards the trees at night?")]
    answers.append("".join(chain.stream("From whom is the quince beside the gate?")))
    answers += await asyncio.gather(*(chain.ainvoke(f"How much juice makes the press in {n} hours?") for n in (2, 3)))
    answers += chain.batch(["Where are the apple trees?", "What is behind the barn?"])
    return answers


print(json.dumps(asyncio.run(main())))
