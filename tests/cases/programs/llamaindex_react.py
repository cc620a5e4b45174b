"""An agent that thinks in words (ReAct) and asks an engine over an index, in one conversation."""

import asyncio
import json
import warnings

from llama_index.core import Document, MockEmbedding, Settings, VectorStoreIndex
from llama_index.core.agent.workflow import ReActAgent
from llama_index.core.memory import Memory
from llama_index.core.tools import QueryEngineTool
from llama_index.llms.openai import OpenAI

warnings.simplefilter("ignore")
Settings.llm = OpenAI(model="gpt-4o-mini", max_retries=0)


class Words(MockEmbedding):
    """All texts are alike but the one that is never found."""

    def _get_text_embedding(self, text):
        return [0.0, 1.0] if "barn" in text else [1.0, 0.0]

    def _get_query_embedding(self, query):
        return [1.0, 0.0]

    async def _aget_query_embedding(self, query):
        return [1.0, 0.0]


Settings.embed_model = Words(embed_dim=2)

BOOK = (
    "The weir of the river is 6 metres wide.",
    "Signe mows the bank of the river.",
    "The spare oar hangs in the barn.",
)
index = VectorStoreIndex.from_documents([Document(text=text) for text in BOOK])
tool = QueryEngineTool.from_defaults(index.as_query_engine(similarity_top_k=2), name="book", description="The book.")
LINES = ("How wide is the weir?", "Who mows the bank?", "Where is the spare oar?")


async def talk():
    agent = ReActAgent(tools=[tool], llm=Settings.llm, streaming=False)
    memory = Memory.from_defaults(session_id="river")
    return [str(await agent.run(line, memory=memory)) for line in LINES]


print(json.dumps(asyncio.run(talk())))
