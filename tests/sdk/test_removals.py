"""A deletion ends the units that it takes out of the lists and dictionaries that it was given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import memtrace
import pytest
from memtrace.exporters.memory import MemoryExporter

from tests.sdk.graph import check


@dataclass
class Note:
    """A unit that is no text."""

    text: str


@memtrace.operation(kind="Extraction", output="MemoryUnit", each=True)
def notes_in(message: str) -> list[Note]:
    return [Note(part) for part in message.split(". ")]


@memtrace.operation(kind="Extraction", output="MemoryUnit", each=True)
def facts_in(message: str) -> list[str]:
    return message.split(". ")


def ended(recorded: MemoryExporter) -> list[str]:
    """The values of the units that have ended, each with the name of the operation."""
    check(recorded.events)
    values = {event["variable"]: event["value"] for event in recorded.of("variable")}
    names = {event["operation"]: event["name"] for event in recorded.of("operationStarted")}
    return [f"{names[event['operation']]}: {values[event['variable']]}" for event in recorded.of("invalidated")]


def run(change: Callable[[Any], Any], kind: str = "Deletion", held: Callable[[list[Any]], Any] = list) -> None:
    """Record two facts, and an operation of this kind that is given a list with both."""

    @memtrace.operation("clear", kind=kind)
    def clear(memory: Any) -> Any:
        return change(memory)

    with memtrace.trace():
        clear(held(facts_in("The sky was blue. The grass was wet")))


def test_what_is_taken_out_of_a_list_has_ended(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Deletion")
    def clear(notes: list[Note], day: int) -> None:
        notes[:] = [one for one in notes if "sky" not in one.text]

    with memtrace.trace():
        notes = notes_in("The sky was blue. The grass was wet")
        clear(notes, 3)
        clear(notes, 4)
    assert ended(recorded) == ['clear: {"text":"The sky was blue"}']


@pytest.mark.parametrize(
    ("change", "held", "found"),
    [
        (lambda memory: memory.pop(0), list, ["The sky was blue"]),
        (lambda memory: memory.clear(), list, ["The sky was blue", "The grass was wet"]),
        (lambda memory: memory.pop("a"), lambda facts: dict(zip("ab", facts, strict=True)), ["The sky was blue"]),
        (lambda memory: memory["all"].pop(), lambda facts: {"all": list(facts)}, ["The grass was wet"]),
        (lambda memory: memory.reverse(), list, []),
        (lambda memory: memory[1:], list, []),  # a new list: the given one still has all
        (lambda memory: memory.__setitem__(slice(None), [one.upper() for one in memory]), list, []),
        (lambda memory: memory.__setitem__(0, "The sky was grey"), list, []),
    ],
    ids=["pop", "clear", "of a dictionary", "nested", "order", "a new list", "written anew", "replaced"],
)
def test_only_what_is_gone_has_ended(
    recorded: MemoryExporter, change: Callable[[Any], Any], held: Callable[[list[str]], Any], found: list[str]
) -> None:
    run(change, held=held)
    assert ended(recorded) == [f"clear: {fact}" for fact in found]


def test_other_kinds_of_operations_delete_nothing(recorded: MemoryExporter) -> None:
    for kind in ("Update", "Generation", "Retrieval", "Other"):
        run(lambda memory: memory.clear(), kind=kind)
    assert ended(recorded) == []


def test_a_deletion_that_fails_has_not_deleted(recorded: MemoryExporter) -> None:
    def change(memory: list[str]) -> None:
        memory.clear()
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run(change)
    assert ended(recorded) == []


def test_a_unit_that_moves_to_another_list_is_still_there(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Deletion")
    def move(source: list[str], target: list[str]) -> None:
        target.append(source.pop())

    with memtrace.trace():
        move(facts_in("The sky was blue. The grass was wet"), facts_in("It was May. It rained"))
    assert ended(recorded) == []


async def test_deletions_that_wait(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="Deletion")
    async def clear(facts: list[str]) -> None:
        facts.pop()

    with memtrace.trace():
        await clear(facts_in("The sky was blue. The grass was wet"))
        facts = facts_in("It was May. It rained")
        with memtrace.operation("in a block", kind="Deletion") as step:
            step.input(facts)
            facts.pop()
    assert ended(recorded) == ["clear: The grass was wet", "in a block: It rained"]
