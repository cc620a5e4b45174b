"""An assistant with a memory of mem0.

To record it: memtrace run -- python examples/integrations/mem0_assistant.py

``OPENAI_BASE_URL`` and ``OPENAI_API_KEY`` name the server of the models; the memory is a Qdrant in ``MEMORY``.
"""

import os

from mem0 import Memory
from openai import OpenAI

MODEL, FOLDER = os.environ.get("MODEL", "gpt-5-mini"), os.environ.get("MEMORY", "memory")
SIZE = int(os.environ.get("EMBEDDING_SIZE", "1536"))
SERVER = {"openai_base_url": os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")}


def main() -> None:
    """Tell the memory two things, and ask about one of them."""
    memory = Memory.from_config(
        {
            "llm": {"provider": "openai", "config": {"model": MODEL, **SERVER}},
            "embedder": {
                "provider": "openai",
                "config": {"model": "text-embedding-3-small", "embedding_dims": SIZE, **SERVER},
            },
            "vector_store": {
                "provider": "qdrant",
                "config": {"path": f"{FOLDER}/qdrant", "on_disk": True, "embedding_model_dims": SIZE},
            },
            "history_db_path": f"{FOLDER}/history.db",
        }
    )
    for text in ("I have a dog called Bo.", "I live in Berlin."):
        memory.add(text, user_id="alice")
    question = "Where do I live?"
    found = memory.search(question, filters={"user_id": "alice"}, top_k=3)["results"]
    facts = "\n".join(f"- {unit['memory']}" for unit in found)
    prompt = f"Known about the user:\n{facts}\n\nQuestion: {question}"
    reply = OpenAI().chat.completions.create(model=MODEL, messages=[{"role": "user", "content": prompt}])
    print(reply.choices[0].message.content)


if __name__ == "__main__":
    main()
