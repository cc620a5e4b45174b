"""Hostile questions and hostile stored texts: what their answers cost others."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.hostile.conftest import CHAIN, PROJECT, Hostile
from tests.hostile.lag import ALLOWED_SECONDS, REFUSED_SECONDS
from tests.hostile.payloads import STORED
from tests.otlp.spans import Sent, protobuf
from tests.server.wire_events import LINES, event, lines, message


def _lineage(fields: str) -> str:
    return f"variable(reference: $last) {{ lineage(maxNodes: {CHAIN}) {{ nodes {{ {fields} }} }} }}"


def _often(times: int, *fields: str) -> str:
    return " ".join(f"a{number}{name}: {name}" for number in range(times) for name in fields)


_PATHS = " ".join(
    f"a{number}: paths(source: $first, target: $last) {{ variables {{ id preview attributes }} }}"
    for number in range(30)
)
QUESTIONS: dict[str, str] = {
    "a text by 28 names": _lineage(_often(28, "preview")),
    "a text by 28 names, nested": _lineage(f"{_often(28, 'preview')} trace {{ id }}"),
    "any JSON by 28 names": _lineage(_often(28, "attributes")),
    "any JSON by 28 names, nested": _lineage(f"trace {{ id }} {_often(28, 'attributes')}"),
    "a long name": _lineage(f"{'a' * 30_000}: id"),
    "paths by 30 names": _PATHS,
    "texts by 10 names": f"failures(first: 100) {{ nodes {{ {_often(10, 'goldAnswers', 'prediction')} }} }}",
    "suspects": "failures(first: 500) { nodes { suspects { used { preview } } } }",
    "values": _lineage("value(length: 600) { text }"),
    "why not of all": "failures(first: 30) { nodes { whyNot { piece } } }",
}


def _ask(hostile: Hostile, fields: str) -> dict[str, Any]:
    for name in ("first", "last"):
        fields = fields.replace(f"${name}", f'"{getattr(hostile, name)}"')
    with hostile.client("reader") as client:
        answer = client.post("/graphql", json={"query": f"{{ project {{ {fields} }} }}"})
    assert answer.status_code == 200, answer.text
    assert len(answer.content) < 17 << 20
    found: dict[str, Any] = answer.json()
    codes = {error["extensions"]["code"] for error in found.get("errors", ())}
    assert not codes & {"INTERNAL", "INVALID_DOCUMENT"}, answer.text[:1000]
    return found


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_does_not_hold_others_up(hostile: Hostile, question: str) -> None:
    answer = _ask(hostile, QUESTIONS[question])
    limit = REFUSED_SECONDS if answer.get("data") is None else ALLOWED_SECONDS
    assert hostile.watch.check(lambda: _ask(hostile, QUESTIONS[question]), limit) is None


@pytest.mark.parametrize("text", STORED)
def test_a_stored_text_does_not_hold_others_up(hostile: Hostile, text: str) -> None:
    failure = hostile.failures[text]

    def look() -> None:
        with hostile.client("reader") as client:
            page = client.get(f"/ui/projects/{PROJECT}/failures/{failure.id}", headers=hostile.page_headers())
            assert page.status_code == 200, page.text
            document = "query($id: String!) { project { failure(reference: $id) { whyNot { piece } } } }"
            client.post("/graphql", json={"query": document, "variables": {"id": failure.id}})

    assert hostile.watch.check(look, ALLOWED_SECONDS) is None


def test_attributing_stored_texts_does_not_hold_others_up(hostile: Hostile) -> None:
    def attribute() -> None:
        with hostile.client("writer") as client:
            jobs = [client.post(f"/v1/{kind}", json={}).json() for kind in ("attributions", "reports")]
            deadline = time.monotonic() + 600
            for job in jobs:
                while True:
                    found = client.get(f"/v1/jobs/{job['id']}", params={"project": PROJECT}).json()
                    if found["state"] not in {"queued", "running"}:
                        break
                    assert time.monotonic() < deadline, found
                    time.sleep(0.1)
                assert found["state"] == "done", found

    assert hostile.watch.check(attribute, ALLOWED_SECONDS) is None


@pytest.mark.parametrize("page", ["compare", "failures", "blame", "levers", "search?q=parrot", "compare?by=methods"])
def test_a_page_of_long_texts_does_not_hold_others_up(hostile: Hostile, page: str) -> None:
    before, after = hostile.traces
    path = f"/ui/projects/{PROJECT}/{page}" + (f"?before={before}&after={after}" if page == "compare" else "")

    def look() -> None:
        with hostile.client(None) as client:
            shown = client.get(path, headers=hostile.page_headers())
            assert shown.status_code in {200, 404}, shown.text[:500]

    assert hostile.watch.check(look, ALLOWED_SECONDS) is None


@pytest.mark.parametrize("form", ["otlp", "prov-json", "openlineage"])
@pytest.mark.parametrize("trace", ["long", "chain"])
def test_many_exports_at_once_do_not_hold_others_up(hostile: Hostile, trace: str, form: str) -> None:
    def read() -> None:
        with hostile.client("reader") as client:
            answer = client.get(f"/v1/export/{trace}", params={"format": form})
            assert answer.status_code == 200, answer.text[:500]

    def attack() -> None:
        with ThreadPoolExecutor(20) as pool:
            for asked in [pool.submit(read) for _ in range(20)]:
                asked.result()

    assert hostile.watch.check(attack, ALLOWED_SECONDS) is None


def test_many_spans_of_one_trace_do_not_hold_others_up(hostile: Hostile) -> None:
    requests = [
        protobuf(
            Sent(f"{part}-{number}", "step", number, number + 1, {"input.value": f"text {number}"}, trace="many")
            for number in range(4_000)
        )
        for part in range(4)
    ]

    def send() -> None:
        with hostile.client("writer") as client:
            for body in requests:
                answer = client.post("/v1/traces", content=body, headers={"Content-Type": "application/x-protobuf"})
                assert answer.status_code in {200, 429, 503}, answer.text

    assert hostile.watch.check(send, ALLOWED_SECONDS) is None


def test_dead_letters_do_not_hold_others_up(hostile: Hostile) -> None:
    """Each event refers to another value of a variable that is stored already."""
    again = [message("dead", "one", f"value {number}") for number in range(300)]
    missing = [event("derivation", "dead", target="gone", source=f"none-{number}") for number in range(300)]

    def send() -> None:
        with hostile.client("writer") as client:
            for _ in range(10):
                answer = client.post("/v1/events", content=lines(*again, *missing), headers={"Content-Type": LINES})
                assert answer.status_code < 500 or answer.status_code == 503, answer.text

    assert hostile.watch.check(send, ALLOWED_SECONDS) is None


def test_the_answer_to_a_healthy_question_is_whole(hostile: Hostile) -> None:
    found = _ask(hostile, _lineage("id name kind attributes"))
    assert "errors" not in found, found["errors"]
    nodes = found["data"]["project"]["variable"]["lineage"]["nodes"]
    assert len(nodes) == CHAIN
    assert {node["kind"] for node in nodes} == {"MemoryUnit"}
