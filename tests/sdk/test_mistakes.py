"""What the application says wrongly, forgets or leaves out: told once, with the place, and nothing is lost but that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import memtrace
import pytest
from memtrace.exporters.memory import MemoryExporter


@pytest.mark.parametrize(
    "kind", ["MemoryUnit", "memory unit", "MEMORY_UNIT", "memory-unit", "memoryunit", " Memory  Unit"]
)
def test_kinds_of_variables_are_taken_as_people_write_them(recorded: MemoryExporter, kind: str) -> None:
    with memtrace.trace(), memtrace.operation("step") as step:
        memtrace.variable("one of them", kind)
        step.output("two of them", kind=kind)
        with memtrace.mutation([], kind=kind):
            pass
    assert {event["kind"] for event in recorded.of("variable")} == {"MemoryUnit"}


def test_kinds_of_operations_are_taken_as_people_write_them(recorded: MemoryExporter) -> None:
    @memtrace.operation(kind="retrieval", inputs={"text": "refined_query"}, output="RETRIEVAL RESULT")
    def search(text: str) -> str:
        return "found it"

    with memtrace.trace():
        search("what is it")
    assert recorded.of("operationStarted")[0]["kind"] == "Retrieval"
    assert [event["kind"] for event in recorded.of("variable")] == ["RefinedQuery", "RetrievalResult"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: memtrace.operation(kind="Retreival"), "'Retreival' is no kind .*did you mean 'Retrieval'"),
        (lambda: memtrace.operation(output="memory_unti"), "'memory_unti' .*did you mean 'MemoryUnit'"),
        (lambda: memtrace.operation(inputs={"text": "Mesage"}), "did you mean 'Message'"),
        (lambda: memtrace.variable("text", "anwser"), "did you mean 'Answer'"),
        (lambda: memtrace.variable("text", "xyz"), "'xyz' is no kind of variable; there are Message, Query"),
        (lambda: memtrace.mutation([], kind="bufer"), "did you mean 'Buffer'"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("is_inside", [True, False])
def test_a_kind_that_is_none_is_refused_where_it_stands(
    recorded: MemoryExporter, wrong: Callable[[], Any], words: str, is_inside: bool
) -> None:
    if is_inside:
        with memtrace.trace(), pytest.raises(ValueError, match=words) as error:
            wrong()
    else:
        with pytest.raises(ValueError, match=words) as error:
            wrong()
    assert str(error.value).startswith(f"{__file__}:{wrong.__code__.co_firstlineno}: ")


def test_a_kind_of_an_input_or_output_that_is_none_is_refused(recorded: MemoryExporter) -> None:
    with memtrace.trace(), memtrace.operation("step") as step:
        with pytest.raises(ValueError, match="did you mean 'Query'"):
            step.input("text", kind="Querry")
        with pytest.raises(ValueError, match="did you mean 'Answer'"):
            step.output("text", kind="Answr")
    assert recorded.of("operationEnded")[0]["status"] == "ok"
