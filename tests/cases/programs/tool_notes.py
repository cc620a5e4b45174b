"""A family's assistant without any framework: a model keeps and finds notes with tools; the notes are a dictionary."""

from __future__ import annotations

import json

import openai

client = openai.OpenAI()
notes: dict[str, str] = {}
NAMES = ("keep", "find")
TOOLS = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in NAMES]


def keep(key: str, text: str) -> str:
    """Keep a note."""
    notes[key] = text
    return f"Kept under {key}: {text}"


def find(word: str) -> str:
    """The notes with a word."""
    return "\n".join(note for note in notes.values() if word in note) or "nothing"


def chat(text: str) -> str:
    """One turn, with the tools that the model calls."""
    sent: list[object] = [{"role": "system", "content": "Keep what matters."}, {"role": "user", "content": text}]
    while True:
        reply = client.chat.completions.create(model="small", messages=sent, tools=TOOLS).choices[0].message
        sent.append(reply)
        if not reply.tool_calls:
            return reply.content
        for call in reply.tool_calls:
            result = {"keep": keep, "find": find}[call.function.name](**json.loads(call.function.arguments))
            sent.append({"role": "tool", "tool_call_id": call.id, "content": result})


for said in ("Swimming for Mia is on Wednesdays now, not on Tuesdays.", "Arlo must not eat any kiwi at our house."):
    chat(said)
print(json.dumps([chat(question) for question in ("On which day does Mia swim?", "Which fruit must Arlo not get?")]))
