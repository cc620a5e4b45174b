"""The sample in a project of a server, and the ids that tests ask for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any

from tests.data import SAMPLE
from tests.server.running import RunningServer

_LOOK = """
query Look($project: String!) {
  project(name: $project) {
    failures(first: 1) {
      nodes {
        id
        questionId
        answerId
        answerVariable { lineage(kinds: [Message], maxNodes: 1000) { nodes { id } } }
        verdicts { id }
      }
    }
    traces {
      nodes {
        id
        answers: variables(kinds: [Answer]) { nodes { id right } }
        externalId
        sessions(first: 1) { nodes { id } }
        operations(first: 1, kinds: [Extraction, Update]) { nodes { id } }
        variables(first: 500, kinds: [MemoryUnit]) {
          nodes { id version revisionOf sequence derivedFrom(first: 1) { id } }
        }
      }
    }
  }
}
"""


@dataclass(frozen=True)
class World:
    """A project of a server with the sample in it, attributed.

    Attributes:
        ids: ids by name of the element.
    """

    server: RunningServer
    project: str
    ids: dict[str, str]

    def nowhere(self) -> World:
        """A project that does not exist, with ids of the right form that no element has."""
        return World(self.server, "no-such-project", {name: "0" * len(id_) for name, id_ in self.ids.items()})

    def ask(self, document: str, variables: dict[str, Any] | None = None, role: str = "reader") -> dict[str, Any]:
        """Data of an answer that has no errors."""
        answer = self.answer(document, variables, role)
        assert "errors" not in answer, answer["errors"]
        data: dict[str, Any] = answer["data"]
        return data

    def answer(self, document: str, variables: dict[str, Any] | None = None, role: str = "reader") -> dict[str, Any]:
        """Send a document as a user with ``role``; return the whole response, with ``data`` and ``errors``."""
        with self.server.client(role, self.project) as client:
            response = client.post("/graphql", json={"query": document, "variables": variables or {}})
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    @property
    def variables(self) -> dict[str, Any]:
        """A value for each variable that a documented document declares."""
        ids = self.ids
        return {
            "project": self.project,
            "answer": ids["answer"],
            "answerId": ids["answer"],
            "rightAnswerId": ids["unjudged"],
            "questionId": ids["question"],
            "message": ids["message"],
            "messageId": ids["message"],
            "unit": ids["unit"],
            "before": ids["before"],
            "after": ids["unit"],
            "place": 10_000,
            "trace": ids["trace"],
            "other": ids["trace_external"],
            "words": "Mara",
            "ids": [ids["unit"], ids["operation"], ids["failure"], ids["trace"], "0" * 32],
            "since": "2026-11-01T00:00:00Z",
            "until": "2026-12-01T00:00:00Z",
            "failureId": ids["failure"],
            "reference": ids["failure"],
            "operationId": ids["operation"],
            "jobId": ids["job"],
            "queue": ids["queue"],
            "queueName": f"queue {token_hex(4)}",
        }


def _with_one_unjudged() -> str:
    """The sample without the score of one accepted answer."""
    graph = json.loads(SAMPLE.read_text("utf-8"))
    edges = graph["data"]["edges"]
    edges.remove(next(edge for edge in edges if edge["target_full_node_id"].startswith("judge_score:")))
    return json.dumps(graph)


def make_world(server: RunningServer, project: str) -> World:
    """Import the sample and attribute its failures, by the command line and by the server."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / SAMPLE.name
        file.write_text(_with_one_unjudged(), "utf-8")
        for command in (["import", str(file)], ["attribute", "--all", "--json"], ["replay", "--all"]):
            done = server.place.here(*command, "--project", project)
            assert done.returncode == 0, done.stderr
    world = World(server, project, {})
    found = world.ask(_LOOK, {"project": project})["project"]
    (trace,) = found["traces"]["nodes"]
    (failure,) = found["failures"]["nodes"]
    unit = next(one for one in trace["variables"]["nodes"] if one["revisionOf"])
    started = world.ask(
        "mutation($p: String!) { report(project: $p, input: {}) { ... on JobStarted { job { id } } } }",
        {"p": project},
        "writer",
    )
    queued = world.ask(
        """mutation($p: String!) { createAnnotationQueue(project: $p, input: {name: "monday"}) {
          ... on QueueChanged { queue { id } } } }""",
        {"p": project},
        "writer",
    )
    created = json.loads(server.place.here("keys", "create", "--json", "--project", project).stdout)
    world.ids.update(
        trace=trace["id"],
        trace_external=trace["externalId"],
        session=trace["sessions"]["nodes"][0]["id"],
        operation=trace["operations"]["nodes"][0]["id"],
        failure=failure["id"],
        question=failure["questionId"],
        answer=failure["answerId"],
        unjudged=next(one["id"] for one in trace["answers"]["nodes"] if one["right"] is None),
        message=failure["answerVariable"]["lineage"]["nodes"][0]["id"],
        verdict=failure["verdicts"][0]["id"],
        unit=unit["id"],
        before=unit["revisionOf"],
        derivation=unit["derivedFrom"][0]["id"],
        job=started["report"]["job"]["id"],
        key=created["id"],
        queue=queued["createAnnotationQueue"]["queue"]["id"],
    )
    return world
