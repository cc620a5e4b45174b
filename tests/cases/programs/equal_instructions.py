"""A program that searches before each question: two questions find the same note, so the instructions are equal."""

import json

from langgraph.store.memory import InMemoryStore
from openai import OpenAI

client, store = OpenAI(max_retries=0), InMemoryStore()


def ask(question):
    notes = "\n".join(one.value["note"] for one in store.search(("shed",), query=question))
    messages = [{"role": "system", "content": f"Notes of the shed:\n{notes}"}, {"role": "user", "content": question}]
    return client.chat.completions.create(model="gpt-4o-mini", messages=messages).choices[0].message.content


store.put(("shed",), "mower", {"note": "The mower stands on shelf 6 beside the rake."})
print(json.dumps([ask("What stands beside the rake?"), ask("On which shelf does the mower stand?")]))
