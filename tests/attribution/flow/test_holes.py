"""What a recording lacks keeps no operation in the dock: the verdict abstains and says what to record."""

from __future__ import annotations

import json

import pytest

from attribution.free_pass.flow import FlowPass
from attribution.trace import passed_over, vain_searches
from attribution.trace.graph import TraceGraph
from attribution.trace.holes import Hole, holes, overwritten_unseen, weakness
from attribution.trace.vain_searches import units_at
from attribution.verdicts.verdict import Verdict
from schema.kinds import DerivationKind, ErrorType, OperationKind, VariableKind
from schema.models import Failure
from store.contract.protocol import Database
from tests.attribution.flow.stories import Story

MESSAGES = ("My dog is called Rufus, he is a beagle.", "I work as a baker in Lisbon.")


class Agent(Story):
    """A memory agent whose store of facts is not recorded."""

    def ask_the_unseen(self, question: str, gold: str, answer: str, returned: str, *, joined: bool = True) -> Failure:
        """A search that returns a text which no recorded step has stored."""
        query = self.trace.variable("question", question, kind=VariableKind.QUERY)
        results = ("results", returned, VariableKind.RETRIEVAL_RESULT)
        found = self.step("search", OperationKind.RETRIEVAL, [query], results)
        read = [query, *found] if joined else [query]
        (told,) = self.step("reply", OperationKind.GENERATION, read, ("answer", answer, VariableKind.ANSWER))
        return self.trace.failure(query, told, gold_answers=(gold,), evidence_ids=(self.evidence[0].id,))


async def graph_of(database: Database, story: Story) -> TraceGraph:
    batch = story.trace.batch()
    store = database.project(batch.trace.project_id)
    await store.write(batch)
    return await TraceGraph.load(store, batch.trace.id)


async def verdict(database: Database, story: Story, failure: Failure) -> tuple[Verdict, list[Hole]]:
    graph = await graph_of(database, story)
    return await FlowPass().attribute(graph, failure), await holes(graph)


async def test_a_search_in_what_nobody_recorded_is_a_hole(sqlite_database: Database) -> None:
    story = Agent.of("hole-search", *MESSAGES)
    story.store(0, "The user's dog is called Bruno.")
    failure = story.ask_the_unseen("What is the dog called?", "Rufus", "Bruno", '["The user is a baker."]')
    found, lacks = await verdict(sqlite_database, story, failure)
    assert found.error_type is None
    assert found.confidence == 0
    assert "the search for the answer returned what no recorded message led to" in found.reason
    assert 'kind="MemoryUnit"' in found.reason
    assert found.candidates[0].error_type is ErrorType.EXTRACTION
    assert [one.problem for one in lacks] == [
        "for 1 of 1 answers, searches return what no recorded message led to",
    ]
    search = next(one for one in story.trace.operations if one.external_id == "search")
    assert lacks[0].examples == (search.id,)


async def test_a_search_whose_results_do_not_reach_the_answer_is_a_hole(sqlite_database: Database) -> None:
    story = Agent.of("hole-answer", *MESSAGES)
    story.store(0, "The user's dog is called Rufus.")
    question = ("What is the dog called?", "Rufus", "Bruno", '["The user is a baker."]')
    failure = story.ask_the_unseen(*question, joined=False)
    found, _ = await verdict(sqlite_database, story, failure)
    assert found.error_type is None
    assert "the answer depends on no message" in found.reason
    assert "memtrace.link" in found.reason


async def test_a_search_in_vain_is_no_hole(sqlite_database: Database) -> None:
    story = Agent.of("hole-vain", *MESSAGES)
    story.store(0, "The user's dog is called Rufus.")
    failure = story.ask_the_unseen("What is the dog called?", "Rufus", "It is not known.", "[]", joined=False)
    found, lacks = await verdict(sqlite_database, story, failure)
    assert found.error_type is not None
    assert lacks == []


async def test_what_was_read_for_the_answer_needs_nothing_else(sqlite_database: Database) -> None:
    story = Agent.of("hole-read", *MESSAGES)
    story.store(0, "The user's dog is called Rufus.")
    results = '["The user\'s dog is called Rufus, he is a beagle."]'
    failure = story.ask_the_unseen("What is the dog called?", "Rufus", "Bruno", results)
    found, _ = await verdict(sqlite_database, story, failure)
    assert found.error_type is ErrorType.RESPONSE


