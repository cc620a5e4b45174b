"""Decorated functions that ask a model and hand its reply back as it is; one of them stores too little of a reply."""

import json
import sys

import memtrace
from openai import OpenAI

client, memory = OpenAI(max_retries=0), []


def ask(text):
    return (
        client.chat.completions.create(model="gpt-4o-mini", messages=[{"role": "user", "content": text}])
        .choices[0]
        .message.content
    )


@memtrace.operation(kind="Extraction", inputs={"message": "Message"}, output="Response")
def facts_of(message):
    return ask("FACTS " + message)


@memtrace.operation(kind="Update", output="MemoryUnit", each=True)
def keep(reply):
    return [memtrace.variable(f"fact: {one}", kind="MemoryUnit") for one in json.loads(reply)[:2]]


@memtrace.operation(kind="Retrieval")
def search(query):
    memtrace.retrieved(query, memory, memory)
    return list(memory)


@memtrace.operation(kind="Generation", output="Answer")
def answer(query, facts):
    return ask("\n".join(facts) + "\nASKED " + query)


said = []
with memtrace.trace("desk", id="desk"):
    for text in ("I am Runa, I have room 41, and nuts make me ill.", "My bicycle is yellow."):
        memory += keep(facts_of(memtrace.variable(text, kind="Message")))
    for text in ("What makes Runa ill?", "Which colour has the bicycle?"):
        query = memtrace.variable(text, kind="Query")
        said.append(answer(query, search(query)))
sys.stdout.write(json.dumps(said))
