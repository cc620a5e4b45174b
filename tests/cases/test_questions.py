"""The question of an answer that was recorded without any: what the user said before it."""

from __future__ import annotations

from pathlib import Path

import memtrace

from ingest.events.questions import questions_of
from schema.kinds import VariableKind
from store.contract.protocol import Database
from tests.cases.recorded import judged


async def test_the_newest_message_behind_an_answer(sqlite_database: Database, tmp_path: Path) -> None:
    @memtrace.operation(kind="Generation", inputs={"order": "Message"}, output="Response")
    def draft(order: str) -> str:
        return "40 tulips"

    @memtrace.operation(kind="Other", output="Prompt")
    def wrap(text: str) -> str:
        return f"Confirm: {text}"

    @memtrace.operation(kind="Generation", output="Response")
    def confirm(prompt: str) -> str:
        return "14 tulips are on their way."

    def program() -> None:
        with memtrace.trace("shop", id="shop"):
            memtrace.variable("Good morning!", kind="Message")
            confirm(wrap(draft("Forty tulips, please.")))

    store = sqlite_database.project("shop")
    graph = (await judged(program, store, tmp_path)).graph
    *_, reply = (one for one in graph.variables.values() if one.kind is VariableKind.RESPONSE)
    (question,) = (await questions_of(store, [reply]))[reply.id]
    assert question.preview == "Forty tulips, please."
