"""Assistants with a memory of mem0, 1.x or 2.x. It knows nothing of a recorder."""

import asyncio
import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version

import openai
from mem0 import AsyncMemory, Memory

IS_OLD = version("mem0ai").startswith("1.")
FOLDER = os.environ["APPLICATION_FOLDER"]
STORE = os.environ.get("APPLICATION_STORE", "qdrant")
STORES = {
    "qdrant": {"path": f"{FOLDER}/qdrant", "on_disk": True, "embedding_model_dims": 512},
    "chroma": {"path": f"{FOLDER}/chroma"},
    "faiss": {"path": f"{FOLDER}/faiss", "embedding_model_dims": 512},
}


def config():
    here = {"api_key": "k", "openai_base_url": os.environ["OPENAI_BASE_URL"]}
    return {
        "llm": {"provider": "openai", "config": {"model": "m", **here}},
        "embedder": {"provider": "openai", "config": {"model": "e", "embedding_dims": 512, **here}},
        "vector_store": {"provider": STORE, "config": {"collection_name": "units", **STORES[STORE]}},
        "history_db_path": f"{FOLDER}/history.db",
    }


def one_at_a_time(memory):
    """A Qdrant that lives in this process is not made for several threads."""
    client, lock = memory.vector_store.client, threading.Lock()

    def locked(method):
        def call(*args, **kwargs):
            with lock:
                return method(*args, **kwargs)

        return call

    for name in ("upsert", "query_points", "retrieve", "scroll", "delete", "get_collection", "get_collections"):
        setattr(client, name, locked(getattr(client, name)))
    return memory


def about(user, many):
    return (
        {"user_id": user, "limit": many} if IS_OLD else {"filters": {"user_id": user}, "top_k": many, "threshold": 0.0}
    )


def of(user):
    return {"user_id": user} if IS_OLD else {"filters": {"user_id": user}}


def prompt(found, question):
    units = "\n".join(f"- {item['memory']}" for item in found["results"])
    return [{"role": "user", "content": f"Memories:\n{units}\n\nQuestion: {question}"}]


def answer(client, found, question):
    reply = client.chat.completions.create(model="m", messages=prompt(found, question))
    return reply.choices[0].message.content


def texts(result):
    return sorted(item["memory"] for item in result["results"])


def events(result):
    return sorted((item["event"], item["memory"]) for item in result["results"])


def write(memory, user):
    said = [memory.add(f"Hello, I am {user}. I have a dog called Bo. I live in Berlin.", user_id=user)]
    said.append(memory.add([{"role": "user", "content": "I moved to Paris last week."}], user_id=user))
    said.append(memory.add([{"role": "user", "content": "Bo died yesterday."}], user_id=user))
    said.append(memory.add([{"role": "user", "content": "I drink green tea."}], user_id=user))
    return [events(one) for one in said]


def talk(memory, client, user, many=1):
    question = f"Where does {user} live?"
    found = memory.search(question, **about(user, many))
    return texts(found), answer(client, found, question)


def story():
    memory, client = Memory.from_config(config()), openai.OpenAI()
    said = [write(memory, "alice"), talk(memory, client, "alice")]
    said.append(events(memory.add([{"role": "user", "content": "I said it before: green tea."}], user_id="alice")))
    said.append(texts(memory.get_all(**of("alice"))))
    return said


def change():
    """Changes by hand."""
    memory = Memory.from_config(config())
    first = memory.add("I live in Berlin.", user_id="alice", infer=False)["results"][0]["id"]
    second = memory.add([{"role": "user", "content": "I have a dog."}], user_id="alice", infer=False)["results"][0][
        "id"
    ]
    said = [memory.update(first, "I live in Rome."), memory.get(first)["memory"], memory.delete(second)]
    said += [texts(memory.get_all(**of("alice"))), memory.delete_all(user_id="alice")]
    said.append(texts(memory.get_all(**of("alice"))))
    for wrong in (lambda: memory.delete("11111111-1111-4111-8111-111111111111"), lambda: memory.search("nobody's")):
        try:
            wrong()
        except Exception as error:
            said.append([type(error).__name__, str(error)])
    return said


def expiring():
    """A note that is written with the day on which it expires."""
    memory = Memory.from_config(config())
    return texts(memory.add("My coat hangs on peg 4.", user_id="alice", infer=False, expiration_date="2999-01-31"))


def failing():
    """A model that fails, and a store that does."""
    memory = Memory.from_config(config())
    said = [events(memory.add("I live in Berlin.", user_id="alice"))]

    def broken(*args, **kwargs):
        raise OSError("the disk is full")

    def try_all():
        for call in (
            lambda: events(memory.add("fail here, please", user_id="alice")),
            lambda: events(memory.add("I drink green tea.", user_id="alice")),
            lambda: texts(memory.search("Where does alice live?", **about("alice", 1))),
            lambda: memory.update("11111111-1111-4111-8111-111111111111", "I live in Rome."),
        ):
            try:
                said.append(call())
            except Exception as error:
                said.append([type(error).__name__, str(error)[:60]])

    try_all()
    memory.vector_store.insert = memory.vector_store.search = broken
    try_all()
    return said


def users():
    memory, client = one_at_a_time(Memory.from_config(config())), openai.OpenAI()

    def serve(number):
        return write(memory, f"user{number}"), talk(memory, client, f"user{number}")

    with ThreadPoolExecutor(8) as pool:
        return list(pool.map(serve, range(8)))


async def users_async():
    memory = AsyncMemory.from_config(config())
    memory = one_at_a_time(await memory if asyncio.iscoroutine(memory) else memory)
    client = openai.AsyncOpenAI()

    async def serve(user):
        said = [events(await memory.add(f"I am {user}. I have a dog called Bo. I live in Berlin.", user_id=user))]
        said.append(events(await memory.add("I drink green tea.", user_id=user)))
        question = "Where do I live?"
        found = await memory.search(question, **about(user, 1))
        reply = await client.chat.completions.create(model="m", messages=prompt(found, question))
        return said, texts(found), reply.choices[0].message.content

    return await asyncio.gather(*(serve(f"user{number}") for number in range(int(os.environ.get("USERS", "8")))))


def later():
    """Another process, a week later: only the question."""
    return talk(Memory.from_config(config()), openai.OpenAI(), "alice")


CAT = "What is the cat of the user called?"


def faults():
    """Five users, for each of whom something else goes wrong."""
    memory, client = Memory.from_config(config()), openai.OpenAI()
    said = {}

    def ask(user, question=CAT, many=3):
        found = memory.search(question, **about(user, many))
        said[user] = answer(client, found, question)

    def told(user, *sentences):
        return [item["id"] for text in sentences for item in memory.add(text, user_id=user)["results"]]

    told("dropped", "My kitten is called Luna.", "I drink green tea.")
    ask("dropped")
    (cat, _) = told("overwritten", "My cat is called Luna.", "I drink green tea.")
    memory.update(cat, "The user has a cat")
    ask("overwritten")
    (cat, _) = told("deleted", "My cat is called Luna.", "I drink green tea.")
    memory.delete(cat)
    ask("deleted")
    told("missed", "My cat is called Luna.", "I keep my home tidy.")
    ask("missed", "Which pet does the user keep at home?", 1)
    told("ignored", "My cat is called Luna.", "I drink green tea.")
    ask("ignored", "Please, what is the cat of the user called?")
    return said


if __name__ == "__main__":
    what = globals()[sys.argv[1]]
    result = asyncio.run(what()) if asyncio.iscoroutinefunction(what) else what()
    print(json.dumps(result))
