"""Real instrumentations in environments of their own: their spans make one graph, in any order."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from tests.environments import python
from tests.sdk.instruments.scripted_openai import running as running_model
from tests.server.running import RunningServer, running, sqlite_place
from tests.server.wire_events import drained

PROGRAM = Path(__file__).parents[1] / "otlp" / "applications" / "assistant.py"
PYDANTIC_AGENT = Path(__file__).parents[1] / "cases" / "programs" / "pydantic_agent.py"
PROJECT = "instrumented"
INSTRUMENTATIONS = {
    "openinference": "openinference.instrumentation.openai",
    "otel-genai": "opentelemetry.instrumentation.genai.openai",
}
ANSWER = "Two tortoises, Ada."


def model(body: dict[str, Any]) -> str | int:
    """What the model says."""
    asked = body["messages"][-1]["content"]
    if asked == "fail":
        return 400
    return ANSWER if "What does Ada keep" in asked else "Noted: Ada keeps two tortoises."


@dataclass(frozen=True)
class Sent:
    """What the program sent: the requests, and the name of the trace that they make."""

    requests: list[ExportTraceServiceRequest]
    trace: str


def run(name: str, folder: Path, server: RunningServer) -> Sent:
    """Run the program once; its own exporter sends to the server."""
    kept = folder / "requests.txt"
    with running_model(model) as scripted:
        done = subprocess.run(
            [python(name), PROGRAM, INSTRUMENTATIONS[name], kept],
            env={
                "PATH": os.environ["PATH"],
                "OPENAI_BASE_URL": scripted.url,
                "OPENAI_API_KEY": "k",
                "OTEL_EXPORTER_OTLP_ENDPOINT": server.url,
                "OTEL_EXPORTER_OTLP_HEADERS": f"Authorization=Bearer%20{server.key('writer', PROJECT)}",
                "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
                "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_ONLY",
                "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
            },
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{ANSWER}\nrefused\n"
    assert "Failed to export" not in done.stderr
    requests = [ExportTraceServiceRequest.FromString(bytes.fromhex(line)) for line in kept.read_text().split()]
    drained(server)
    with server.client(project=PROJECT) as client:
        answer = client.post("/graphql", json={"query": "{ project { traces(first: 9) { nodes { externalId } } } }"})
    (trace,) = answer.json()["data"]["project"]["traces"]["nodes"]
    return Sent(requests, trace["externalId"])


def graph(server: RunningServer, trace: str, project: str) -> dict[str, Any]:
    """A trace as PROV, by the names of the source."""
    drained(server)
    with server.client(project=project) as client:
        found = client.get(f"/v1/export/{trace}", params={"format": "prov-json"}).json()
    names = {id_: f"{one['memtrace:id']}#{one['memtrace:occurrence']}" for id_, one in found["entity"].items()}
    names |= {id_: one["memtrace:id"] for id_, one in found["activity"].items()}
    return {
        part: sorted(
            sorted((key, names.get(str(value), str(value))) for key, value in one.items())
            for one in found[part].values()
        )
        for part in ("entity", "activity", "used", "wasGeneratedBy", "wasDerivedFrom")
    }


def whole(requests: Sequence[ExportTraceServiceRequest]) -> list[ExportTraceServiceRequest]:
    """One request with the spans of several requests, as a Collector joins them."""
    joined = ExportTraceServiceRequest()
    for one in requests:
        joined.MergeFrom(one)
    return [joined]


def split(requests: Sequence[ExportTraceServiceRequest]) -> list[ExportTraceServiceRequest]:
    """A request for each span."""
    found = []
    for one in requests:
        for of_resource in one.resource_spans:
            for of_scope in of_resource.scope_spans:
                for span in of_scope.spans:
                    alone = ExportTraceServiceRequest()
                    resource = alone.resource_spans.add(resource=of_resource.resource)
                    resource.scope_spans.add(scope=of_scope.scope).spans.append(span)
                    found.append(alone)
    return found


def post(server: RunningServer, project: str, requests: Sequence[ExportTraceServiceRequest]) -> None:
    """Send requests, all of which must be taken."""
    with server.client("writer", project) as client:
        for one in requests:
            headers = {"Content-Type": "application/x-protobuf"}
            answer: httpx.Response = client.post("/v1/traces", content=one.SerializeToString(), headers=headers)
            assert answer.status_code == 200
            told = ExportTraceServiceResponse.FromString(answer.content).partial_success
            assert told.rejected_spans == 0
            assert "kept in part" not in told.error_message or "vectors of embeddings" in told.error_message


@pytest.mark.parametrize("name", INSTRUMENTATIONS)
def test_one_graph_however_the_spans_come(name: str, tmp_path: Path) -> None:
    place = sqlite_place(tmp_path)
    with running(place, tmp_path) as server:
        sent = run(name, tmp_path, server)
        expected = graph(server, sent.trace, PROJECT)
        alone = split(sent.requests)
        twice = Random(name).sample([*alone, *alone], 2 * len(alone))
        for way, requests in {"whole": whole(sent.requests), "backwards": alone[::-1], "twice": twice}.items():
            post(server, way, requests)
            assert graph(server, sent.trace, way) == expected, way
        post(server, "killed", alone[1::2])
        server.kill()
    with running(place, tmp_path) as server:
        post(server, "killed", alone[::2])
        assert graph(server, sent.trace, "killed") == expected
        assert len(expected["activity"]) == len(alone) == 5
    values = [dict(one) for one in expected["entity"]]
    said = {one["memtrace:kind"]: one["prov:value"] for one in values if one["prov:value"] == ANSWER}
    assert said == {"Response": ANSWER, "Answer": ANSWER}  # only plain spans are around the call that answers
    failed = [dict(one) for one in expected["activity"] if dict(one)["memtrace:status"] == "error"]
    assert len(failed) == 1


def boat(body: dict[str, Any]) -> str | dict[str, Any]:
    """A model that asks its notes once."""
    if body["messages"][-1]["role"] == "tool":
        return "I do not know your boat."
    return {"tool_calls": [{"id": "c", "type": "function", "function": {"name": "find_notes", "arguments": _QUERY}}]}


_QUERY = '{"query": "boat"}'


def test_an_agent_of_pydantic_ai_asks_searches_and_answers(tmp_path: Path) -> None:
    with running(sqlite_place(tmp_path), tmp_path) as server, running_model(boat) as scripted:
        done = subprocess.run(
            [python("pydantic-ai"), PYDANTIC_AGENT],
            env={
                "PATH": os.environ["PATH"],
                "OPENAI_BASE_URL": scripted.url,
                "OPENAI_API_KEY": "k",
                "OTEL_EXPORTER_OTLP_ENDPOINT": server.url,
                "OTEL_EXPORTER_OTLP_HEADERS": f"Authorization=Bearer%20{server.key('writer', PROJECT)}",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, "I do not know your boat."), done.stderr
        drained(server)
        with server.client(project=PROJECT) as client:
            told = client.get("/v1/export/boat", params={"format": "prov-json"}).json()
    kinds = {(one["memtrace:kind"], one.get("prov:value")) for one in told["entity"].values()}
    assert ("Query", "What is my boat called?") in kinds
    assert ("RefinedQuery", "boat") in kinds
    assert ("RetrievalResult", "The user's cellar is flooded.") in kinds
    assert ("Answer", "I do not know your boat.") in kinds
