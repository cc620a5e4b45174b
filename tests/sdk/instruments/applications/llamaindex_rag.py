"""A question is answered from an index of documents by LlamaIndex. It knows nothing of MemTrace."""

import asyncio
import json
import re

from llama_index.core import Document, Settings, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.llms.openai import OpenAI

FACTS = {
    "trees": "Tomas planted twelve apple trees behind the barn.",
    "quince": "The quince beside the gate is from grandmother Halina.",
    "dog": "The dog Figa guards the trees at night.",
}


class Words(BaseEmbedding):
    """Vectors of counts of words: near where words are alike."""

    def _get_text_embedding(self, text: str) -> list[float]:
        vector = [0.01] * 64
        for word in re.findall(r"[a-z]+", text.lower()):
            vector[sum(map(ord, word)) % 64] += 1.0
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


Settings.embed_model = Words()
Settings.llm = OpenAI(model="gpt-4o-mini", max_retries=0)
index = VectorStoreIndex.from_documents([Document(text=text, id_=name) for name, text in FACTS.items()])
engine = index.as_query_engine(similarity_top_k=2)
streaming = index.as_query_engine(similarity_top_k=1, streaming=True)


async def main() -> list[str]:
    answers = [str(engine.query("Who guards the trees at night?"))]
    answers.append("".join(streaming.query("From whom is the quince beside the gate?").response_gen))
    answers += map(str, await asyncio.gather(*(engine.aquery(f"Where are the {n} apple trees?") for n in (11, 12))))
    chat = index.as_chat_engine(chat_mode="context", similarity_top_k=1)
    answers += [str(chat.chat("Who is Figa?")), str(chat.chat("And who is Halina?"))]
    return answers


print(json.dumps(asyncio.run(main())))
