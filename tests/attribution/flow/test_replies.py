"""Long replies as gold answers: sentences that rest on earlier messages, and the operation that lost most of them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from attribution.needed.messages import Messages
from attribution.needed.pieces import Piece, reply_pieces
from attribution.text.bm25 import Bm25
from attribution.trace.graph import TraceGraph
from schema.kinds import ErrorType, OperationKind
from schema.models import Failure
from store.contract.protocol import Database
from store.open import open_database
from tests.attribution.flow.stories import Story
from tests.attribution.flow.test_rules import verdict_on


def is_known(message: str) -> bool:
    return True


CHATTER = [f"Something else of the day, number {n}: gulls, fog, herring and ropes." for n in range(8)]


@pytest_asyncio.fixture
async def embedded(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Database]:
    async with await open_database(f"sqlite:///{tmp_path_factory.mktemp('replies') / 'replies.db'}") as opened:
        yield opened


def said(name: str, content: str) -> str:
    return json.dumps({"content": content, "name": name})


async def pieces(embedded: Database, told: Story, failure: Failure) -> list[Piece]:
    store = embedded.project("rules")
    await told.trace.write(store)
    messages = await Messages.read(await TraceGraph.load(store, told.trace.trace.id))
    return reply_pieces(messages, failure, (), is_known)


async def test_advice_that_is_like_much_rests_on_nothing_where_something_is_named(embedded: Database) -> None:
    advice = "Stretch slowly before each session and drink plenty of water."
    told = Story.of("rules", said("Ada", "My plan is called the Lighthouse Regatta."), said("Ben", advice), *CHATTER)
    gold = f"Good!\n\nThen we go on with the **Lighthouse Regatta** plan.\n\n{advice}"
    failure = told.ask("What is next?", gold, "The parrot is grey.", [], evidence=None)
    (piece,) = await pieces(embedded, told, failure)
    assert [one.message_id for one in piece] == [told.evidence[0].id]


async def test_where_nothing_is_named_all_sentences_are_looked_at(embedded: Database) -> None:
    advice = "Stretch slowly before each session and drink plenty of water."
    told = Story.of("rules", said("Ben", advice), *CHATTER)
    failure = told.ask("What is next?", f"Good!\n\n{advice}", "The parrot is grey.", [], evidence=None)
    (piece,) = await pieces(embedded, told, failure)
    assert [one.message_id for one in piece] == [told.evidence[0].id]


def test_each_group_has_its_best() -> None:
    texts = {f"long-{n}": ["harbour", "anchor", "keel"] for n in range(5)} | {"short": ["harbour"]}
    found = Bm25(texts).search_apart(["harbour", "anchor", "keel"], 2, is_known, lambda key: key.partition("-")[0])
    assert found == ["long-0", "long-1", "short"]


async def test_what_another_said_too_is_found_beside_the_long_replies_of_one(embedded: Database) -> None:
    fact = "The 'amber pelican' workshop begins with the copper lantern."
    more = "We could also talk about the harbour, the anchor and the keel again, as so often."
    replies = [said("Ben", f"{fact} {more} Part {n}.") for n in range(12)]
    chatter = [f"Another day, number {n}: {CHATTER[n % 8]}" for n in range(400)]
    told = Story.of("rules", *replies, said("Ada", "For the amber pelican workshop: the copper lantern."), *chatter)
    gold = f"Sure!\n\n{fact}\n\n{more}"
    failure = told.ask("What is next?", gold, "The parrot is grey.", [], evidence=None)
    (piece,) = await pieces(embedded, told, failure)
    assert told.evidence[12].id in [one.message_id for one in piece]


async def test_the_sentence_that_takes_most_decides(embedded: Database) -> None:
    rich = "The 'Lighthouse Regatta' crew is Marigold, Thaddeus, Quillon and Isolde, with the walnut oars."
    told = Story.of("rules", said("Ben", "Our 'brass kettle' is ready."), said("Ada", rich), *CHATTER)
    told.step("extract-kettle", OperationKind.EXTRACTION, [told.evidence[0]])
    told.store(1, rich, key="crew")
    other = told.store(3, CHATTER[1], key="other")
    gold = f"Sure!\n\n{rich}\n\nAnd the 'brass kettle' is ready."
    failure = told.ask("What is next?", gold, "The parrot is grey.", [other], evidence=None)
    verdict, blamed = await verdict_on(embedded, told, failure)
    assert {one.error_type for one in verdict.losses} == {ErrorType.EXTRACTION, ErrorType.RETRIEVAL}
    assert (verdict.error_type, blamed) == (ErrorType.RETRIEVAL, "search")
