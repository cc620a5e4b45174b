"""A project in which two people annotate the sample: Ada and Ben disagree on a case, and Ada has a second case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.graphql.world import World

PEOPLE = ("Ada", "Ben")
_KEY = """mutation($p: String!, $w: String!, $r: Role!) {
  createKey(project: $p, name: "annotator", role: $r, person: $w) { ... on KeyCreated { secret } } }"""
_QUEUE = """mutation($p: String!, $i: AnnotationQueueInput!) { createAnnotationQueue(project: $p, input: $i) {
  ... on QueueChanged { queue { id } } } }"""
_NEXT = (
    "mutation($p: String!, $q: String!) { nextCase(project: $p, queue: $q) { ... on CaseGiven { failure { id } } } }"
)
_SUBMIT = """mutation($p: String!, $q: String!, $i: VerdictInput!) {
  submitCase(project: $p, queue: $q, input: $i) { __typename } }"""


@dataclass(frozen=True)
class Team:
    """People with keys, and a queue.

    Attributes:
        keys: the key of each person, by name.
        queue: the id of a queue of all failures, for Ada and Ben.
    """

    world: World
    keys: dict[str, str]
    queue: str

    @property
    def base(self) -> str:
        """The address of the queue."""
        return f"/ui/projects/{self.world.project}/queues/{self.queue}"

    def ask(self, person: str, document: str, **variables: Any) -> dict[str, Any]:
        """Run a document as a person, and return the data."""
        with self.world.server.client(None) as client:
            body = {"query": document, "variables": {"p": self.world.project, **variables}}
            headers = {"Authorization": f"Bearer {self.keys[person]}"}
            answer = client.post("/graphql", json=body, headers=headers).json()
        assert "errors" not in answer, answer
        data: dict[str, Any] = answer["data"]
        return data

    def next(self, person: str) -> str:
        """The id of the failure that a person has to judge now."""
        return str(self.ask(person, _NEXT, q=self.queue)["nextCase"]["failure"]["id"])

    def submit(self, person: str, failure: str, **verdict: Any) -> None:
        """Submit a verdict on a person's case."""
        done = self.ask(person, _SUBMIT, q=self.queue, i={"failure": failure, **verdict})["submitCase"]
        assert done["__typename"] == "CaseSubmitted", done


def keys_of(world: World, *people: str) -> dict[str, str]:
    """A writer's key for each person, by name."""
    wanted = {person: {"p": world.project, "w": person, "r": "writer"} for person in people}
    return {person: world.ask(_KEY, asked, "admin")["createKey"]["secret"] for person, asked in wanted.items()}


def make_team(world: World, name: str = "week 12", people: tuple[str, ...] = PEOPLE, **wish: Any) -> Team:
    """A new queue without reserved cases; Dan decides disputes and is no annotator."""
    keys = keys_of(world, *people, "Dan")
    asked = {"name": name, "people": list(people), "seed": "seed", **wish}
    queue = world.ask(_QUEUE, {"p": world.project, "i": asked}, "writer")["createAnnotationQueue"]["queue"]["id"]
    return Team(world, keys, queue)


def disputed(team: Team) -> str:
    """The id of a failure on which Ada and Ben disagree; Ada has another case now."""
    failures = [team.next(person) for person in PEOPLE]
    wanted = failures[0]
    team.submit("Ada", wanted, errorType="AnnotationError", reason="The gold answer is out of date.")
    while (one := team.next("Ben")) != wanted:
        team.submit("Ben", one, errorType="LLMAsAJudgeError", reason="It says the same.")
    team.submit("Ben", wanted, errorType="LLMAsAJudgeError", reason="It says the same in other words.")
    team.next("Ada")
    return wanted
