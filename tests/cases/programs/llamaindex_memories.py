"""Chats of LlamaIndex whose memories cut, sum up or condense. The last question is about the first message."""

import asyncio
import json
import warnings

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer, ChatSummaryMemoryBuffer, FactExtractionMemoryBlock, Memory
from llama_index.llms.openai import OpenAI

warnings.simplefilter("ignore")
llm = OpenAI(model="gpt-4o-mini", max_retries=0)


def words(text):
    return text.split()


MEMORIES = {
    "harbour": ChatMemoryBuffer.from_defaults(token_limit=22, tokenizer_fn=words, chat_store_key="harbour"),
    "pigeon": ChatSummaryMemoryBuffer.from_defaults(
        token_limit=22, llm=llm, tokenizer_fn=words, chat_store_key="pigeon"
    ),
}
QUESTIONS = (
    "The code of the {0} is 7731, please keep it in mind.",
    "Tell me about ropes in the {0}.",
    "And about knots in the {0}?",
    "What is the code of the {0}?",
)


def chat(place):
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=MEMORIES[place])
    return [str(engine.chat(question.format(place))) for question in QUESTIONS][-1]


async def attic():
    """A program of its own that keeps a memory with a block of facts."""
    block = FactExtractionMemoryBlock(name="facts", llm=llm, max_facts=1)
    memory = Memory.from_defaults(
        session_id="attic",
        token_limit=40,
        chat_history_token_ratio=0.5,
        token_flush_size=10,
        memory_blocks=[block],
        tokenizer_fn=words,
    )
    reply = None
    for question in QUESTIONS:
        await memory.aput(ChatMessage(role="user", content=question.format("attic")))
        reply = (await llm.achat(await memory.aget())).message
        await memory.aput(reply)
    return reply.content


print(json.dumps({**{place: chat(place) for place in MEMORIES}, "attic": asyncio.run(attic())}))
