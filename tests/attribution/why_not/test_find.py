"""What is told of each piece, on both engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from secrets import token_hex
from types import SimpleNamespace
from typing import Any

import pytest

from attribution.needed.presence import Presence
from attribution.run import Options, attribute
from attribution.verdicts.stored import every_failure
from attribution.why_not.find import why_not
from attribution.why_not.model import LONGEST, Fate, WhyNot
from attribution.why_not.retrieval import _held, _Rating
from schema.kinds import HUMAN_METHOD, ErrorType, VariableKind
from schema.models import Failure
from store.contract.protocol import Database
from tests.attribution.flow.stories import Story
from tests.attribution.why_not import graphs
from tests.factory import TraceBuilder

pytestmark = pytest.mark.one_engine

Graph = Callable[[str], tuple[Story, Failure]]


async def told_of(database: Database, story: Story, failure: Failure) -> list[WhyNot]:
    """What is told of a failure that is written to a project of its own."""
    store = database.project(story.trace.project)
    await story.trace.write(store)
    return (await why_not(store, [failure]))[failure.id]


async def only(database: Database, graph: Graph) -> tuple[Story, WhyNot]:
    """What is told of the only piece of a failure."""
    story, failure = graph(f"why-{token_hex(4)}")
    (one,) = await told_of(database, story, failure)
    assert (one.piece, one.message_external_id, one.said_after) == (graphs.PIECE, "message-0", False)
    return story, one


async def test_a_search_that_lost_it(database: Database) -> None:
    _, one = await only(database, graphs.retrieval)
    assert (one.error_type, one.operation_external_id) == (ErrorType.RETRIEVAL, "search")
    (held,) = one.held
    assert (held.external_id, held.rank, held.score, held.returned) == ("parrot-1", 3, 0.25, False)
    assert held.quote == graphs.KNOWN
    assert held.operation_id == one.operation_id
    shown = [(unit.external_id, unit.rank, unit.score, unit.holds) for unit in one.returned]
    assert shown == [("crane-1", 1, 0.9, False), ("bread-1", 2, 0.5, False)]
    assert (one.held_count, one.considered, one.returned_count) == (1, 3, 2)
    assert not one.context
    assert not one.extractions
    assert not one.changes


async def test_a_unit_whose_text_was_returned_counts_as_returned(database: Database) -> None:
    told = graphs.story(f"why-{token_hex(4)}", "copied")
    told.store(0, graphs.KNOWN, key="parrot")
    copy = told.store(0, graphs.KNOWN, key="copy")
    failure = told.ask(graphs.QUESTION, graphs.GOLD, graphs.NOTHING, [copy])
    (one,) = await told_of(database, told, failure)
    assert [(unit.external_id, unit.returned) for unit in one.held] == [("parrot-1", True), ("copy-1", True)]


async def test_a_search_without_recorded_ranks(database: Database) -> None:
    story, failure = graphs.retrieval(f"why-{token_hex(4)}")
    story.trace.usages = [one for one in story.trace.usages if one.role is None]
    (one,) = await told_of(database, story, failure)
    assert [(unit.external_id, unit.rank, unit.score) for unit in one.held] == [("parrot-1", None, None)]
    assert [(unit.external_id, unit.rank) for unit in one.returned] == [("bread-1", None), ("crane-1", None)]
    assert one.considered is None
    assert one.held[0].operation_id is None


async def test_what_has_more_text_than_is_asked_for_is_left_out(database: Database) -> None:
    story, failure = graphs.retrieval(f"why-{token_hex(4)}")
    (piece,) = await told_of(database, story, failure)
    messages = [one.size for one in story.trace.variables if one.kind is VariableKind.MESSAGE]
    others = [one.size for one in story.trace.variables if one.kind is not VariableKind.MESSAGE]
    enough = sum(messages) + max(others)
    store = database.project(story.trace.project)
    assert await why_not(store, [failure], enough) == {failure.id: [piece]}
    assert await why_not(store, [failure], enough - 1) == {}


async def test_only_units_that_were_current_held_it(database: Database) -> None:
    story, failure = graphs.update(f"why-{token_hex(4)}")
    story.store(0, graphs.KNOWN, key="later")  # after the search
    (one,) = await told_of(database, story, failure)
    assert one.held == []


async def test_an_extraction_that_left_it_out(database: Database) -> None:
    _, one = await only(database, graphs.extraction)
    assert (one.error_type, one.operation_external_id) == (ErrorType.EXTRACTION, "extract-unit")
    (found,) = one.extractions
    assert [(sentence.text, sentence.is_piece) for sentence in found.uncovered] == [
        (graphs.PIECE, True),
        (graphs.CELLO, False),
    ]
    assert found.uncovered[0].nearest == graphs.BIRD
    assert (found.sentences, found.uncovered_count) == (2, 2)
    assert [fact.text for fact in found.facts] == [graphs.BIRD]
    assert one.held == []


async def test_what_a_fact_covers_is_not_left_out(database: Database) -> None:
    story = graphs.story(f"why-{token_hex(4)}", "covered")
    unit = story.store(0, f"{graphs.BIRD} The sister plays cello in Lisbon.")
    (one,) = await told_of(database, story, story.ask(graphs.QUESTION, graphs.GOLD, graphs.NOTHING, [unit]))
    (found,) = one.extractions
    assert [sentence.text for sentence in found.uncovered] == [graphs.PIECE]


async def test_an_update_and_all_that_it_was_shown(database: Database) -> None:
    _, one = await only(database, graphs.update)
    assert (one.error_type, one.operation_external_id) == (ErrorType.UPDATE, "tidy")
    (found,) = one.changes
    assert found.operation == "tidy up"
    assert [(unit.external_id, unit.fate, unit.old, unit.new) for unit in found.candidates] == [
        ("parrot-1", Fate.REWRITTEN, graphs.KNOWN, "The family has a pet."),
        ("bread-1", Fate.DROPPED, graphs.MORE, None),
        ("crane-1", Fate.KEPT, graphs.OTHER, None),  # it stood in the prompt only
    ]
    assert [(unit.held, unit.holds) for unit in found.candidates] == [(True, False), (False, False), (False, False)]
    assert [unit.text for unit in found.added] == ["Weekends are calm here."]
    assert found.candidates_count == 3


async def test_a_deletion(database: Database) -> None:
    _, one = await only(database, graphs.deletion)
    assert one.error_type is ErrorType.DELETION
    (found,) = one.changes
    assert [(unit.external_id, unit.fate, unit.held, unit.holds) for unit in found.candidates] == [
        ("parrot-1", Fate.DROPPED, True, False)
    ]


async def test_a_fact_that_an_update_did_not_store(database: Database) -> None:
    story = graphs.story(f"why-{token_hex(4)}", "storing")
    unit = story.store(0, graphs.KNOWN, graphs.BIRD)
    (one,) = await told_of(database, story, story.ask(graphs.QUESTION, graphs.GOLD, graphs.NOTHING, [unit]))
    (found,) = one.changes
    assert [fact.text for fact in found.given] == [graphs.KNOWN]
    assert [unit.text for unit in found.added] == [graphs.BIRD]
    assert found.candidates == []


async def test_long_texts_are_shown_where_they_changed(database: Database) -> None:
    story = graphs.story(f"why-{token_hex(4)}", "long")
    before, after = "The morning was quiet. " * 60, "The evening was loud. " * 60
    old, new = f"{before}{graphs.KNOWN} {after}", f"{before}They have a pet. {after}"
    unit = story.rewrite(story.store(0, old), new)
    (one,) = await told_of(database, story, story.ask(graphs.QUESTION, graphs.GOLD, graphs.NOTHING, [unit]))
    ((candidate,),) = (change.candidates for change in one.changes)
    assert graphs.KNOWN in candidate.old
    assert "They have a pet." in (candidate.new or "")
    assert len(candidate.old) <= LONGEST + 2
    assert len(candidate.new or "") <= LONGEST + 2


async def test_an_answer_that_read_it(database: Database) -> None:
    story, one = await only(database, graphs.response)
    assert (one.error_type, one.operation_external_id) == (ErrorType.RESPONSE, "reply")
    (place,) = one.context
    text = "\n".join([graphs.MORE, graphs.KNOWN, graphs.OTHER])
    assert place.kind is VariableKind.CONTEXT
    assert (place.characters, place.offset, place.quote) == (len(text), len(graphs.MORE) + 1, graphs.KNOWN)
    assert place.before == text[: place.offset]
    assert text[place.offset + len(place.quote) :].startswith(place.after)
    assert place.after.strip() == graphs.OTHER
    assert [unit.external_id for unit in one.returned if unit.holds] == ["parrot-1"]
    assert [unit.returned for unit in one.held] == [True]
    assert story.trace.failures


async def test_pieces_are_told_one_by_one(database: Database) -> None:
    story, failure = graphs.several(f"why-{token_hex(4)}")
    first, second = await told_of(database, story, failure)
    assert (first.piece, first.error_type) == (graphs.PIECE, ErrorType.EXTRACTION)
    assert (second.piece, second.error_type) == ("Our cat is called Bellini.", ErrorType.RESPONSE)
    assert not first.context
    assert second.context


async def test_nothing_is_stored_and_no_verdict_is_needed(database: Database) -> None:
    story, failure = graphs.retrieval(f"why-{token_hex(4)}")
    store = database.project(story.trace.project)
    await story.trace.write(store)
    before = await store.stats(story.trace.trace.id)
    without = await why_not(store, [failure])
    assert (await store.stats(story.trace.trace.id)).labels == before.labels
    async for _ in attribute(store, [failure], Options()):
        pass
    assert await why_not(store, await every_failure(store, None)) == without


async def test_what_a_person_blames_is_looked_at_too(database: Database) -> None:
    story, failure = graphs.retrieval(f"why-{token_hex(4)}")
    extracts = next(one for one in story.trace.operations if one.external_id == "extract-parrot")
    crane = next(one for one in story.trace.operations if one.external_id == "extract-crane")
    said = {"operation_id": extracts.id, "error_type": ErrorType.EXTRACTION, "author": "eva"}
    story.trace.attribution(failure, HUMAN_METHOD, **said)
    (one,) = await told_of(database, story, failure)
    assert one.error_type is ErrorType.RETRIEVAL
    assert [found.operation_id for found in one.extractions] == [extracts.id]
    # One that had nothing to do with the piece is not.
    foreign, other = graphs.retrieval(f"why-{token_hex(4)}")
    elsewhere = next(one for one in foreign.trace.operations if one.external_id == crane.external_id)
    foreign.trace.attribution(other, HUMAN_METHOD, **(said | {"operation_id": elsewhere.id}))
    (one,) = await told_of(database, foreign, other)
    assert one.extractions == []


async def test_what_was_said_after_the_question(database: Database) -> None:
    story = graphs.story(f"why-{token_hex(4)}", "later")
    failure = story.ask(graphs.QUESTION, graphs.GOLD, graphs.NOTHING, [])
    story.store(0, graphs.KNOWN)
    (one,) = await told_of(database, story, failure)
    assert one.said_after
    assert one.held == []


@pytest.mark.parametrize(
    "change",
    [{"gold_answers": ("I don't know.",)}, {"answer_id": None}],
    ids=["nothing tells it", "no answer is known"],
)
async def test_no_piece_where_none_can_be_followed(database: Database, change: dict[str, object]) -> None:
    story, failure = graphs.retrieval(f"why-{token_hex(4)}")
    assert await told_of(database, story, replace(failure, **change)) == []  # type: ignore[arg-type]


def test_a_unit_that_no_search_returned_has_the_rank_of_the_last_search_that_rated_it() -> None:
    """The last search had the best words to find it; a search that returned it counts before all others."""
    trace = TraceBuilder("shop")
    unit = trace.variable("unit", graphs.KNOWN, kind=VariableKind.MEMORY_UNIT)
    graph: Any = SimpleNamespace(variables={unit.id: unit})
    rated = {
        "first": {unit.id: _Rating(7, 0.1, is_returned=False)},
        "second": {unit.id: _Rating(3, 0.2, is_returned=False)},
        "third": {"another": _Rating(1, 0.9, is_returned=True)},
    }
    searches = ["first", "second", "third"]
    here = Presence(0.9, graphs.KNOWN)
    found = [_held(graph, unit.id, here, by, searches, rated) for by in (None, "first", "third")]
    assert [(one.operation_id, one.rank, one.score, one.returned) for one in found] == [
        ("second", 3, 0.2, False),
        ("first", 7, 0.1, True),
        ("third", None, None, True),
    ]
    unrated = _held(graph, unit.id, here, None, searches, {})
    assert (unrated.operation_id, unrated.rank, unrated.returned) == (None, None, False)
