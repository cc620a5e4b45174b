"""A graph with two memories on disk, mem0's and a store of LangGraph's, in a process for each day of a week.

What is remembered in one node is answered with in another, and what a guest is asked on Friday comes from what was said
before: the past of an answer reaches it, and faults are found where they were made.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.sdk.instruments import scripted_openai
from tests.sdk.instruments.faults import blamed_operations, complaining
from tests.sdk.instruments.running import Run, check_whole, run
from tests.sdk.instruments.unchanged import past

pytestmark = pytest.mark.full

FACTS = {"hazelnuts": "Allergic to hazelnuts", "sister": "Has a sister called Ilse who lives in Tromso"}
"""What the model extracts for mem0 from a message with this word; of the passport, nothing."""
PREFERENCES = {"window": "Likes window seats on trains", "aisle": "Likes aisle seats on night trains"}
"""The unit that the model makes of a message with this word. Both units have one key, so the later one overwrites."""
WINDOW, AISLE = "I like window seats.", "On night trains I want the aisle."
ILSE, PASSPORT = "My sister Ilse lives in Tromso.", "My passport is kept in the blue drawer at home."
DAYS = {
    "monday": [WINDOW, "I am allergic to hazelnuts."],
    "tuesday": [ILSE, PASSPORT],
    "thursday": [AISLE],
    "friday": ["Which seats do I like on day trains?", "Where is my passport kept?", "Where does my sister Ilse live?"],
}
ANSWERS = [PREFERENCES["aisle"], "That I do not know.", FACTS["sister"]]


def script(body: dict[str, Any]) -> str:
    text = "\n".join(str(message["content"]) for message in body["messages"])
    if "Name the preferences" in text:
        liked = [said for word, said in PREFERENCES.items() if word in text]
        return json.dumps({"seat": liked[0]} if liked else {})
    prompt = str(body["messages"][-1]["content"])
    if "## New Messages" in prompt:
        new = prompt.split("## New Messages", 1)[1].split("## Observation Date", 1)[0]
        found = [fact for word, fact in FACTS.items() if word in new]
        units = [{"id": str(n), "text": fact, "attributed_to": "user"} for n, fact in enumerate(found)]
        return json.dumps({"memory": units})
    question = str(body["messages"][-1]["content"])
    if not question.endswith("?"):
        return "Thank you, I keep that in mind."
    about = next((word for word in ("seats", "sister") if word in question), "passport")
    notes = [line[2:] for line in text.splitlines() if line.startswith("* ")]
    return next((note for note in notes if re.search(about, note)), "That I do not know.")


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Run], Run]:
    """Each day without the recorder, and the whole week with it."""
    folder = tmp_path_factory.mktemp("week")
    days: dict[str | None, list[Run]] = {None: [], "all": []}
    with scripted_openai.running(script) as model:
        for instrument, found in days.items():
            for day, lines in DAYS.items():
                options: dict[str, Any] = {"model": model.url, "folder": folder / str(instrument)}
                options |= {"more": {"OPENAI_API_BASE": model.url}, "arguments": (day, *lines)}
                found.append(run("concierge.py", "graph-mem0", instrument=instrument, **options))
    recorded = days["all"]
    for one in recorded:
        check_whole(one)
    events = [event for one in recorded for event in one.events]
    return days[None], Run([one.said for one in recorded], events, "".join(one.errors for one in recorded))


def asked(recorded: Run, question: str) -> dict[str, Any]:
    """The answer to a question."""
    (query,) = [event for event in recorded.variables("Query") if event["value"] == question]
    from_query = {edge["target"] for edge in recorded.of("derived") if edge["source"] == query["variable"]}
    (reply,) = [one for one in recorded.variables("Response") if one["variable"] in from_query]
    return reply


def test_the_program_notices_nothing(week: tuple[list[Run], Run]) -> None:
    without, recorded = week
    assert recorded.said == [one.said for one in without]
    assert recorded.said[-1] == ANSWERS
    assert {event["name"] for event in recorded.of("trace") if event.get("name")} == {"mem0: user_id=kim"}
    assert len({event["trace"] for event in recorded.events}) == 1


def test_the_past_of_an_answer_reaches_what_was_said_days_before(week: tuple[list[Run], Run]) -> None:
    _, recorded = week
    seats = asked(recorded, DAYS["friday"][0])
    assert past(recorded, seats, "Query") == {DAYS["friday"][0]}
    assert {WINDOW, AISLE} <= past(recorded, seats, "Message")
    assert {json.loads(one)["text"] for one in past(recorded, seats, "MemoryUnit") if one[0] == "{"} == {
        *PREFERENCES.values()
    }
    units = [event for event in recorded.closure(seats) if event["kind"] == "MemoryUnit" and event["value"][0] == "{"]
    assert all(re.search(r"seat in SqliteStore /.*/store\.db$", event["name"]) for event in units)
    sister = asked(recorded, DAYS["friday"][2])
    # The node gave the model the last message only. That is a cut of the history, made from the whole history.
    assert past(recorded, sister, "Query") == set(DAYS["friday"])
    assert ILSE in past(recorded, sister, "Message")


def test_what_a_prompt_beside_the_conversation_asks_is_no_turn_of_it(week: tuple[list[Run], Run]) -> None:
    _, recorded = week
    assert not [event for event in recorded.variables("Buffer") if "Name the preferences" in event["value"]]
    (prompt,) = [event for event in recorded.variables("Prompt") if event["value"].endswith(f"as JSON: {AISLE}")]
    assert {event["value"] for event in recorded.closure(prompt)} == {prompt["value"], AISLE}


def test_each_fault_is_found_where_it_was_made(week: tuple[list[Run], Run], tmp_path: Path) -> None:
    import memtrace

    _, recorded = week
    found: list[tuple[str, str, str]] = []
    for number, gold in enumerate(("Window seats", "In the blue drawer")):
        folder = tmp_path / gold
        folder.mkdir()
        answer = asked(recorded, DAYS["friday"][number])
        with complaining() as said:
            memtrace.feedback(answer["variable"], gold=gold, trace=answer["trace"])
        ((error, operation),) = blamed_operations(recorded, said, folder, lambda name: name).values()
        messages = _had_to_do_with(recorded, operation["operation"])
        found.append((error, operation["name"], next(text for text in (AISLE, PASSPORT) if text in messages)))
    assert found == [("UpdateError", "SqliteStore.put", AISLE), ("ExtractionError", "mem0 extract", PASSPORT)]


def _had_to_do_with(recorded: Run, operation: str) -> set[str]:
    """The messages behind what an operation used, but for what it was only shown as said earlier."""
    used = [one for one in recorded.of("used") if one["operation"] == operation]
    by_id = {event["variable"]: event for event in recorded.variables()}
    of_use = [by_id[one["variable"]] for one in used if not one.get("role", "").startswith("earlier ")]
    kinds = {"Message", "Response"}
    return {text for one in of_use if one["kind"] in kinds for text in past(recorded, one, "Message")}
