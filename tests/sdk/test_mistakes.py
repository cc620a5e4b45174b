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


_WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: memtrace.operation(kind="Retreival"), "'Retreival' is no kind of operation (did you mean 'Retrieval'?)"),
    (lambda: memtrace.operation(output="memory_unti"), "(did you mean 'MemoryUnit'?)"),
    (lambda: memtrace.operation(inputs={"text": "Mesage"}), "(did you mean 'Message'?)"),
    (lambda: memtrace.variable("text", "anwser"), "(did you mean 'Answer'?)"),
    (lambda: memtrace.variable("text", "xyz"), "'xyz' is no kind of variable and counts as 'Other'; there are Message"),
    (lambda: memtrace.mutation([], kind="bufer"), "(did you mean 'Buffer'?)"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "words"), _WRONG)
def test_a_kind_that_is_none_is_told_with_its_line(
    caplog: pytest.LogCaptureFixture, wrong: Callable[[], Any], words: str
) -> None:
    memtrace.configure(exporter=MemoryExporter())
    with memtrace.trace():
        wrong()
    told = [record.getMessage() for record in caplog.records if "is no kind" in record.getMessage()]
    assert words in told[0]
    assert f" at {__file__}:{wrong.__code__.co_firstlineno} " in told[0]


def test_what_has_no_kind_is_recorded_all_the_same() -> None:
    memtrace.configure(exporter=(exporter := MemoryExporter()))
    with memtrace.trace(), memtrace.operation("step", kind="Thinking") as step:
        step.input("text", kind="Querry")
        step.output("text made of it", kind="Answr")
    assert [event["kind"] for event in exporter.of("operationStarted")] == ["Other"]
    assert [event["kind"] for event in exporter.of("variable")] == ["Other", "Other"]
    assert exporter.of("operationEnded")[0]["status"] == "ok"


@pytest.mark.parametrize("redact", [["emails"], "emails", [None], 5])
def test_masks_that_are_no_functions_are_refused(recorded: MemoryExporter, redact: Any) -> None:
    with pytest.raises(ValueError, match=r"redact must be functions .* such as memtrace\.redact\.emails, got"):
        memtrace.configure(exporter=MemoryExporter(), redact=redact)
    with memtrace.trace():
        memtrace.variable("still recorded", "Message")
    assert len(recorded.of("variable")) == 1


def test_one_mask_needs_no_list() -> None:
    memtrace.configure(exporter=(exporter := MemoryExporter()), redact=memtrace.redact.emails)
    with memtrace.trace():
        memtrace.variable("write to a.b@example.org", "Message")
    memtrace.configure(exporter=MemoryExporter())
    assert "example.org" not in exporter.of("variable")[0]["value"]
