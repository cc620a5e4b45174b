"""Programs that use mem0, unchanged: the exact graph of each version, and that they notice nothing."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.environments import params_of
from tests.sdk.instruments import scripted_openai
from tests.sdk.instruments.mem0_model import model
from tests.sdk.instruments.running import Run, check_whole, run

VERSIONS = params_of("mem0-2.2.1", "mem0-1.0.11", "mem0-1.0.0")

FIRST = "Hello, I am alice. I have a dog called Bo. I live in Berlin."
SECOND = "I moved to Paris last week."
QUESTION = "Where does alice live?"
BOTH_CITIES = "Lives in Paris, and before that in Berlin"


def both(environment: str, what: str, folder: Path, **more: str) -> tuple[Run, Run]:
    """The same program without and with the recorder."""
    with scripted_openai.running(model()) as server:
        without = run(
            "mem0_story.py",
            environment,
            model=server.url,
            folder=folder / "without",
            instrument=None,
            arguments=(what,),
            more=more,
        )
        recorded = run(
            "mem0_story.py", environment, model=server.url, folder=folder / "with", arguments=(what,), more=more
        )
    return without, recorded


def versions(recorded: Run, trace: str | None = None) -> list[tuple[str, int]]:
    """Value and version of all units that were written."""
    return [
        (event["value"], event["version"])
        for event in recorded.variables("MemoryUnit")
        if event.get("stored") == "written" and trace in {None, event["trace"]}
    ]


def ended(recorded: Run) -> list[str]:
    """Values of the units that were deleted."""
    values = {event["variable"]: event["value"] for event in recorded.of("variable")}
    return [values[event["variable"]] for event in recorded.of("invalidated")]


def kinds(recorded: Run, variable: dict[str, Any]) -> Counter[str]:
    return Counter(event["kind"] for event in recorded.closure(variable))


@pytest.fixture(scope="module", params=VERSIONS)
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Run, Run]:
    return request.param, *both(request.param, "story", tmp_path_factory.mktemp("story"))


def test_the_program_notices_nothing(story: tuple[str, Run, Run]) -> None:
    _, without, recorded = story
    assert recorded.said == without.said
    check_whole(recorded)
    assert "scripted-key" not in json.dumps(recorded.events)


def test_a_memory_is_one_trace(story: tuple[str, Run, Run]) -> None:
    _, _, recorded = story
    (trace,) = recorded.of("trace")
    assert trace["name"] == "mem0: user_id=alice"
    assert trace["attributes"]["owner"] == "user_id=alice"


def test_operations_are_exactly_what_mem0_did(story: tuple[str, Run, Run]) -> None:
    environment, _, recorded = story
    model_calls, write = [("mem0 extract", "Extraction")], ("mem0 create", "Update")
    if environment != "mem0-2.2.1":
        model_calls.append(("mem0 decide", "Update"))
    second = write if environment == "mem0-2.2.1" else ("mem0 update", "Update")
    third = write if environment == "mem0-2.2.1" else ("mem0 delete", "Deletion")
    add = ("mem0 add", "Other")
    assert recorded.operations() == [
        *(add, *model_calls, write, write),
        *(add, *model_calls, second),
        *(add, *model_calls, third),
        *(add, *model_calls, write),
        ("mem0 search", "Retrieval"),
        ("openai chat", "Generation"),
        *(add, *model_calls),  # what is said again, and a unit that does not exist, are not written
        ("mem0 get_all", "Retrieval"),
    ]


def test_only_what_reached_the_store_is_written(story: tuple[str, Run, Run]) -> None:
    environment, _, recorded = story
    first = [("Has a dog called Bo", 0), ("Lives in Berlin", 0)]
    if environment == "mem0-2.2.1":
        later = [("Lives in Paris now", 0), ("The dog Bo died", 0), ("Likes to drink green tea", 0)]
        assert (versions(recorded), ended(recorded)) == (first + later, [])
        return
    assert versions(recorded) == [*first, (BOTH_CITIES, 1), ("Likes to drink green tea", 0)]
    assert ended(recorded) == ["Has a dog called Bo"]
    (revised,) = [event for event in recorded.of("variable") if "revisionOf" in event]
    assert revised["revisionOf"] == recorded.only("Lives in Berlin")["variable"]
    assert "It never was there" not in {event["value"] for event in recorded.of("variable")}


def test_a_unit_comes_from_its_message_by_way_of_prompt_and_reply(story: tuple[str, Run, Run]) -> None:
    environment, _, recorded = story
    unit = next(event for event in recorded.variables("MemoryUnit") if event["value"] == "Lives in Berlin")
    closure = recorded.closure(unit)
    assert [event["value"] for event in closure if event["kind"] == "Message"] == [FIRST]
    # In 1.x: the decision and its prompt, the facts and theirs, a system prompt.
    expected = Counter(MemoryUnit=1, Message=1, Prompt=2, Response=1)
    assert kinds(recorded, unit) == (
        expected if environment == "mem0-2.2.1" else expected + Counter(Prompt=1, Response=1)
    )


def test_a_search_tells_all_that_was_considered(story: tuple[str, Run, Run]) -> None:
    environment, _, recorded = story
    values = {event["variable"]: event["value"] for event in recorded.of("variable")}
    considered = [(event["rank"], values[event["variable"]], event["returned"]) for event in recorded.of("considered")]
    scores = [event["score"] for event in recorded.of("considered")]
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)
    if environment != "mem0-2.2.1":
        assert considered == [(0, BOTH_CITIES, True)]  # 1.x asks the store for no more than it gives back
        return
    assert considered[0] == (0, "Lives in Berlin", True)
    assert considered[1] == (1, "Lives in Paris now", False)  # fetched, and cut away
    assert sorted(value for _, value, _ in considered) == [
        "Has a dog called Bo",
        "Likes to drink green tea",
        "Lives in Berlin",
        "Lives in Paris now",
        "The dog Bo died",
    ]


def test_the_answer_s_past_is_one_query_and_the_messages_of_its_units(story: tuple[str, Run, Run]) -> None:
    environment, _, recorded = story
    answer = next(event for event in recorded.of("variable") if _maker(recorded, event) == "openai chat")
    closure = recorded.closure(answer)
    messages = {event["value"] for event in closure if event["kind"] == "Message"}
    assert [event["value"] for event in closure if event["kind"] in {"Query", "RefinedQuery"}] == [QUESTION]
    assert messages == ({FIRST} if environment == "mem0-2.2.1" else {FIRST, SECOND})
    prompt = next(event for event in closure if event["kind"] == "Prompt" and QUESTION in event["value"])
    sources = {edge["source"] for edge in recorded.of("derived") if edge["target"] == prompt["variable"]}
    given = "Lives in Berlin" if environment == "mem0-2.2.1" else BOTH_CITIES
    by_id = {event["variable"]: event for event in recorded.of("variable")}
    assert sorted(by_id[source]["value"] for source in sources) == sorted([QUESTION, given])
    assert all("reads" in by_id[source] for source in sources if by_id[source]["kind"] == "MemoryUnit")


def test_earlier_messages_in_a_prompt_are_known_again(story: tuple[str, Run, Run]) -> None:
    environment, _, recorded = story
    assert len(recorded.variables("Message")) == 5
    roles = Counter(event["role"] for event in recorded.of("used") if event.get("role", "").startswith("earlier"))
    assert roles == ({"earlier user": 1 + 2 + 3 + 4} if environment == "mem0-2.2.1" else {})


def _maker(recorded: Run, variable: dict[str, Any]) -> str | None:
    names = {event["operation"]: event["name"] for event in recorded.of("operationStarted")}
    return names.get(variable.get("operation", ""))


@pytest.mark.full
@pytest.mark.parametrize("environment", VERSIONS)
@pytest.mark.parametrize("what", ["users", "users_async"])
def test_eight_users_at_once_do_not_mix(environment: str, what: str, tmp_path: Path) -> None:
    without, recorded = both(environment, what, tmp_path)
    assert recorded.said == without.said
    check_whole(recorded)
    traces = {event["name"]: event["trace"] for event in recorded.of("trace")}
    assert set(traces) == {f"mem0: user_id=user{number}" for number in range(8)}
    for number in range(8):
        user = f"user{number}"
        here = [event for event in recorded.of("variable") if event["trace"] == traces[f"mem0: user_id={user}"]]
        said = [event["value"] for event in here if event["kind"] == "Message"]
        assert len(said) == (4 if what == "users" else 2)
        assert sum(user in text for text in said) == 1
        (answer,) = [event for event in here if _maker(recorded, event) == "openai chat"]
        closure = recorded.closure(answer)
        assert len([event for event in closure if event["kind"] == "Query"]) == 1
        assert any(user in event["value"] for event in closure if event["kind"] == "Message")
    names = Counter(name for name, _ in recorded.operations())
    assert names["mem0 add"] == 8 * (4 if what == "users" else 2)
    assert names["openai chat"] == names["mem0 search"] == 8


@pytest.mark.parametrize("environment", VERSIONS)
def test_changes_by_hand(environment: str, tmp_path: Path) -> None:
    without, recorded = both(environment, "change", tmp_path)
    assert recorded.said == without.said
    check_whole(recorded)
    assert len(recorded.of("trace")) == 1 + _stray(recorded)
    assert versions(recorded) == [("I live in Berlin.", 0), ("I have a dog.", 0), ("I live in Rome.", 1)]
    assert ended(recorded) == ["I have a dog.", "I live in Rome."]
    assert [name for name, kind in recorded.operations() if kind in {"Update", "Deletion"}] == [
        *("mem0 create", "mem0 create", "mem0 update", "mem0 delete", "mem0 delete_all", "mem0 delete")
    ]
    errors = [event for event in recorded.of("operationEnded") if event["status"] == "error"]
    assert len(errors) == 2


def _stray(recorded: Run) -> int:
    """Calls that fail for an owner who is not named, or a unit that is not there, belong to no user's memory."""
    return len({event["name"] for event in recorded.of("trace")} - {"mem0: user_id=alice"})


