"""The question of an answer, found among the inputs of its operation and in its past."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from ingest.events.questions import questions_of, without_rephrased
from schema.kinds import ARGUMENT, TURN, OperationKind, VariableKind
from schema.models import Variable
from store.contract.protocol import Database, GraphStore
from tests.factory import TraceBuilder

pytestmark = pytest.mark.one_engine

QUERY, MESSAGE, PROMPT = VariableKind.QUERY, VariableKind.MESSAGE, VariableKind.PROMPT
RESPONSE, ANSWER = VariableKind.RESPONSE, VariableKind.ANSWER


@pytest.fixture
def store(database: Database) -> GraphStore:
    return database.project(f"test-{uuid4().hex}")


@pytest.fixture
def trace(store: GraphStore) -> TraceBuilder:
    return TraceBuilder(store.project_id)


def given(trace: TraceBuilder, name: str, kind: VariableKind, *sources: Variable, **more: Any) -> Variable:
    """A variable from outside, or one that was made of sources."""
    step = trace.operation(f"making {name}") if sources else None
    made = trace.variable(name, name, step, kind=kind, **more)
    if step is not None:
        trace.use(step, *sources)
        trace.derive(made, *sources, by=step)
    return made


def answer(trace: TraceBuilder, *used: Variable, name: str = "answer", kind: VariableKind = ANSWER) -> Variable:
    step = trace.operation(f"answering {name}", kind=OperationKind.GENERATION)
    made = trace.variable(name, name, step, kind=kind)
    trace.use(step, *used)
    trace.derive(made, *used, by=step)
    return made


async def asked(store: GraphStore, trace: TraceBuilder, *answers: Variable) -> list[list[str]]:
    await trace.write(store)
    found = await questions_of(store, answers)
    return [[one.external_id for one in found[each.id]] for each in answers]


async def test_a_query_among_the_inputs_is_the_question(store: GraphStore, trace: TraceBuilder) -> None:
    earlier = given(trace, "earlier", QUERY)
    query = given(trace, "query", QUERY, earlier)
    later = given(trace, "later", MESSAGE, category=TURN)
    assert await asked(store, trace, answer(trace, query, query, later)) == [["query"]]


async def test_the_newest_turn_is_the_question(store: GraphStore, trace: TraceBuilder) -> None:
    turns = [given(trace, name, MESSAGE, category=TURN) for name in ("first", "second")]
    other = given(trace, "no turn", MESSAGE)
    quoted_last = answer(trace, *reversed(turns), name="quoted last")
    assert await asked(store, trace, answer(trace, *turns, other), quoted_last) == [["second"], ["second"]]


async def test_the_question_stands_in_the_prompt_or_further_back(store: GraphStore, trace: TraceBuilder) -> None:
    query = given(trace, "query", QUERY)
    prompt = given(trace, "prompt", PROMPT, query)
    context = prompt
    for number in range(12):
        context = given(trace, f"context {number}", VariableKind.CONTEXT, context)
    answers = answer(trace, prompt), answer(trace, context, name="far")
    assert await asked(store, trace, *answers) == [["query"], ["query"]]


async def test_a_message_that_is_newer_than_the_queries_of_the_past(store: GraphStore, trace: TraceBuilder) -> None:
    old = given(trace, "old message", MESSAGE)
    query = given(trace, "query", QUERY)
    history = given(trace, "history", PROMPT, query)
    before = answer(trace, old, history, name="before")
    new = given(trace, "new message", MESSAGE)
    after = answer(trace, old, history, new, name="after")
    assert await asked(store, trace, before, after) == [["query"], ["new message"]]


@pytest.mark.parametrize("category", [None, ARGUMENT])
async def test_a_query_that_a_model_wrote_is_not_the_question(
    store: GraphStore, trace: TraceBuilder, category: str | None
) -> None:
    message = given(trace, "message", MESSAGE)
    kind = VariableKind.OTHER if category else RESPONSE
    written = given(trace, "written", QUERY, given(trace, "call", kind, message, category=category))
    assert await asked(store, trace, answer(trace, message, written)) == [["message"]]


async def test_a_query_that_a_model_wrote_is_better_than_nothing(store: GraphStore, trace: TraceBuilder) -> None:
    written = given(trace, "written", QUERY, given(trace, "call", RESPONSE))
    own = given(trace, "own", QUERY, given(trace, "context", VariableKind.CONTEXT))
    message = given(trace, "message", MESSAGE)
    answers = answer(trace, written), answer(trace, written, own, message, name="both")
    assert await asked(store, trace, *answers) == [["written"], ["written", "own"]]


@pytest.mark.parametrize(
    ("queries", "found"),
    [
        (["A new unit.", "Who has the key?", "Another unit."], ["Who has the key?"]),
        (["钥匙在谁那里？", "新的记录"], ["钥匙在谁那里？"]),
        (["Who has the key?", "Where is the key?"], ["Who has the key?", "Where is the key?"]),
        (["key holder", "key place"], ["key holder", "key place"]),
    ],
)
async def test_the_only_query_that_asks_is_the_question(
    store: GraphStore, trace: TraceBuilder, queries: list[str], found: list[str]
) -> None:
    made = [given(trace, one, QUERY) for one in queries]
    assert await asked(store, trace, answer(trace, *made)) == [found]


async def test_of_several_queries_the_one_that_was_made_of_the_newest_message(
    store: GraphStore, trace: TraceBuilder
) -> None:
    messages = [given(trace, f"message {number}", MESSAGE) for number in (1, 2)]
    queries = [given(trace, f"query {number}", QUERY, message) for number, message in enumerate(messages, 1)]
    both = answer(trace, *queries, *messages)
    first = answer(trace, *queries, messages[0], name="first")
    none = answer(trace, *queries, given(trace, "message 3", MESSAGE), name="none")
    assert await asked(store, trace, both, first, none) == [["query 2"], ["query 1"], ["query 1", "query 2"]]


async def test_without_queries_messages_prompts_and_the_past_are_asked(store: GraphStore, trace: TraceBuilder) -> None:
    messages = [given(trace, f"message {number}", MESSAGE) for number in (1, 2)]
    prompts = [given(trace, f"prompt {number}", PROMPT, category=TURN) for number in (1, 2)]
    context = given(trace, "context", VariableKind.CONTEXT, *messages)
    answers = [
        answer(trace, *messages, *prompts, name="messages"),
        answer(trace, *prompts, name="prompts"),
        answer(trace, context, name="past"),
        answer(trace, given(trace, "alone", VariableKind.CONTEXT), name="nothing"),
    ]
    assert await asked(store, trace, *answers) == [["message 1", "message 2"], ["prompt 2"], ["message 2"], []]


async def test_a_reply_that_is_handed_out_has_the_question_of_the_reply(store: GraphStore, trace: TraceBuilder) -> None:
    query, other = given(trace, "query", QUERY), given(trace, "other", QUERY)
    reply = answer(trace, query, name="reply", kind=RESPONSE)
    handed = answer(trace, reply, name="handed")
    with_more = answer(trace, reply, other, name="with more")
    outside = trace.variable("outside", "outside", kind=ANSWER)
    assert await asked(store, trace, handed, with_more, outside) == [["query"], ["other"], []]


async def test_a_question_in_other_words_with_which_a_memory_was_searched_is_no_answer(
    store: GraphStore, trace: TraceBuilder
) -> None:
    message, other = given(trace, "message", MESSAGE), given(trace, "other message", MESSAGE)
    words = answer(trace, message, name="in other words")
    handed = trace.operation("searching")
    query = trace.variable("query", "in other words", handed, kind=VariableKind.REFINED_QUERY)
    trace.use(handed, words)
    trace.derive(query, words, by=handed)
    unit = given(trace, "in other words than before", VariableKind.MEMORY_UNIT, words)
    last, alone = answer(trace, message, unit, name="last"), answer(trace, other, name="alone")
    await trace.write(store)
    answers = [words, last, alone]
    questions = await questions_of(store, answers)
    assert await without_rephrased(store, answers, questions) == [last, alone]
    assert await without_rephrased(store, [words, alone], questions) == [words, alone]


async def test_what_the_user_said_is_behind_a_query_that_a_model_wrote(store: GraphStore, trace: TraceBuilder) -> None:
    said = given(trace, "said", MESSAGE)
    translated = given(trace, "translated", RESPONSE, given(trace, "prompt", PROMPT, said))
    query = given(trace, "query", QUERY, translated)
    assert await asked(store, trace, answer(trace, given(trace, "filled", PROMPT, query))) == [["said"]]


async def test_an_answer_with_the_beginning_of_a_later_search_is_an_answer(
    store: GraphStore, trace: TraceBuilder
) -> None:
    message = given(trace, "message", MESSAGE)
    long = "The harbour has a boathouse. " * 40
    first = answer(trace, message, name=f"{long}It is red.")
    searched = trace.operation("searching")
    query = trace.variable("query", f"{long}Whose is it?", searched, kind=VariableKind.REFINED_QUERY)
    trace.use(searched, first)
    trace.derive(query, first, by=searched)
    last = answer(trace, message, given(trace, "unit", VariableKind.MEMORY_UNIT, query), name="last")
    await trace.write(store)
    answers = [first, last]
    assert await without_rephrased(store, answers, await questions_of(store, answers)) == answers
