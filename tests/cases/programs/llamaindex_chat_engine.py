"""A chat engine of LlamaIndex over an index. A model writes the query of the second search, about another thing."""

import json
import sys
import warnings

from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.llms.openai import OpenAI

warnings.simplefilter("ignore")


class Letters(MockEmbedding):
    """A vector counts some words."""

    def _vector(self, text):
        return [0.1 + text.lower().count(word) for word in ("lantern", "stove", "map")]

    def _get_text_embedding(self, text):
        return self._vector(text)

    def _get_query_embedding(self, query):
        return self._vector(query)


llm = OpenAI(model="gpt-4o-mini", max_retries=0)
texts = ("The lantern burns for nine hours.", "The stove burns for two hours.", "The map shows the harbour.")
index = VectorStoreIndex.from_documents([Document(text=one) for one in texts], embed_model=Letters(embed_dim=3))
memory = ChatMemoryBuffer.from_defaults(token_limit=3000, tokenizer_fn=str.split)
engine = index.as_chat_engine(chat_mode="condense_plus_context", llm=llm, memory=memory, similarity_top_k=1)
replies = [str(engine.chat(one)) for one in ("I bought the lantern.", "For how many hours does it burn?")]
memory.put(memory.get()[0])  # a call outside of the engine
sys.stdout.write(json.dumps(replies))