async def test_a_whole_recording_has_no_hole(sqlite_database: Database) -> None:
    story = Story.of("hole-none", *MESSAGES)
    dog = story.store(0, "The user's dog is called Rufus.", key="dog")
    job = story.store(1, "The user is a baker.", key="job")
    failure = story.ask("What is the dog called?", "Rufus", "Bruno", [job])
    found, lacks = await verdict(sqlite_database, story, failure)
    assert (found.error_type, lacks) == (ErrorType.RETRIEVAL, [])
    assert found.path[-2].variable_id == dog.id


@pytest.mark.parametrize("says_it", [True, False], ids=["it is said what is gone", "it is not said"])
async def test_a_deletion_that_only_leaves_units_out_is_a_hole(sqlite_database: Database, says_it: bool) -> None:
    story = Story.of(f"hole-tidy-{says_it}", *MESSAGES)
    dog = story.store(0, "The user's dog is called Rufus.", key="dog")
    job = story.store(1, "The user is a baker.", key="job")
    tidy = story.trace.operation("tidy", kind=OperationKind.DELETION)
    story.trace.use(tidy, dog, job)
    more = {"name": job.name, "version": job.version, "occurrence": 7}
    kept = story.trace.variable(job.external_id, story.trace.text(job), by=tidy, **more)
    story.trace.derive(kept, job, by=tidy, kind=DerivationKind.READ)
    if says_it:
        story.trace.invalidate(tidy, dog)
    lacks = await holes(await graph_of(sqlite_database, story))
    told = [one for one in lacks if "deletions returned some of the units" in one.problem]
    assert [one.examples for one in told] == ([] if says_it else [(tidy.id,)])
    assert all("memtrace.deleted(unit)" in one.fix for one in told)


@pytest.mark.parametrize("when", ["before the question", "after the answer"])
async def test_a_change_out_of_sight_matters_for_what_came_later(sqlite_database: Database, when: str) -> None:
    story = Story.of(f"hole-update {when}", *MESSAGES)
    dog = story.store(0, "The user's dog is called Rufus.", key="dog")
    job = story.store(1, "The user is a baker.", key="job")

    def merge() -> None:
        story.step("merge", OperationKind.UPDATE, [dog, job])

    if when == "before the question":
        merge()
    failure = story.ask("What is the dog called?", "Rufus", "Bruno", [job])
    if when == "after the answer":
        merge()
    graph = await graph_of(sqlite_database, story)
    search = next(one for one in story.trace.operations if one.external_id == "search")
    problem, overwritten = weakness(graph, failure), overwritten_unseen(graph, search.id, {dog.id})
    if when == "before the question":
        assert problem == "no change of the memory is recorded of operation merge"
        assert overwritten.startswith("the recording has a hole: ")
    else:
        assert (problem, overwritten) == ("", "")
    lacks = [one for one in await holes(graph) if "operations that should make one: operation merge" in one.problem]
    assert len(lacks) == 1, "the trace as a whole lacks it either way"


async def test_an_empty_recording_says_all_that_it_lacks(sqlite_database: Database) -> None:
    story = Story.of("hole-all")
    story.trace.variable("unit", "a fact", kind=VariableKind.MEMORY_UNIT)
    lacks = await holes(await graph_of(sqlite_database, story))
    assert [one.problem for one in lacks] == [
        "no message is recorded",
        "no answer is recorded",
        "what the memory keeps came from outside",
    ]


async def test_a_search_that_the_answer_was_not_made_from_is_named(sqlite_database: Database) -> None:
    """A unit has the fact, and the program hands what the search returned on in a text of its own."""
    story = Agent.of("hole-unread", *MESSAGES)
    story.store(0, MESSAGES[0])
    query = story.trace.variable("question", "What is the dog called?", kind=VariableKind.QUERY)
    search = story.trace.operation("search", kind=OperationKind.RETRIEVAL, name="Desk.look_up")
    story.trace.use(search, query)
    results = story.trace.variable("results", "The user is a baker.", by=search, kind=VariableKind.RETRIEVAL_RESULT)
    story.trace.derive(results, query, by=search)
    read = [query, story.evidence[1]]
    (told,) = story.step("reply", OperationKind.GENERATION, read, ("answer", "Bruno", VariableKind.ANSWER))
    failure = story.trace.failure(query, told, gold_answers=("Rufus",), evidence_ids=(story.evidence[0].id,))
    found, lacks = await verdict(sqlite_database, story, failure)
    assert found.error_type is None
    assert "no recorded step used what Desk.look_up returned for this question" in found.reason
    assert "memtrace.link" in found.reason
    (hole,) = [one for one in lacks if one.problem == "no recorded step used what these searches returned"]
    assert hole.examples == (search.id,)


