"""An engine whose filter finds nothing, and an agent that writes its notes into an index by a tool."""

import asyncio
import json
import warnings

from llama_index.core import Document, MockEmbedding, Settings, VectorStoreIndex
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import Memory
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters
from llama_index.llms.openai import OpenAI

warnings.simplefilter("ignore")
Settings.llm = OpenAI(model="gpt-4o-mini", max_retries=0)
Settings.embed_model = MockEmbedding(embed_dim=4)

papers = VectorStoreIndex.from_documents([Document(text="Ragnhild repaired the pump.", metadata={"hall": "North"})])
wanted = MetadataFilters(filters=[MetadataFilter(key="hall", value="north")])  # written otherwise
engine = papers.as_chat_engine(chat_mode="context", filters=wanted)
notes = VectorStoreIndex.from_documents([])


def keep(fact: str) -> str:
    """Keep a fact."""
    notes.insert(Document(text=fact))
    return "kept"


def look(query: str) -> str:
    """Look for facts."""
    return "\n".join(one.text for one in notes.as_retriever().retrieve(query))


async def talk():
    agent = FunctionAgent(tools=[keep, look], llm=Settings.llm, streaming=False)
    memory = Memory.from_defaults(session_id="ward")
    lines = ("Mrs Amundsen rests at two and at nine o'clock.", "At which hours does Mrs Amundsen rest?")
    return [str(await agent.run(line, memory=memory)) for line in lines][-1]


print(json.dumps({"engine": engine.chat("Who repaired the pump?").response, "agent": asyncio.run(talk())}))
