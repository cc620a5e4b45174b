"""A call of a model uses the searches for its question that found nothing."""

from __future__ import annotations

from typing import Any

import memtrace
import pytest
from memtrace import empty_searches
from memtrace.exporters.memory import MemoryExporter


def search(query: Any = None, *found: str, kind: str = "Query", name: str = "search") -> Any:
    """A search; returns its question."""
    asked = memtrace.variable(query, kind) if type(query) is str and memtrace.find(query) is None else query

    @memtrace.operation(name, kind="Retrieval")
    def run(*given: object) -> list[str]:
        return list(found)

    run(*([] if asked is None else [asked]))
    return asked


def answer(*given: Any, name: str = "answer") -> None:
    @memtrace.operation(name, kind="Generation")
    def run(*given: object) -> str:
        return f"said in {name}"

    run(*given)


def used(recorded: MemoryExporter, name: str = "answer") -> list[str]:
    """The names of the searches whose empty results an operation used."""
    steps = {event["operation"]: event["name"] for event in recorded.of("operationStarted")}
    made = {event["variable"]: steps.get(event.get("operation"), "") for event in recorded.of("variable")}
    return [
        made[event["variable"]]
        for event in recorded.of("used")
        if event.get("role") == "found nothing" and steps[event["operation"]] == name
    ]


def test_a_search_that_found_nothing_belongs_to_the_answer(recorded: MemoryExporter) -> None:
    with memtrace.trace("t"):
        query = search("where?")
        answer(query)
        answer(query, name="again")
    assert (used(recorded), used(recorded, "again")) == (["search"], ["search"])


def test_a_search_that_returns_none_makes_an_empty_list(recorded: MemoryExporter) -> None:
    with memtrace.trace("t"):
        query = memtrace.variable("where?", "Query")
        memtrace.operation("search", kind="Retrieval")(lambda asked: None)(query)
        answer(query)
    assert used(recorded) == ["search"]
    (empty,) = [one for one in recorded.of("variable") if one["kind"] == "RetrievalResult"]
    assert (empty["name"], empty["value"]) == ("found nothing", "[]")


def test_a_search_that_found_something_does_not(recorded: MemoryExporter) -> None:
    with memtrace.trace("t"):
        answer(search("where?", "here"))
    assert used(recorded) == []


def test_searches_for_one_question_add_up(recorded: MemoryExporter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(empty_searches, "MAX_SEARCHES", 2)
    with memtrace.trace("t"):
        query = memtrace.variable("where?", "Query")
        for number in range(3):
            search(query, name=f"search {number}")
        answer(query)
    assert used(recorded) == ["search 1", "search 2"]


def test_only_the_newest_question_counts(recorded: MemoryExporter) -> None:
    with memtrace.trace("t"):
        first, second = search("where?", name="first"), search("when?", name="second")
        answer(first, second, name="both")
        answer(first, name="one")
        answer("no question", name="none")
    assert (used(recorded, "both"), used(recorded, "one"), used(recorded, "none")) == (["second"], ["first"], [])


def test_a_refined_query_belongs_to_no_later_call(recorded: MemoryExporter) -> None:
    with memtrace.trace("t"):
        search("words", kind="RefinedQuery")
        answer("a prompt")
    assert used(recorded) == []


def test_a_listing_without_a_question_belongs_to_the_next_call(recorded: MemoryExporter) -> None:
    with memtrace.trace("t"):
        search(name="first")
        search(name="second")
        query = search("where?", name="asked")
        answer(query, name="next")
        answer(query, name="later")
    assert (used(recorded, "next"), used(recorded, "later")) == (["asked", "first", "second"], ["asked"])


@pytest.mark.parametrize(("kind", "output", "found"), [("Update", "MemoryUnit", []), ("Other", "Other", ["search"])])
def test_a_listing_before_a_unit_is_stored_belongs_to_the_storing(
    recorded: MemoryExporter, kind: str, output: str, found: list[str]
) -> None:
    with memtrace.trace("t"):
        search()
        memtrace.operation("step", kind=kind, output=output)(lambda: "Ann lives in Bonn.")()
        answer("prompt")
    assert used(recorded) == found


def test_a_listing_belongs_to_its_session(recorded: MemoryExporter) -> None:
    with memtrace.trace("t"):
        with memtrace.session(id="one"):
            search()
        with memtrace.session(id="two"):
            answer("prompt", name="other")
        with memtrace.session(id="one"):
            answer("prompt", name="same")
        search(name="outside")
        answer("prompt", name="outside too")
    assert (used(recorded, "other"), used(recorded, "same")) == ([], ["search"])
    assert used(recorded, "outside too") == ["outside"]


def test_a_listing_that_found_something_is_not_used(recorded: MemoryExporter) -> None:
    with memtrace.trace("t"):
        search(None, "here")
        answer("prompt")
    assert used(recorded) == []


def test_an_empty_result_that_was_given_is_used_once(recorded: MemoryExporter) -> None:
    with memtrace.trace("t"):
        query = memtrace.variable("where?", "Query")
        with memtrace.operation("search", kind="Retrieval") as step:
            step.input(query)
            empty = step.output("[]", "found", kind="RetrievalResult")
        answer(query, empty)
        answer(query, name="later")
    (made,) = [one["variable"] for one in recorded.of("variable") if one["kind"] == "RetrievalResult"]
    operations = {one["operation"]: one["name"] for one in recorded.of("operationStarted")}
    uses = [operations[one["operation"]] for one in recorded.of("used") if one["variable"] == made]
    assert sorted(uses) == ["answer", "later"]
