"""The documents of --json are public: programs rely on their names."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from api.cli.context import DEFAULT_PROJECT
from tests.cli.conftest import SAMPLE, Cli
from tests.contract.samples import assistant
from tests.factory import TraceBuilder
from tests.queue.sets import closed_set, event_line

TRACE = "id projectId externalId name source createdAt attributes"
OPERATION = (
    "id projectId traceId sessionId externalId name kind category comment status sequence startedAt endedAt location "
    "attributes"
)
VARIABLE = (
    "id projectId traceId sessionId externalId name className version occurrence kind category comment preview value "
    "valueHash size mediaType sequence createdAt location attributes"
)
FAILURE = (
    "id projectId traceId origin questionId answerId expectedId evidenceIds question prediction goldAnswers createdAt "
    "attributes questionExternalId answerExternalId verdicts"
)
ATTRIBUTION = (
    "id projectId traceId failureId errorType operationId confidence method model reason evidence candidates tokens "
    "cost seconds createdAt author attributes losses questionKind proof"
)
IMPORT = "file traceId created existing variables occurrences operations derivations reads sessions failures seconds"


def has(document: dict[str, Any], names: str) -> bool:
    return set(names.split()) <= set(document)


@pytest.fixture
def notes(stored: Callable[[TraceBuilder], Cli]) -> Cli:
    return stored(assistant(DEFAULT_PROJECT))


def recorded() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(SAMPLE.read_text("utf-8"))["data"]
    return data


def test_import_reports_each_file(cli: Cli) -> None:
    (first,) = cli("import", SAMPLE, "--json").json
    assert has(first, IMPORT)
    data = recorded()
    counts = {name: first[name] for name in ("variables", "operations", "derivations", "sessions")}
    assert counts == {
        "variables": len(data["nodes"]),
        "operations": len(data["operations"]),
        "derivations": len(data["edges"]),
        "sessions": len(data["sessions"]),
    }
    assert first["file"] == str(SAMPLE)
    assert first["failures"] == 3
    assert first["created"]["Variable"] == first["variables"] + first["occurrences"]
    assert first["created"]["Derivation"] == first["derivations"] + first["reads"]
    (again,) = cli("import", SAMPLE, "--json").json
    assert again["existing"] == first["created"]
    assert not any(again["created"].values())


def test_import_reads_standard_input_and_folders(cli: Cli, tmp_path: Path) -> None:
    piped, _ = cli.process("import", "-", "--json", stdin=subprocess.PIPE).communicate(SAMPLE.read_bytes())
    folder = tmp_path / "folder" / "deep"
    folder.mkdir(parents=True)
    (folder / "graph.json").write_bytes(SAMPLE.read_bytes())
    (found,) = cli("import", folder.parent, "--json").json
    assert found["traceId"] == json.loads(piped)[0]["traceId"]
    assert found["file"] == str(folder / "graph.json")


def test_import_takes_events_too(cli: Cli, tmp_path: Path) -> None:
    lines = closed_set("an agent", 4, Random(1))
    path = tmp_path / "events.ndjson"
    path.write_bytes(b"\n".join(lines))
    (found,) = cli("import", tmp_path, "--json").json
    assert has(found, IMPORT)
    assert not {"traceIds", "rejected"} & set(found)
    assert cli("trace", "an agent", "--json").json["id"] == found["traceId"]
    path.write_bytes(b"\n".join([*lines, event_line("used", "another", operation="o", variable="v", position=0)]))
    result = cli("import", path, "--json", code=4)
    (again,) = result.json
    assert again["existing"] == found["created"]
    assert again["traceIds"][0] == found["traceId"]
    line = len(lines) + 1
    assert again["rejected"] == [{"line": line, "reason": "variable: there is no variable 'v' in this trace"}]
    assert f"{path}: line {line}: variable: there is no variable 'v' in this trace" in result.err
    assert f"{path}: trace {found['traceId'][:8]}" in (shown := cli("import", path, code=4)).out
    assert "and 1 other, nothing added" in shown.out
    assert "what else is in the file is stored" in shown.err


def test_import_names_the_file_that_failed_and_goes_on(cli: Cli, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"graph_id": "g", "data": {"nodes": [')
    result = cli("import", tmp_path / "none.json", broken, SAMPLE, "--json", code=4)
    missing, bad, good = result.json
    assert set(missing) == set(bad) == {"file", "error"}
    assert "none.json" in missing["file"]
    assert str(broken) in bad["error"]
    assert good["failures"] == 3
    assert str(broken) in result.err


def test_traces(sample: Cli) -> None:
    (trace,) = sample("traces", "--json").json
    assert has(trace, TRACE)
    assert trace["createdAt"].endswith("Z")
    assert trace["counts"]["Operation"] == len(recorded()["operations"])
    assert trace["counts"]["Failure"] == 3


def test_trace(sample: Cli) -> None:
    (listed,) = sample("traces", "--json").json
    trace = sample("trace", listed["id"][:8], "--json").json
    assert has(trace, TRACE)
    assert trace["counts"] == listed["counts"]
    assert [session["externalId"] for session in trace["sessions"]] == [
        session["session_id"] for session in recorded()["sessions"]
    ]
    assert trace["kinds"]["Operation"]["Retrieval"] == 8


def test_operation(notes: Cli) -> None:
    operation = notes("operation", "update", "--json").json
    assert has(operation, OPERATION)
    assert operation["status"] == "error"
    assert [variable["externalId"] for variable in operation["used"]] == ["note", "message-2"]
    assert [variable["externalId"] for variable in operation["generated"]] == ["note-2"]
    ended = notes("operation", "delete", "--json").json["invalidated"]
    assert [variable["externalId"] for variable in ended] == ["note", "note-2"]


def test_variable(notes: Cli) -> None:
    variable = notes("variable", "note-2", "--json").json
    assert has(variable, VARIABLE)
    assert variable["occurrence"] == 0
    assert variable["operation"]["externalId"] == "update"
    assert variable["operationId"] == variable["operation"]["id"]
    assert notes("variable", "message-1", "--json").json["operation"] is None


def test_closure_backward(notes: Cli) -> None:
    closure = notes("closure", "answer", "--json").json
    assert set(closure) >= {"root", "direction", "variables", "derivations", "operations", "truncated", "frontier"}
    ids = {variable["id"]: variable for variable in closure["variables"]}
    assert ids[closure["root"]]["externalId"] == "answer"
    assert closure["direction"] == "backward"
    assert closure["truncated"] is False
    assert closure["frontier"] == []
    assert all(has(variable, VARIABLE) for variable in closure["variables"])
    assert all(has(operation, OPERATION) for operation in closure["operations"])
    assert {operation["externalId"] for operation in closure["operations"]} == {
        "extract",
        "update",
        "retrieve",
        "answer",
    }
    operations = {operation["id"] for operation in closure["operations"]}
    for derivation in closure["derivations"]:
        assert derivation["source"] in ids
        assert ids[derivation["target"]]["operationId"] == derivation["operationId"]
        assert derivation["operationId"] in operations


def test_closure_forward_with_bounds_and_kinds(notes: Cli) -> None:
    forward = notes("closure", "message-1", "--direction", "forward", "--max-hops", "1", "--json").json
    assert [variable["externalId"] for variable in forward["variables"]] == ["message-1", "note"]
    assert forward["truncated"] is True
    assert forward["frontier"] == [forward["variables"][1]["id"]]
    few = notes("closure", "answer", "--max-nodes", "2", "--json").json
    assert len(few["variables"]) == 2
    assert few["truncated"] is True
    kinds = notes("closure", "answer", "--kind", "message", "--kind", "Query", "--json").json
    assert {variable["kind"] for variable in kinds["variables"]} - {"Answer"} == {"Message", "Query"}
    assert notes("closure", "answer", "--seconds", "0", "--json").json["truncated"] is True


def test_closure_of_an_operation_is_that_of_all_it_made(notes: Cli) -> None:
    operation = notes("operation", "update", "--json").json
    of_operation = notes("closure", operation["id"], "--json").json
    of_variable = notes("closure", "note-2", "--json").json
    assert of_operation["root"] == operation["id"]
    assert of_operation["variables"] == of_variable["variables"]
    assert notes("closure", "delete", "--json").json["variables"] == []


def test_closure_of_a_failure_is_that_of_its_answer(notes: Cli) -> None:
    (failure,) = notes("failures", "--json").json
    closure = notes("closure", failure["id"], "--json").json
    assert closure["roots"] == [failure["answerId"]]


def test_path(notes: Cli) -> None:
    path = notes("path", "answer", "message-2", "--json").json
    assert [variable["externalId"] for variable in path["variables"]] == ["answer", "note-2", "note-2", "message-2"]
    assert [derivation["target"] for derivation in path["derivations"]] == [
        variable["id"] for variable in path["variables"][:-1]
    ]
    assert notes("path", "message-2", "message-1", "--json").json == {"variables": [], "derivations": []}


def test_versions(notes: Cli) -> None:
    versions = notes("versions", "note-2", "--json").json
    assert [variable["version"] for variable in versions if not variable["occurrence"]] == [0, 1]
    assert all(has(variable, f"{VARIABLE} operationId") for variable in versions)


def test_search(notes: Cli) -> None:
    found = notes("search", "Oslo", "--json").json
    assert all(has(hit, "variableId score snippet") for hit in found)
    assert {hit["externalId"] for hit in found} == {"message-1", "note", "note-2", "answer"}
    assert notes("search", "nowhere", "--json").json == []
    assert len(notes("search", "Oslo", "--limit", "2", "--json").json) == 2


def test_search_in_whole_values(notes: Cli) -> None:
    late = notes("search", "matters. Write", "--whole", "--json")
    assert [hit["externalId"] for hit in late.json] == ["prompt"]
    assert late.err == ""
    cut = notes("search", "in", "--whole", "--limit", "1", "--json")
    assert len(cut.json) == 1
    assert "bounds" in cut.err


def test_failures(notes: Cli) -> None:
    (failure,) = notes("failures", "--json").json
    assert has(failure, FAILURE)
    assert failure["questionExternalId"] == "question"
    assert failure["answerExternalId"] == "answer"
    assert failure["goldAnswers"] == ["Bergen", "in Bergen"]
    (verdict,) = failure["verdicts"]
    assert has(verdict, ATTRIBUTION)
    assert verdict["errorType"] == "UpdateError"
    assert verdict["operationExternalId"] == "update"
    assert notes("failures", "--trace", "assistant", "--json").json == [failure]


def test_failures_of_the_sample(sample: Cli) -> None:
    questions = {failure["questionExternalId"] for failure in sample("failures", "--json").json}
    assert questions == {f"query:assistant-qa-{number}@1" for number in (6, 7, 8)}


def test_stats(notes: Cli) -> None:
    stats = notes("stats", "--json").json
    assert stats["counts"]["Variable"] == sum(stats["kinds"]["Variable"].values())
    assert set(stats["bytes"]) == {"values", "graph", "total"}
    assert stats["bytes"]["total"] == stats["bytes"]["values"] + stats["bytes"]["graph"]
    assert notes("stats", "--trace", "assistant", "--json").json["counts"] == stats["counts"]


def test_doctor_and_migrate(notes: Cli) -> None:
    health = notes("doctor", "--json").json
    assert health["ok"] is True
    assert health["engine"] == "sqlite"
    assert health["problems"] == []
    assert "freeBytes" in health["details"]
    assert notes("migrate", "--json").json == {"applied": []}


def test_an_empty_project_is_empty_lists(notes: Cli) -> None:
    assert notes("--project", "other", "traces", "--json").json == []
    assert notes("failures", "--project", "other", "--json").json == []
