"""Rerankers of LangChain: what is recorded of a call that chooses, shortens, fails, or calls another reranker."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from memtrace.context import scope
from memtrace.exporters.memory import MemoryExporter
from memtrace.instruments import placing
from memtrace.instruments.langchain.rerankers import wrappers


def document(text: str, **metadata: Any) -> Any:
    return SimpleNamespace(page_content=text, metadata=metadata, id=None)


TEA, MILK, LONG = document("tea is fine"), document("milk is fine"), document("wine is fine. Beer is not.")


class Reranker:
    """A reranker that returns the given result, or raises the given error."""

    def __init__(self, result: Any) -> None:
        self.result = result

    def compress_documents(self, documents: Any, query: Any) -> Any:
        if isinstance(self.result, Reranker):
            return self.result.compress_documents(documents, query)
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result

    async def acompress_documents(self, documents: Any, query: Any) -> Any:
        await asyncio.sleep(0)
        return self.compress_documents(documents, query)


@pytest.fixture(autouse=True)
def _wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, wrapper in wrappers().items():
        monkeypatch.setattr(Reranker, name, wrapper(getattr(Reranker, name)))


@pytest.fixture
def inside(recorded: MemoryExporter) -> Iterator[None]:
    with placing.of_memory("a store", "", what="langchain"):
        assert scope.get() is not None
        yield


def values(recorded: MemoryExporter) -> dict[str, str]:
    return {event["variable"]: event["value"] for event in recorded.of("variable")}


@pytest.mark.parametrize("is_asynchronous", [False, True])
def test_what_is_kept_is_told_apart_from_what_is_dropped(
    recorded: MemoryExporter, inside: None, is_asynchronous: bool
) -> None:
    reranker, given = Reranker([MILK]), ([TEA, MILK], "what is fine?")
    if is_asynchronous:
        assert asyncio.run(reranker.acompress_documents(*given)) == [MILK]
    else:
        assert reranker.compress_documents(documents=given[0], query=given[1]) == [MILK]
    (begun,), (ended,) = recorded.of("operationStarted"), recorded.of("operationEnded")
    assert (begun["name"], begun["kind"], ended["status"]) == ("Reranker", "Retrieval", "ok")
    texts = values(recorded)
    considered = {texts[event["variable"]]: event["returned"] for event in recorded.of("considered")}
    assert considered == {"tea is fine": False, "milk is fine": True}
    assert {texts[event["query"]] for event in recorded.of("considered")} == {"what is fine?"}


@pytest.mark.parametrize(
    ("error", "status"),
    [(ValueError("no key"), "error"), (asyncio.CancelledError(), "cancelled")],
)
def test_an_error_reaches_the_program_and_the_record(
    recorded: MemoryExporter, inside: None, error: BaseException, status: str
) -> None:
    with pytest.raises(type(error)):
        Reranker(error).compress_documents([TEA], "what is fine?")
    (ended,) = recorded.of("operationEnded")
    assert ended["status"] == status
    assert recorded.of("considered") == []
    # The next call is recorded again.
    Reranker([TEA]).compress_documents([TEA], "what is fine now?")
    assert [event["status"] for event in recorded.of("operationEnded")] == [status, "ok"]


def test_a_shortened_document_is_a_passage_of_the_document_that_has_it(recorded: MemoryExporter, inside: None) -> None:
    Reranker([document("Beer is not.")]).compress_documents([TEA, LONG], "what is not fine?")
    texts = values(recorded)
    (made,) = (event for event in recorded.of("variable") if event["kind"] == "RetrievalResult")
    sources = {texts[event["source"]] for event in recorded.of("derived") if event["target"] == made["variable"]}
    assert (made["value"], sources) == ("Beer is not.", {"what is not fine?", str(LONG.page_content)})


def test_a_reranker_inside_a_reranker_is_one_step(recorded: MemoryExporter, inside: None) -> None:
    Reranker(Reranker([TEA])).compress_documents([TEA, MILK], "what is fine?")
    assert len(recorded.of("operationStarted")) == 1
    assert len(recorded.of("operationEnded")) == 1


@pytest.mark.parametrize(
    ("documents", "query"), [([TEA], None), (iter([TEA]), "what is fine?"), (None, "what is fine?")]
)
def test_what_is_no_call_as_expected_works_unrecorded(
    recorded: MemoryExporter, inside: None, documents: Any, query: Any
) -> None:
    assert Reranker([TEA]).compress_documents(documents, query) == [TEA]
    assert recorded.of("operationStarted") == []


def test_outside_of_all_traces_nothing_is_recorded(recorded: MemoryExporter) -> None:
    assert Reranker([TEA]).compress_documents([TEA], "what is fine?") == [TEA]
    assert recorded.events == []