async def test_a_search_whose_results_were_used_is_no_hole(sqlite_database: Database) -> None:
    story = Agent.of("hole-used", *MESSAGES)
    story.store(0, MESSAGES[0])
    failure = story.ask_the_unseen("What is the dog called?", "Rufus", "Bruno", '["The user is a baker."]')
    _, lacks = await verdict(sqlite_database, story, failure)
    assert not [one for one in lacks if "no recorded step used" in one.problem]


async def test_a_text_that_another_search_returned_may_have_come_from_either(sqlite_database: Database) -> None:
    """Equal prompts are recorded once, so the second search of the same unit seems unused."""
    story = Agent.of("hole-equal", *MESSAGES)
    for number, is_used in enumerate((True, False)):
        query = story.trace.variable(f"question-{number}", f"Question {number}?", kind=VariableKind.QUERY)
        results = (f"results-{number}", "The user is a baker.", VariableKind.RETRIEVAL_RESULT)
        found = story.step(f"search-{number}", OperationKind.RETRIEVAL, [query], results)
        read = [query, *(found if is_used else [])]
        story.step(f"reply-{number}", OperationKind.GENERATION, read, (f"answer-{number}", "Yes.", VariableKind.ANSWER))
    lacks = await holes(await graph_of(sqlite_database, story))
    assert not [one for one in lacks if "no recorded step used" in one.problem]


@pytest.mark.parametrize("change", ["rewrite", "delete", "nothing"])
async def test_a_search_for_a_unit_that_is_changed_then_was_used(sqlite_database: Database, change: str) -> None:
    story = Agent.of(f"hole-{change}", *MESSAGES)
    unit = story.store(0, MESSAGES[0])
    query = story.trace.variable("hint", "Which dog?", kind=VariableKind.QUERY)
    search = story.trace.operation("search", kind=OperationKind.RETRIEVAL)
    story.trace.use(search, query, unit)
    more = {"name": unit.name, "version": unit.version, "occurrence": 1}
    read = story.trace.variable(unit.external_id, MESSAGES[0], by=search, **more)
    story.trace.derive(read, unit, by=search, kind=DerivationKind.READ)
    story.trace.derive(read, query, by=search)
    if change == "rewrite":
        story.rewrite(unit, "My dog is called Bello.")
    elif change == "delete":
        story.delete(unit)
    lacks = await holes(await graph_of(sqlite_database, story))
    assert bool([one for one in lacks if "no recorded step used" in one.problem]) is (change == "nothing")


@pytest.mark.parametrize("said", [{}, {"dialect": "other"}, "a text"])
async def test_another_recorder_may_have_an_attribute_called_otel(sqlite_database: Database, said: object) -> None:
    story = Agent.of(f"hole-otel-{said}", *MESSAGES)
    outer = story.trace.operation("outer", kind=OperationKind.OTHER, attributes=json.dumps({"otel": said}))
    story.trace.operation("inner", kind=OperationKind.TOOL, attributes=json.dumps({"parentId": outer.id}))
    lacks = await holes(await graph_of(sqlite_database, story))
    is_plain = said == {"dialect": "other"}
    assert bool([one for one in lacks if "of kind Other" in one.problem]) is not is_plain


@pytest.mark.parametrize("store", ["", "chroma /data/c"])
async def test_searches_are_compared_with_the_memory_once_each(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch, store: str
) -> None:
    looked: list[int] = []

    def counted(graph: TraceGraph, place: int) -> list[str]:
        looked.append(place)
        return units_at(graph, place)

    monkeypatch.setattr(vain_searches, "units_at", counted)
    monkeypatch.setattr(passed_over, "units_at", counted)
    story = Agent.of(f"hole-passed-{bool(store)}", *MESSAGES)
    units = [story.store(0, f"My dog is called Rufus {number}.", key=f"unit{number}") for number in range(20)]
    query = story.trace.variable("question", "What is my dog called?", kind=VariableKind.QUERY)
    searches = []
    for number in range(3):
        search = story.trace.operation(
            f"search-{number}",
            kind=OperationKind.RETRIEVAL,
            location="app.py:1",
            attributes=json.dumps({"store": store} if store else {}),
        )
        story.trace.use(search, query, *units[:15])
        story.trace.variable(f"found-{number}", "Rufus", search, kind=VariableKind.RETRIEVAL_RESULT)
        searches.append(search.id)
    graph = await graph_of(sqlite_database, story)
    looked.clear()
    assert await passed_over.passed_over(graph) == ([] if store else searches)
    assert len(looked) == (0 if store else 2 * len(searches))
