"""A chain that answers from documents, unchanged, with LangChain 1 and 0.3: exactly what is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.sdk.instruments.running import Run, check_whole
from tests.sdk.instruments.unchanged import FAMILIES, both, complaints, considered, names, past, sources

TREES = "Tomas planted twelve apple trees behind the barn."
QUINCE = "The quince beside the gate is from grandmother Halina."
DOG = "The dog Figa guards the trees at night."
PRESS = "The old press makes ninety litres of juice an hour."

STORE = "InMemoryVectorStore in memory"
CONTEXTS = {
    "Who guards the trees at night?": {DOG, TREES},
    "From whom is the quince beside the gate?": {DOG, PRESS},
    "How much juice makes the press in 2 hours?": {DOG, PRESS},
    "How much juice makes the press in 3 hours?": {DOG, PRESS},
    "Where are the apple trees?": {DOG, TREES},
    "What is behind the barn?": {DOG, TREES},
}
"""The documents that reached the prompt of each question: the two shortest of the three that were found."""


def script(body: dict[str, Any]) -> str:
    return f"About: {body['messages'][-1]['content']}"


@pytest.fixture(scope="module", params=FAMILIES)
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    return both("langchain_rag.py", request.param, script, tmp_path_factory.mktemp("rag"))


def test_the_program_notices_nothing(runs: tuple[Run, Run]) -> None:
    without, recorded = runs
    assert recorded.said == without.said == [f"About: {question}" for question in CONTEXTS]
    assert not complaints(without, recorded)


def test_a_search_names_its_store(runs: tuple[Run, Run]) -> None:
    _, recorded = runs
    names_of = {event["operation"]: event["name"] for event in recorded.of("operationStarted")}
    ended = [one for one in recorded.of("operationEnded") if names_of[one["operation"]] == "VectorStoreRetriever"]
    assert len(ended) == 6
    stores = {event.get("attributes", {}).get("store", "")[: len(STORE)] for event in ended}
    assert stores == {STORE}


def test_each_step_is_one_operation_in_the_memory_s_trace(runs: tuple[Run, Run]) -> None:
    _, recorded = runs
    check_whole(recorded)
    assert names(recorded) == {
        "Generation ChatOpenAI": 6,
        "Other ChatPromptTemplate": 6,
        "Other give the answer": 6,
        "Other joined": 6,
        "Retrieval Shortest": 6,
        "Retrieval VectorStoreRetriever": 6,
        "Segmentation InMemoryVectorStore.add_documents": 1,
    }
    assert len({event["trace"] for event in recorded.events}) == 1


def test_each_document_is_linked_to_exactly_the_prompts_that_it_reached(runs: tuple[Run, Run]) -> None:
    _, recorded = runs
    prompts = recorded.variables("Prompt")
    assert len(prompts) == len(CONTEXTS)
    for question, documents in CONTEXTS.items():
        (prompt,) = [event for event in prompts if question in event["value"]]
        (context,) = [value for kind, value in sources(recorded, prompt) if kind == "Context"]
        assert sources(recorded, prompt) == {("Query", question), ("Context", context)}
        reached = {event["value"] for event in recorded.closure(prompt) if event["kind"] == "MemoryUnit"}
        assert reached == documents == set(context.split("\n"))


def test_the_past_of_an_answer_is_one_question_and_the_messages_of_its_documents(runs: tuple[Run, Run]) -> None:
    _, recorded = runs
    for question, documents in CONTEXTS.items():
        reply = recorded.only(f"About: {question}", "Response")
        assert past(recorded, reply, "Query") == {question}
        assert past(recorded, reply, "Message") == documents


def test_all_candidates_are_told_with_their_scores(runs: tuple[Run, Run]) -> None:
    _, recorded = runs
    found = considered(recorded, "Who guards the trees at night?")
    searched, reranked = found[:3], found[3:]
    assert [text for text, _, _ in searched] == [DOG, TREES, PRESS]
    assert all(returned for _, _, returned in searched)
    scores = [score for _, score, _ in searched]
    assert scores == sorted((score for score in scores if score is not None), reverse=True)
    assert {(text, returned) for text, _, returned in reranked} == {(DOG, True), (TREES, True), (PRESS, False)}


def is_new(run: Run, unit: dict[str, Any]) -> bool:
    """Whether a unit was made of a message, rather than read."""
    return {kind for kind, _ in sources(run, unit)} == {"Message"}


@pytest.mark.full
def test_what_runs_before_the_search_or_beside_it_is_in_the_memory_s_trace(tmp_path: Path) -> None:
    without, recorded = both("langchain_before_search.py", "langchain", script, tmp_path)
    assert recorded.said == without.said
    assert not complaints(without, recorded)
    check_whole(recorded)
    *answers, of_two_stores, alone = recorded.said
    assert len(answers) == 14
    (added,) = [
        event for event in recorded.variables("MemoryUnit") if event["value"] == DOG and is_new(recorded, event)
    ]
    memory = added["trace"]
    for answer in answers:
        reply = recorded.only(answer, "Response")
        assert reply["trace"] == memory
        assert past(recorded, reply, "MemoryUnit") == {DOG}
        asked = {value for value in past(recorded, reply, "Message") if "Who guards the trees at night?" in value}
        assert past(recorded, reply, "Message") - asked == {DOG}
        (prompt,) = [value for kind, value in sources(recorded, reply) if kind == "Prompt"]
        assert DOG in prompt
    changed = recorded.only(answers[3], "Response")
    assert any("The animal." in value for value in past(recorded, changed, "Query"))
    cleaned = recorded.only(answers[4], "Response")
    (searched,) = [event for event in recorded.closure(cleaned) if event["kind"] == "Query"]
    assert searched["value"].startswith("CLEANED BEFORE IT: ")
    assert past(recorded, searched, "Message") == {"cleaned before it: Who guards the trees at night?"}
    rewritten = recorded.only(answers[5], "Response")
    assert any(value.startswith("About: Rewrite: ") for value in past(recorded, rewritten, "Query"))
    # A chain with two stores belongs to neither, where a model comes first.
    assert recorded.only(of_two_stores, "Response")["trace"] != memory
    # What uses no memory is recorded too, in a trace of its own.
    (other,) = [event for event in recorded.variables() if event["value"].endswith("And nothing else.")]
    assert (other["trace"] == memory, alone) == (False, [len(other["value"])])


@pytest.mark.full
@pytest.mark.parametrize(
    ("store", "method"), [("faiss", "from_texts"), ("chroma", "add_texts"), ("qdrant", "add_documents")]
)
def test_real_vector_stores(store: str, method: str, tmp_path: Path) -> None:
    without, recorded = both("langchain_rag.py", "langchain-stores", script, tmp_path, {"APPLICATION_STORE": store})
    assert recorded.said == without.said == [f"About: {question}" for question in CONTEXTS]
    check_whole(recorded)
    assert len({event["trace"] for event in recorded.events}) == 1
    counted = names(recorded)
    (added,) = [name for name in counted if name.startswith("Segmentation")]
    assert (added.rpartition(".")[2], counted[added], counted["Retrieval VectorStoreRetriever"]) == (method, 1, 6)
    for question in CONTEXTS:
        reply = recorded.only(f"About: {question}", "Response")
        (prompt,) = [value for kind, value in sources(recorded, reply) if kind == "Prompt"]
        documents = {line for line in prompt.split("\n") if line in {TREES, QUINCE, DOG, PRESS}}
        assert len(documents) == 2
        assert past(recorded, reply, "Query") == {question}
        assert past(recorded, reply, "MemoryUnit") == past(recorded, reply, "Message") == documents
    searched = considered(recorded, "Who guards the trees at night?")[:3]
    assert len({text for text, _, _ in searched} & {TREES, QUINCE, DOG, PRESS}) == 3
    assert all(score is not None for _, score, _ in searched)
