"""Operations and answers, of one trace and of all, page by page."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest

from api.settings.loading import open_databases
from tests.contract.samples import assistant
from tests.factory import TraceBuilder
from tests.graphql.world import World
from tests.server.running import RunningServer

pytestmark = pytest.mark.one_engine


def test_operations_by_how_they_ended(world: World, server: RunningServer) -> None:
    text = """query($p: String!, $s: Status, $k: [OperationKind!]!) { project(name: $p) {
      trace(reference: "assistant-sample") {
        operations(first: 500, status: $s, kinds: $k) { nodes { id kind status } } } } }"""

    def asked(status: str | None, *kinds: str) -> list[dict[str, Any]]:
        found = world.ask(text, {"p": world.project, "s": status, "k": list(kinds)})
        nodes: list[dict[str, Any]] = found["project"]["trace"]["operations"]["nodes"]
        return nodes

    every = asked(None)
    assert len(every) > 100
    assert asked("unknown") == [one for one in every if one["status"] == "unknown"]
    assert asked("unknown", "Retrieval") == [one for one in every if one["kind"] == "Retrieval"] != []
    assert asked("error") == []


def test_answers_with_their_questions(world: World) -> None:
    text = """query($p: String!, $t: String, $a: String) { project(name: $p) { answers(first: 3, after: $a, trace: $t) {
      nodes { id kind right questions { id preview } trace { externalId } } pageInfo { endCursor } } } }"""

    def asked(trace: str | None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        after = None
        while True:
            page = world.ask(text, {"p": world.project, "t": trace, "a": after})["project"]["answers"]
            found += page["nodes"]
            after = page["pageInfo"]["endCursor"]
            if after is None:
                return found

    sample = asked("assistant-sample")
    assert len(sample) == 8
    assert {one["kind"] for one in sample} == {"Answer"}
    assert all(len(one["questions"]) == 1 for one in sample)
    assert any("What breed is Mara's dog?" in one["questions"][0]["preview"] for one in sample)
    everywhere = asked(None)
    assert [one for one in everywhere if one["trace"]["externalId"] == "assistant-sample"] == sample
    assert asked("no-such-trace") == []
    none = world.ask(
        "query($p: String!, $v: String!) { project(name: $p) { variable(reference: $v) { questions { id } } } }",
        {"p": world.project, "v": sample[0]["questions"][0]["id"]},
    )
    assert none["project"]["variable"]["questions"] == []


async def test_operations_across_traces_page_by_page(world: World, server: RunningServer) -> None:
    project = f"across-{uuid4().hex}"
    traces = [assistant(project, name) for name in ("one", "two", "three")]
    bare = TraceBuilder(project, "bare")
    bare.variable("m", "no operation")
    async with await open_databases(server.place.settings()) as database:
        for trace in (bare, *traces):
            await trace.write(database.project(project))
    text = """query($p: String!, $s: Status, $k: [OperationKind!]!, $n: Int!, $a: String) { project(name: $p) {
      operations(first: $n, after: $a, status: $s, kinds: $k) {
        nodes { id traceId } pageInfo { endCursor hasNextPage } } } }"""

    def asked(size: int, status: str | None, *kinds: str) -> list[str]:
        found: list[str] = []
        after = None
        while True:
            variables = {"p": project, "s": status, "k": list(kinds), "n": size, "a": after}
            with server.client("reader", project) as client:
                answer = client.post("/graphql", json={"query": text, "variables": variables}).json()
            page = answer["data"]["project"]["operations"]
            assert len(page["nodes"]) <= size
            found += [one["id"] for one in page["nodes"]]
            after = page["pageInfo"]["endCursor"]
            if not page["pageInfo"]["hasNextPage"]:
                return found

    def wanted(trace: TraceBuilder, status: str | None, *kinds: str) -> set[str]:
        return {
            one.id
            for one in trace.operations
            if (status is None or one.status.value == status) and (not kinds or one.kind.value in kinds)
        }

    for status, kinds in ((None, []), ("error", []), ("ok", ["Retrieval", "Update"]), ("running", [])):
        expected = set.union(*(wanted(trace, status, *kinds) for trace in traces))
        for size in (1, 2, 7, 500):
            found = asked(size, status, *kinds)
            assert len(found) == len(set(found))
            assert set(found) == expected
    bad: dict[str, Any] = {"p": project, "s": None, "k": [], "n": 1, "a": "Nw"}
    with server.client("reader", project) as client:
        (error,) = client.post("/graphql", json={"query": text, "variables": bad}).json()["errors"]
    assert error["extensions"]["code"] == "BAD_INPUT"


def test_lists_of_a_time(world: World) -> None:
    """The sample was recorded on 22 November 2026."""
    text = """query($p: String!, $w: TimeSpan, $f: FailureFilter) { project(name: $p) {
      operations(first: 500, recorded: $w) { nodes { id } }
      answers(recorded: $w, trace: "assistant-sample") { nodes { id } }
      search(text: "pottery", kinds: [MemoryUnit], recorded: $w) { variable { kind } }
      failures(filter: $f) { nodes { createdAt } }
      trace(reference: "assistant-sample") {
        operations(first: 500, recorded: $w) { nodes { id } }
        variables(first: 500, recorded: $w, kinds: [Answer]) { nodes { id } }
      } } }"""

    def asked(when: dict[str, str]) -> list[list[Any]]:
        found = world.ask(text, {"p": world.project, "w": when, "f": when})["project"]
        lists = [found["operations"], found["answers"], found["failures"], *found["trace"].values()]
        return [found["search"], *(one["nodes"] for one in lists)]

    assert all(asked({"since": "2026-11-22T00:00:00Z", "until": "2126-11-23T00:00:00Z"}))
    assert not any(asked({"until": "2026-11-21T00:00:00Z"}))
    hits, *_ = asked({"since": "2026-11-22T00:00:00Z"})
    assert {hit["variable"]["kind"] for hit in hits} == {"MemoryUnit"}
    refused = world.answer(
        text, {"p": world.project, "w": {"since": "2026-11-22T00:00:00Z", "until": "2026-11-22T00:00:00Z"}}
    )
    assert "recorded: until: must be after since" in refused["errors"][0]["message"]
