"""What a model wrote into the memory stands in for the part of a history that was cut off."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from schema.kinds import DerivationKind, ErrorType, OperationKind, VariableKind
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.stories import Story
from tests.attribution.flow.test_rules import verdict_on


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('stood') / 'stood.db'}") as opened:
        yield opened


@pytest.mark.parametrize(
    ("is_given", "wanted"),
    [
        (True, (ErrorType.EXTRACTION, "extract")),
        (False, (ErrorType.UPDATE, "flush")),  # the model never saw what was cut off
    ],
)
async def test_the_model_that_writes_facts_of_what_is_cut_off(
    embedded: Database, is_given: bool, wanted: tuple[ErrorType, str]
) -> None:
    told = Story.of("rules", "Our tenor Ivo must never eat hazelnuts.", "The hall is heated.", name=f"choir {is_given}")
    trace, said = told.trace, told.evidence
    append = trace.operation("append", kind=OperationKind.UPDATE)
    whole = trace.variable("history-1", trace.text(said[0]), by=append, kind=VariableKind.BUFFER, name="history")
    trace.use(append, said[0])
    trace.derive(whole, said[0], by=append)
    model = trace.operation("extract", kind=OperationKind.EXTRACTION)
    read = said if is_given else said[1:]
    reply = trace.variable("facts", "The tenor Ivo has a diet.", by=model, kind=VariableKind.RESPONSE)
    trace.use(model, *read)
    trace.derive(reply, *read, by=model)
    add = trace.operation("add", kind=OperationKind.UPDATE)
    unit = trace.variable("block-1", trace.text(reply), by=add, kind=VariableKind.MEMORY_UNIT, name="block", version=1)
    trace.use(add, reply)
    trace.derive(unit, reply, by=add)
    flush = trace.operation("flush", kind=OperationKind.UPDATE)
    short = trace.variable(
        "history-2", "[]", by=flush, kind=VariableKind.BUFFER, name="history", version=2, revision_of=whole.id
    )
    trace.use(flush, whole, unit)
    trace.derive(short, whole, unit, by=flush)
    query = trace.variable("question", "What must Ivo never eat?", kind=VariableKind.QUERY)
    chat = trace.operation("chat", kind=OperationKind.GENERATION)
    answer = trace.variable("answer", "I don't know.", by=chat, kind=VariableKind.ANSWER)
    trace.use(chat, query, short, unit)
    trace.derive(answer, query, short, unit, by=chat)
    failure = trace.failure(query, answer, gold_answers=("hazelnuts",), evidence_ids=(said[0].id,))
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert (verdict.error_type, blamed) == wanted


@pytest.mark.parametrize("is_returned", [True, False])
async def test_a_unit_that_was_returned_and_not_handed_on(embedded: Database, is_returned: bool) -> None:
    told = Story.of("rules", "The children sleep in the red tent.", "The dog sleeps outside.", name=f"t {is_returned}")
    units = [told.store(0, "The children sleep in the red tent."), told.store(1, "The dog sleeps outside.", key="dog")]
    trace = told.trace
    query = trace.variable("question", "In which tent do the children sleep?", kind=VariableKind.QUERY)
    search = trace.operation("search", kind=OperationKind.RETRIEVAL)
    trace.use(search, query, *units)
    read = []
    for unit in units if is_returned else units[1:]:
        one = trace.variable(
            unit.external_id, trace.text(unit), by=search, name=unit.name, version=unit.version, occurrence=1
        )
        trace.derive(one, unit, by=search, kind=DerivationKind.READ)
        trace.derive(one, query, by=search)
        read.append(one)
    chat = trace.operation("chat", kind=OperationKind.GENERATION)
    answer = trace.variable("answer", "I don't know.", by=chat, kind=VariableKind.ANSWER)
    trace.use(chat, query, read[-1])
    trace.derive(answer, query, read[-1], by=chat)
    failure = trace.failure(query, answer, gold_answers=("the red tent",), evidence_ids=(told.evidence[0].id,))
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert blamed == (None if is_returned else "search")
    assert ("search returned a unit with the needed fact" in verdict.reason) is is_returned


@pytest.mark.parametrize(
    ("said", "question", "gold", "is_said"),
    [
        ("The Okers left a parcel in the hall.", "Which flap of the stove must be opened?", "the left flap", False),
        ("On the stove, use the left one.", "Which flap of the stove must be opened?", "the left flap", True),
        ("The Okers have 19 hens.", "Which peg has the key of the boat?", "19", False),
    ],
)
async def test_a_common_word_off_the_topic_is_no_evidence(
    embedded: Database, said: str, question: str, gold: str, is_said: bool
) -> None:
    told = Story.of("rules", said, "The cook bakes on Fridays.", name=f"hut {said}")
    failure = told.ask(question, gold, "The notes do not say.", [told.store(0, said)], None)
    _, blamed = await verdict_on(embedded, told, failure)
    assert blamed == ("reply" if is_said else None)
