"""A travel companion without any framework: it keeps all turns, and sends the newest one."""

from __future__ import annotations

import json

import openai

client = openai.OpenAI()
history: list[dict[str, str]] = [{"role": "system", "content": "You are a railway companion."}]


def chat(text: str) -> str:
    """One turn."""
    history.append({"role": "user", "content": text})
    reply = client.chat.completions.create(model="small", messages=[history[0], history[-1]]).choices[0].message.content
    history.append({"role": "assistant", "content": reply})
    return reply


for said in ("Hello, I am Sunniva and travel to Narvik.", "The night train leaves from platform 14."):
    chat(said)
print(json.dumps([chat("Which platform does the night train leave from?")]))
