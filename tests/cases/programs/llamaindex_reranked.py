"""A chat engine whose postprocessor keeps the price list of the wrong year."""

import json
import sys
import warnings

from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.chat_engine import ContextChatEngine
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.llms.openai import OpenAI

warnings.simplefilter("ignore")


class Oldest(BaseNodePostprocessor):
    """Keeps what has no newer year."""

    @classmethod
    def class_name(cls):
        return "Oldest"

    def _postprocess_nodes(self, nodes, query_bundle=None):
        return [one for one in nodes if "2025" not in one.node.text]


llm = OpenAI(model="gpt-4o-mini", max_retries=0)
texts = (
    "Price list 2021: the ferry costs eight crowns.",
    "Price list 2025: the ferry costs twelve crowns.",
    "Bicycles travel free.",
)
index = VectorStoreIndex.from_documents([Document(text=one) for one in texts], embed_model=MockEmbedding(embed_dim=3))
engine = ContextChatEngine.from_defaults(
    retriever=index.as_retriever(similarity_top_k=3),
    llm=llm,
    memory=ChatMemoryBuffer.from_defaults(token_limit=3000, tokenizer_fn=str.split),
    node_postprocessors=[Oldest()],
)
asked = ("Good morning!", "Does a bicycle cost anything?", "What does the ferry cost by the list of 2025?")
sys.stdout.write(json.dumps([str(engine.chat(one)) for one in asked]))
