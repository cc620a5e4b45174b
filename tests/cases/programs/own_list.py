"""A bicycle workshop's assistant without any framework: keeps the lines of replies in a list, and shows two of them."""

from __future__ import annotations

import json

import openai

client = openai.OpenAI()
notes: list[str] = []


def ask_model(task: str, text: str) -> str:
    """One call of the model."""
    sent = [{"role": "system", "content": task}, {"role": "user", "content": text}]
    return client.chat.completions.create(model="small", messages=sent).choices[0].message.content


def learn(message: str) -> list[str]:
    """Keep each line of the reply."""
    lines = ask_model("List the facts.", message).splitlines()
    notes.extend(lines)
    return lines


def find(question: str) -> list[str]:
    """The first two notes with a word of the question."""
    words = [one.strip("?.").lower() for one in question.split() if len(one) > 4]
    return [note for note in notes if any(word in note.lower() for word in words)][:2]


def tell(question: str) -> str:
    """Answer from two notes."""
    return ask_model("Answer from the notes.", "Notes:\n" + "\n".join(find(question)) + "\nQuestion: " + question)


for said in (
    "The tandem of the Okonjo family needs a new chain. The tandem is red.",
    "The tandem will be fetched on 9 July by Mr Okonjo.",
    "Spokes are ordered from Van Loon in Ghent.",
):
    learn(said)
asked = ("When will the tandem be fetched?", "Where do we order spokes?")
print(json.dumps([tell(question) for question in asked]))
