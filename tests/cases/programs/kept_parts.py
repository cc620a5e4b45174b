"""A choir's secretary: keeps parts of a model's replies in a list and a dictionary of its own, all in one trace."""

from __future__ import annotations

import json

import memtrace
import openai

client = openai.OpenAI()
lines: list[str] = []
facts: dict[str, list[str]] = {"concert": []}
book: list[str] = []


def say(system: str, *messages: dict, **more: object) -> object:
    """One call of the model."""
    sent = [{"role": "system", "content": system}, *messages]
    return client.chat.completions.create(model="small", messages=sent, **more).choices[0].message


def user(text: str) -> dict:
    """A message of the user."""
    return {"role": "user", "content": text}


def listed(text: str) -> None:
    """Keep each line of the reply."""
    reply = say("List what to remember.", user(text)).content
    lines.extend(line.removeprefix("- ") for line in reply.splitlines())


def as_json(text: str) -> None:
    """Keep each fact of the reply in JSON."""
    facts["concert"] += json.loads(say("Give facts as JSON.", user(text)).content)["facts"]


def by_tool(text: str) -> None:
    """Keep the arguments of the tool that the model calls."""
    calls = say("Write it into the book.", user(text)).tool_calls
    book.extend(json.loads(call.function.arguments)["note"] for call in calls)


def asked_tool(question: str) -> str:
    """Answer with what the tool reads from the book."""
    call = say("Look into the book.", user(question))
    result = {"role": "tool", "tool_call_id": call.tool_calls[0].id, "content": "\n".join(book)}
    return say("Look into the book.", user(question), call, result).content


with memtrace.trace("choir", id="choir"):
    listed("The altos rehearse in the chapel on Tuesdays. Ruta Petrauskas has the key to the organ loft.")
    as_json("The spring concert begins at 19:30, and the soloist is Emil Brandvold from Tromsø.")
    by_tool("The printer Vask & Sons delivers 340 programmes for the concert.")
    known = "\n".join(f"* {one}" for one in lines)
    said = [
        say(f"You know:\n{known}", user("Who has the key to the organ loft?")).content,
        say("You know: " + "; ".join(facts["concert"]), user("Who is the soloist?")).content,
        say("", user("Answer. Notes:\n" + "\n".join(lines) + "\nQuestion: When do the altos rehearse?")).content,
        asked_tool("How many programmes are delivered?"),
    ]
    hall: dict[str, str] = {}
    for new in ("The hall is rented until 22:00.", "Coffee is served by Lotte Winkel.", "There is no coffee."):
        prompt = json.dumps({"notes": hall, "new": say("List what to remember.", user(new)).content})
        change = json.loads(say("Decide.", user(prompt)).content)
        if change["note"] is None:
            hall.pop(change["key"])
        else:
            hall[change["key"]] = change["note"]
    notes = "\n".join(f"* {note}" for note in hall.values())
    said.append(say(f"What you know of the hall:\n{notes}", user("Until when is the hall rented?")).content)
    listed("Please remember that the altos rehearse in the chapel.")
print(json.dumps(said))
