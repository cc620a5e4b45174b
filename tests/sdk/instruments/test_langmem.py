"""langmem's managers, unchanged: inserted, changed and removed units, and the inputs of these decisions."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.sdk.instruments.running import Run, check_whole
from tests.sdk.instruments.unchanged import FAMILIES, both, complaints, names, past


def script(body: dict[str, Any]) -> str | dict[str, Any]:
    tools = [tool["function"]["name"] for tool in body.get("tools") or ()]
    if "Memory" not in tools:
        return "In Rome."
    text = "\n".join(str(message.get("content")) for message in body["messages"])
    said = text.split("<session_")[1]
    known = re.findall(r"<instance id=\s*([0-9a-f-]+)", text)
    if "forget" in said:
        return call("RemoveDoc", {"json_doc_id": known[0]})
    town = re.search(r"(?:live in|moved to) (\w+)", said)
    assert town is not None
    if known:
        patch = {"op": "replace", "path": "/content", "value": f"The user lives in {town[1]} now."}
        return call("PatchDoc", {"json_doc_id": known[0], "planned_edits": "moved", "patches": [patch]})
    return call("Memory", {"content": f"The user lives in {town[1]}."})


def call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": tool, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"id": "call_1", "type": "function", "function": function}]}


@pytest.fixture(scope="module", params=FAMILIES)
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    return both("langmem_managers.py", request.param, script, tmp_path_factory.mktemp("langmem"))


def of_trace(recorded: Run, name: str) -> Run:
    (trace,) = [event["trace"] for event in recorded.of("trace") if event.get("name") == name]
    return Run(None, [event for event in recorded.events if event["trace"] == trace])


def test_the_program_notices_nothing(runs: tuple[Run, Run]) -> None:
    without, recorded = runs
    assert recorded.said == without.said
    assert recorded.said["kept"] == [["The user lives in Berlin."], ["The user lives in Paris now."], []]
    assert not complaints(without, recorded)
    check_whole(recorded)


def test_a_store_s_unit_is_made_changed_and_removed(runs: tuple[Run, Run]) -> None:
    ann = of_trace(runs[1], "langmem: memories/ann")
    first, second = [event for event in ann.variables("MemoryUnit") if not event.get("reads")]
    assert "Berlin" in first["value"]
    assert "Paris" in second["value"]
    assert second["revisionOf"] == first["variable"]
    assert [event["variable"] for event in ann.of("invalidated")] == [second["variable"]]
    assert past(ann, first, "Message") == {"I live in Berlin."}
    assert past(ann, second, "Message") == {"I live in Berlin.", "I have moved to Paris."}
    assert past(ann, second, "Query") == set()
    counted = names(ann)
    assert (counted["Extraction ChatOpenAI"], counted["Update InMemoryStore.put"]) == (3, 2)
    assert counted["Deletion InMemoryStore.delete"] == 1


def test_an_answer_derives_from_its_question_and_the_message(runs: tuple[Run, Run]) -> None:
    ben = of_trace(runs[1], "langmem: memories/ben")
    reply = ben.only("In Rome.", "Answer")
    assert past(ben, reply, "Query") == {"Where does Ben live?"}
    assert past(ben, reply, "Message") == {"I live in Rome."}


def test_memories_that_only_the_application_keeps(runs: tuple[Run, Run]) -> None:
    _, recorded = runs
    (trace,) = {event["trace"] for event in recorded.variables("MemoryUnit") if "Lisbon" in event["value"]}
    loose = Run(None, [event for event in recorded.events if event["trace"] == trace])
    first, second = [event for event in loose.variables("MemoryUnit") if not event.get("reads")]
    assert "Porto" in second["value"]
    assert second["revisionOf"] == first["variable"]
    assert past(loose, second, "Message") == {"I live in Lisbon.", "I have moved to Porto."}
    assert [event["variable"] for event in loose.of("invalidated")] == [second["variable"]]
