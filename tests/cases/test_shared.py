"""Programs that are kept outside of the project, run unchanged with real packages; skipped where they are absent."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from schema.kinds import Status
from schema.models import Operation
from tests.cases.shared_programs import (
    ABSENT,
    IS_THERE,
    all_of,
    ask_store,
    count_traces,
    recorded,
    still_running,
    verdict_on,
)

pytestmark = pytest.mark.skipif(not IS_THERE, reason=ABSENT)


class Wanted(NamedTuple):
    """What must be said of a program's answer.

    Attributes:
        words: of the wrong answer.
        operation: the name of the blamed operation.
        reason: words of the verdict's reason.
        traces: the number of traces that the program makes.
    """

    case: str
    environment: str
    words: str
    gold: str
    error_type: str
    operation: str
    reason: str
    traces: int = 1


WANTED = [
    Wanted("search_that_finds_nothing", "mem0-2.2.1", "no note", "AB negative", "RetrievalError", "mem0 search",
           "returned nothing, and was limited by (user_id=u1, agent_id=assistant-1); 1 unit is recorded as stored"),
    Wanted("delete_all_of_one_user", "mem0-1.0.0", "I do not know", "Peanuts and cashew nuts", "DeletionError",
           "mem0 delete_all", "by a call for user_id=alice that emptied the store", traces=2),
    Wanted("chinese_update", "mem0-1.0.11", "对不起", "你喜欢吃烤冷面", "UpdateError", "mem0 update",
           "its next version does not have it"),
    Wanted("json_in_prose", "mem0-2.2.1", "I don't know", "Lisbon", "UpdateError", "mem0 extract",
           "lost between the reply and the store"),
    Wanted("reflection_in_background", "langchain", "I do not know", "A nice red car", "RetrievalError",
           "InMemoryStore.search", "the search ran too early"),
    Wanted("summary_middleware", "langchain", "I do not have", "4417", "UpdateError",
           "SummarizationMiddleware.before_model", "left it out of what it made"),
    Wanted("trimmed_history", "langchain", "I do not have", "4417", "DeletionError", "trim",
           "the new history that the operation made does not have it"),
    Wanted("sliding_window", "mem0-2.2.1", "You have not told", "4417", "DeletionError", "openai chat",
           "no longer in the prompt"),
    Wanted("memory_tools", "langchain", "lives in Ghent.", "Bruges", "ExtractionError", "ChatOpenAI",
           "what it wrote into the memory does not have it"),
    Wanted("responses_api_chain", "mem0-2.2.1", "4471", "4417", "ResponseError", "openai responses",
           "the answer was made from a text that has the needed fact", traces=2),
    Wanted("llamaindex_memory_blocks", "langchain", "I do not have", "4417", "UpdateError",
           "FactExtractionMemoryBlock condense", "its next version does not have it"),
]  # fmt: skip


@pytest.mark.parametrize("wanted", WANTED, ids=lambda one: one.case)
def test_what_is_said(wanted: Wanted, tmp_path: Path) -> None:
    path = recorded(wanted.case, wanted.environment, tmp_path)
    said = ask_store(path, lambda store: verdict_on(store, wanted.words, wanted.gold))
    assert (said.verdict.error_type, said.blamed) == (wanted.error_type, wanted.operation)
    assert wanted.reason in said.verdict.reason
    assert said.verdict.confidence >= 0.8
    assert said.answered, "an application's answer is an Answer, also of programs that mark nothing"
    assert ask_store(path, count_traces) == wanted.traces
    assert not ask_store(path, still_running)


def test_a_node_with_a_prompt_and_a_model_is_one_operation(tmp_path: Path) -> None:
    path = recorded("prompt_and_model_in_a_node", "langchain", tmp_path)
    made = ask_store(path, lambda store: all_of(store, Operation))
    assert Counter(one.name for one in made)["talk"] == 1
    assert {one.status for one in made} == {Status.OK}
