"""An index of documents that answers and chats, unchanged, with two versions of LlamaIndex."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sdk.instruments.running import Run, check_whole
from tests.sdk.instruments.unchanged import FAMILIES, both, complaints, considered, names, past

TREES = "Tomas planted twelve apple trees behind the barn."
QUINCE = "The quince beside the gate is from grandmother Halina."
DOG = "The dog Figa guards the trees at night."


def script(body: dict[str, Any]) -> str:
    last = str(body["messages"][-1]["content"])
    return f"About: {last.rpartition('Query: ')[2].partition(chr(10))[0]}"


@pytest.fixture(scope="module", params=FAMILIES)
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    return both("llamaindex_rag.py", request.param, script, tmp_path_factory.mktemp("llama"))


def test_the_program_notices_nothing(runs: tuple[Run, Run]) -> None:
    without, recorded = runs
    assert recorded.said == without.said
    assert not complaints(without, recorded)
    check_whole(recorded)
    assert len({event["trace"] for event in recorded.events}) == 1


def test_one_operation_for_each_call_of_a_model_and_each_retrieval(runs: tuple[Run, Run]) -> None:
    kinds = [kind for _, kind in runs[1].operations()]
    assert kinds.count("Generation") == 6
    assert kinds.count("Retrieval") == 6
    assert kinds.count("Segmentation") == 1
    assert not any(name.startswith("Generation openai chat") for name in names(runs[1]))


@pytest.mark.parametrize(
    ("question", "documents"),
    [
        ("Who guards the trees at night?", {DOG, TREES}),
        ("From whom is the quince beside the gate?", {QUINCE}),
        ("Where are the 11 apple trees?", {DOG, TREES}),
        ("Where are the 12 apple trees?", {DOG, TREES}),
    ],
)
def test_an_answer_derives_from_one_question_and_its_documents(
    runs: tuple[Run, Run], question: str, documents: set[str]
) -> None:
    _, recorded = runs
    reply = recorded.only(f"About: {question}", "Response")
    assert past(recorded, reply, "Query") == {question}
    assert past(recorded, reply, "MemoryUnit") == documents
    assert past(recorded, reply, "Message") == documents


def test_scores_are_told(runs: tuple[Run, Run]) -> None:
    found = considered(runs[1], "Who guards the trees at night?")
    assert [(text, returned) for text, _, returned in found] == [(DOG, True), (TREES, True)]
    scores = [score for _, score, _ in found if score is not None]
    assert len(scores) == 2
    assert scores == sorted(scores, reverse=True)


def test_a_chat_is_one_buffer_that_grows(runs: tuple[Run, Run]) -> None:
    buffers = runs[1].variables("Buffer")
    assert [event["version"] for event in buffers] == [0, 1]
    assert buffers[1]["revisionOf"] == buffers[0]["variable"]
