"""A nursery's assistant without any framework: keeps its notes in a dictionary that a model changes."""

from __future__ import annotations

import json

import openai

client = openai.OpenAI()
notes: dict[str, str] = {}


def ask_model(task: str, text: str) -> str:
    """One call of the model."""
    sent = [{"role": "system", "content": task}, {"role": "user", "content": text}]
    return client.chat.completions.create(model="small", messages=sent).choices[0].message.content


def keep(message: str) -> None:
    """Let the model change the notes."""
    known = "\n".join(f"{key}: {note}" for key, note in notes.items()) or "(none)"
    for step in json.loads(ask_model("Change the notes.", f"NOTES:\n{known}\nNEW: {message}")):
        if step["do"] == "drop":
            notes.pop(step["key"], None)
        else:
            notes[step["key"]] = step["note"]


def tell(question: str) -> str:
    """Answer from all notes."""
    return ask_model("Answer from the notes.", "NOTES:\n" + "\n".join(notes.values()) + "\nQUESTION: " + question)


for said in (
    "The quince trees stand in row 14 of the upper field.",
    "Ilse Morander orders 60 box hedges for the cemetery.",
    "The medlar costs 38 euros a piece.",
    "The rowan has a new price, 29 euros.",
    "Pump number two was repaired by Anders Kofoed.",
    "Ilse Morander wants the hedges in October.",
    "Our apprentice Jonna has left the upper field and works at the till.",
):
    keep(said)
answers = [
    tell(question)
    for question in (
        "What does the medlar cost?",
        "Who repaired the pump?",
        "How many box hedges does Ilse Morander order?",
        "In which row do the quince trees stand?",
        "Since when does Jonna work at the till?",
    )
]
print(json.dumps(answers))
