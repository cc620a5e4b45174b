"""The model behind the programs of these tests: rules, behind a real HTTP server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

from tests.llm_server import Answer, LlmServer, Request, say


def reply(request: Request) -> Answer:
    """The model's reply: follows the prompt, and forgets food unless the prompt says to keep food."""
    task, _, rest = request.last.partition("\n---\n")
    if task.startswith("EXTRACT"):
        forgets = "allergic" in rest and "allerg" not in task
        return say(json.dumps([] if forgets else [rest]))
    notes, _, question = rest.partition("\nQuestion: ")
    wanted = {"called": r"called (\w+)", "move": r"moved to (\w+)", "allergic": r"allergic to (\w+)"}
    for word, pattern in wanted.items():
        if word in question:
            found = re.search(pattern, notes)
            return say(found[1] if found else "I do not know.")
    return say("I do not know.")


@contextmanager
def model() -> Iterator[LlmServer]:
    """The server."""
    server = LlmServer()
    server.script(reply, repeat=True)
    server.start()
    try:
        yield server
    finally:
        server.stop()