@pytest.mark.full
@pytest.mark.parametrize("environment", VERSIONS)
def test_failures_are_the_program_s_own(environment: str, tmp_path: Path) -> None:
    without, recorded = both(environment, "failing", tmp_path)
    assert recorded.said == without.said
    assert "the disk is full" in str(recorded.said)
    check_whole(recorded)
    assert {value for value, _ in versions(recorded)} == {"Lives in Berlin", "Likes to drink green tea"}
    assert "error" in {event["status"] for event in recorded.of("operationEnded")}


@pytest.mark.full
def test_a_hundred_users_in_tasks(tmp_path: Path) -> None:
    without, recorded = both("mem0-2.2.1", "users_async", tmp_path, USERS="100")
    assert recorded.said == without.said
    check_whole(recorded)
    assert len(recorded.of("trace")) == 100


@pytest.mark.full
@pytest.mark.parametrize("environment", VERSIONS)
def test_switched_on_and_off_under_load(environment: str, tmp_path: Path) -> None:
    with scripted_openai.running(model()) as server:
        done = run("mem0_storm.py", environment, model=server.url, folder=tmp_path, instrument=None)
    assert done.said == {"right": True, "whole": True, "originals": True, "once": 1, "faults": {}}


@pytest.mark.full
@pytest.mark.parametrize("environment", VERSIONS)
def test_another_process_reads_what_this_one_wrote(environment: str, tmp_path: Path) -> None:
    with scripted_openai.running(model()) as server:
        options: dict[str, Any] = {"model": server.url, "folder": tmp_path}
        first = run("mem0_story.py", environment, arguments=("story",), **options)
        second = run("mem0_story.py", environment, arguments=("later",), **options)
    assert second.said == first.said[1]
    written = {event["variable"]: event for event in first.variables("MemoryUnit") if event.get("stored") == "written"}
    mentioned = [event for event in second.variables("MemoryUnit") if event.get("stored") == "mentioned"]
    assert mentioned
    assert all(written[event["variable"]]["value"] == event["value"] for event in mentioned)
    assert {event["trace"] for event in second.events} == {event["trace"] for event in first.events}


@pytest.mark.full
@pytest.mark.parametrize("store", ["chroma", "faiss"])
def test_other_vector_stores(store: str, tmp_path: Path) -> None:
    without, recorded = both("mem0-stores", "story", tmp_path, APPLICATION_STORE=store)
    assert recorded.said == without.said
    check_whole(recorded)
    assert [value for value, _ in versions(recorded)] == [
        *("Has a dog called Bo", "Lives in Berlin", "Lives in Paris now", "The dog Bo died", "Likes to drink green tea")
    ]
    assert len(recorded.of("considered")) == 5
    answer = next(event for event in recorded.of("variable") if _maker(recorded, event) == "openai chat")
    assert kinds(recorded, answer)["Query"] == 1


@pytest.mark.parametrize("environment", params_of("mem0-2.2.1"))
def test_the_day_on_which_a_note_expires_is_kept(environment: str, tmp_path: Path) -> None:
    without, recorded = both(environment, "expiring", tmp_path)
    assert recorded.said == without.said
    kept = [
        event["attributes"].get("expires") for event in recorded.of("operationStarted") if event["name"] == "mem0 add"
    ]
    assert kept == ["2999-01-31"]
