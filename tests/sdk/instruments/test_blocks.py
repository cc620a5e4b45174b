"""Blocks of LlamaIndex's memories: the units that a block keeps after a flush, and the messages they derive from."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import memtrace
import pytest
from memtrace.context import scope
from memtrace.exporters.memory import MemoryExporter
from memtrace.identity import Variable
from memtrace.instruments import placing
from memtrace.instruments.llamaindex.blocks import Filling


class FactBlock:
    """A block as LlamaIndex's own are: settings and private fields beside what is kept."""

    def __init__(self) -> None:
        self.name, self.description, self.max_facts = "facts", "what is known", 3
        self.facts: list[str] = []
        self.summary: str | None = None
        self.models: list[Any] = [object()]
        self._client = "secret"


def said(text: str, kind: str = "Message") -> Variable:
    found = memtrace.find(memtrace.variable(text, kind=kind))
    assert found is not None
    return found


@pytest.fixture
def block(recorded: MemoryExporter) -> Iterator[FactBlock]:
    with placing.of_memory("llamaindex attic", "", what="llamaindex"):
        yield FactBlock()


def filling(block: FactBlock, *messages: Variable) -> Filling:
    return Filling(cast("Any", SimpleNamespace(here=scope.get())), block, "attic", list(messages))


def written(recorded: MemoryExporter) -> list[tuple[str, list[str], str]]:
    """Each write: the operation's name, the values that it used, and the unit's new text."""
    values = {event["variable"]: event["value"] for event in recorded.of("variable")}
    names = {event["operation"]: event["name"] for event in recorded.of("operationStarted")}
    used = [(event["operation"], values[event["variable"]], event.get("role")) for event in recorded.of("used")]
    return [
        (
            names[event["operation"]],
            [value for operation, value, role in used if operation == event["operation"] and role != "before"],
            event["value"],
        )
        for event in recorded.of("variable")
        if event["kind"] == "MemoryUnit" and event.get("operation")
    ]


def test_a_block_s_unit_has_all_that_it_keeps_and_comes_from_the_messages(
    recorded: MemoryExporter, block: FactBlock
) -> None:
    fill = filling(block, said("The code is 7731."), said("Ropes are nice."))
    block.facts, block.summary = ["The code is 7731"], "A talk of ropes"
    fill.store()
    assert written(recorded) == [
        ("FactBlock add", ["The code is 7731.", "Ropes are nice."], "The code is 7731\nA talk of ropes")
    ]
    assert {event["status"] for event in recorded.of("operationEnded")} == {"ok"}


def test_what_has_not_changed_is_not_written_again(recorded: MemoryExporter, block: FactBlock) -> None:
    fill = filling(block, said("Hello."))
    block.description, block._client, block.max_facts = "other words", "other", 5
    block.models.append(object())
    fill.store()
    assert written(recorded) == []
    block.facts.append("They greet")
    fill.store()
    fill.store()
    assert [text for _, _, text in written(recorded)] == ["They greet"]


def test_each_change_comes_from_the_replies_since_the_last_change(recorded: MemoryExporter, block: FactBlock) -> None:
    """A model extracts facts, and then condenses them; the second reply alone decides what is kept then."""
    fill = filling(block, said("The code is 7731."))
    fill.replies.append(said("<fact>code 7731</fact>", "Response"))
    block.facts = ["code 7731", "ropes"]
    fill.store()
    fill.replies.append(said("<fact>ropes</fact>", "Response"))
    block.facts = ["ropes"]
    fill.store()
    block.facts = ["ropes", "knots"]
    fill.store()  # no model was asked: the messages are all that is known
    assert written(recorded) == [
        ("FactBlock add", ["<fact>code 7731</fact>"], "code 7731\nropes"),
        ("FactBlock condense", ["<fact>ropes</fact>"], "ropes"),
        ("FactBlock add", ["The code is 7731."], "ropes\nknots"),
    ]


def test_only_a_lost_text_makes_a_change_a_condensing(recorded: MemoryExporter, block: FactBlock) -> None:
    block.facts, block.summary = ["a dog", "a cat"], "pets"
    fill = filling(block, said("Hello."))
    for facts in (["a cat", "a dog"], ["a cat", "a dog", "a cow"], ["a cat", "a cow", "a hen"], []):
        block.facts = facts
        fill.store()
    assert [name for name, _, _ in written(recorded)] == ["FactBlock add"] * 2 + ["FactBlock condense"] * 2
    assert [text for _, _, text in written(recorded)][-1] == "pets"


def test_two_blocks_of_a_memory_have_a_unit_each(recorded: MemoryExporter, block: FactBlock) -> None:
    other = FactBlock()
    other.name = "wishes"
    for one, facts in ((block, ["a dog"]), (other, ["a boat"]), (block, ["a dog", "a cat"])):
        fill = filling(one, said("Hello."))
        one.facts = facts
        fill.store()
    units = [event for event in recorded.of("variable") if event["kind"] == "MemoryUnit"]
    assert [event["version"] for event in units] == [0, 0, 1]
    assert units[2]["revisionOf"] == units[0]["variable"]
