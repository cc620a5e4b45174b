"""The three clients of EverMind's memory, synchronous and not. It knows nothing of MemTrace."""

import asyncio
import json
import os

from evermemos import AsyncEverMemOS, EverMemOS
from everos import AsyncEverOS, EverOS
from everos_cloud import EverOS as Cloud

URL = os.environ["EVEROS_URL"]


def said(text: str) -> dict:
    return {"role": "user", "timestamp": 1, "content": text}


def oldest() -> list:
    client = EverMemOS(api_key="scripted", base_url=URL)
    client.v0.memories.add(
        content="I live in Rome.", create_time="2026-01-15T10:00:00+00:00", message_id="m1", sender="ann"
    )
    found = client.v0.memories.search(extra_query={"query": "Where does Ann live?", "user_id": "ann"})
    client.v0.memories.delete(user_id="ann")
    return [memory.episode for memory in found.result.memories]


async def oldest_later() -> list:
    client = AsyncEverMemOS(api_key="scripted", base_url=URL)
    await client.v0.memories.add(
        content="I live in Oslo.", create_time="2026-01-15T10:00:00+00:00", message_id="m2", sender="ben"
    )
    found = await client.v0.memories.search(extra_query={"query": "Where does Ben live?", "user_id": "ben"})
    return [memory.episode for memory in found.result.memories]


def newer() -> list:
    client = EverOS(api_key="scripted", base_url=URL)
    client.v1.memories.add(user_id="cleo", messages=[said("I live in Lima."), said("I have a cat.")])
    client.v1.memories.flush(user_id="cleo")
    found = client.v1.memories.search(query="Where does Cleo live?", filters={"user_id": "cleo"}, method="hybrid")
    client.v1.memories.get(memory_type="episodic_memory", filters={"user_id": "cleo"})
    client.v1.memories.delete(memory_id=found.data.episodes[0].id)
    return [episode.summary for episode in found.data.episodes]


async def newer_later(user: str) -> list:
    client = AsyncEverOS(api_key="scripted", base_url=URL)
    await client.v1.memories.add(user_id=user, messages=[said(f"I live in the town of {user}.")])
    found = await client.v1.memories.search(query=f"Where does {user} live?", filters={"user_id": user})
    return [episode.summary for episode in found.data.episodes]


def cloud() -> list:
    with Cloud(api_key="scripted", host=URL) as client:
        client.add(session_id="monday", messages=[{"role": "user", "content": "I live in Kyiv.", "sender_id": "eva"}])
        client.flush("monday")
        found = client.search("Where does Eva live?", user_id="eva", top_k=3)
        client.delete(user_id="eva")
    return [episode.summary for episode in found.episodes]


def failure() -> str:
    try:
        EverOS(api_key="scripted", base_url=URL, max_retries=0).v1.memories.search(
            query="fail", filters={"user_id": "cleo"}
        )
    except Exception as error:
        return type(error).__name__
    return "none"


async def main() -> dict:
    later = await asyncio.gather(oldest_later(), *(newer_later(f"user{number}") for number in range(8)))
    return {"oldest": oldest(), "newer": newer(), "cloud": cloud(), "later": later, "failure": failure()}


print(json.dumps(asyncio.run(main())))
