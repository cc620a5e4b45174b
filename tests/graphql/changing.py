"""Writes of tests through GraphQL, and reads of their results."""

from __future__ import annotations

from typing import Any

from tests.graphql.world import World


def change(world: World, text: str, variables: dict[str, Any], role: str = "writer") -> dict[str, Any]:
    """The answer to a mutation."""
    (result,) = world.ask(text, {"p": world.project, **variables}, role).values()
    found: dict[str, Any] = result
    return found


def judge(world: World, role: str = "writer", **verdict: Any) -> dict[str, Any]:
    """Record a verdict."""
    return change(
        world,
        """mutation($p: String!, $i: VerdictInput!) { recordVerdict(project: $p, input: $i) {
          __typename
          ... on VerdictRecorded { attribution { id author method errorType operationId reason confidence } }
          ... on Problem { message } } }""",
        {"i": verdict},
        role,
    )


def verdicts(world: World, failure: str) -> list[dict[str, Any]]:
    """The verdicts on a failure."""
    text = "query($p: String!, $f: String!) { project(name: $p) { failure(reference: $f) {"
    text += " verdicts { id author method errorType } } } }"
    found: list[dict[str, Any]] = world.ask(text, {"p": world.project, "f": failure})["project"]["failure"]["verdicts"]
    return found


def withdraw(world: World, verdict: str, role: str = "writer") -> dict[str, Any]:
    """Withdraw a verdict."""
    text = "mutation($p: String!, $id: ID!) { withdrawVerdict(project: $p, id: $id) {"
    text += " __typename ... on Problem { message } } }"
    return change(world, text, {"id": verdict}, role)


def complain(world: World, **failure: Any) -> dict[str, Any]:
    """Record a failure."""
    return change(
        world,
        """mutation($p: String!, $i: FailureInput!) { recordFailure(project: $p, input: $i) {
          __typename
          ... on FailureRecorded { failure { id origin question prediction goldAnswers evidenceIds attributes } }
          ... on Problem { message } } }""",
        {"i": failure},
    )
