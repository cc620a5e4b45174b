"""A choir's assistant without any framework: one summary that a model writes anew with each message."""

from __future__ import annotations

import json

import openai

client = openai.OpenAI()
summary = "Nothing is known yet."


def ask_model(text: str) -> str:
    """One call of the model."""
    sent = [{"role": "user", "content": text}]
    return client.chat.completions.create(model="small", messages=sent).choices[0].message.content


for message in (
    "Rehearsals are on Thursdays in the hall of St Luke.",
    "The spare scores are kept by Lionel Quist, twelve copies.",
):
    summary = ask_model(f"So far we know:\n{summary}\n\nA singer writes:\n{message}\n\nWrite the new summary.")
asked = ("On which evening do we rehearse?", "How many spare scores are there?")
print(json.dumps([ask_model(f"Summary:\n{summary}\n\nAnswer in one sentence: {question}") for question in asked]))
