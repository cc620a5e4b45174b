"""Tell a server which answers were wrong, what would have been right, and which messages say so."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import httpx

from .talk import Reply

PATIENCE = 60.0
"""Seconds until what the server accepted must be in its graph; usually it is a moment later."""

_RECORDED = """query($trace: String!) { project { name trace(reference: $trace) {
  messages: variables(first: 100, kinds: [Message]) { nodes { id name } }
  answers: variables(first: 50, kinds: [Answer]) { nodes { id lineage(kinds: [Query]) { nodes { id name } } } }
} } }"""
_COMPLAINT = """mutation($project: String!, $input: FailureInput!) { recordFailure(project: $project, input: $input) {
  __typename ... on Problem { message }
} }"""


def complain(endpoint: str, key: str, trace: str, replies: Sequence[Reply]) -> int:
    """Record the wrong ones of an agent's answers as failures.

    Args:
        endpoint: address of the server.
        key: an API key with the role writer.
        trace: id of the trace that was recorded.
        replies: all answers of it.

    Returns:
        How many were wrong.

    Raises:
        RuntimeError: the server refuses, or what was recorded does not appear in its graph.
    """
    wrong = [reply for reply in replies if not reply.is_right]
    with httpx.Client(base_url=endpoint, headers={"Authorization": f"Bearer {key}"}, timeout=30) as client:
        project, messages, asked = _recorded(client, trace, len(replies))
        for reply in wrong:
            question, answer = asked[reply.question.name]
            said = {
                "question": question,
                "answer": answer,
                "goldAnswers": [reply.question.gold],
                "evidence": [messages[name] for name in reply.question.evidence],
            }
            done = _ask(client, _COMPLAINT, {"project": project, "input": said})["recordFailure"]
            if done["__typename"] != "FailureRecorded":
                raise RuntimeError(f"{reply.question.name}: {done['message']}")
    return len(wrong)


def _recorded(client: httpx.Client, trace: str, count: int) -> tuple[str, dict[str, str], dict[str, tuple[str, str]]]:
    """The project, the ids of the messages by name, and those of question and answer by the question's name."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        project = _ask(client, _RECORDED, {"trace": trace})["project"] or {}
        found = project.get("trace") or {"messages": {"nodes": []}, "answers": {"nodes": []}}
        asked = {
            query["name"]: (query["id"], answer["id"])
            for answer in found["answers"]["nodes"]
            for query in answer["lineage"]["nodes"]
        }
        if len(asked) == count:
            return project["name"], {one["name"]: one["id"] for one in found["messages"]["nodes"]}, asked
        time.sleep(0.1)
    raise RuntimeError(f"{client.base_url}: the graph of trace {trace!r} has {len(asked)} of {count} answers")


def _ask(client: httpx.Client, document: str, variables: dict[str, Any]) -> dict[str, Any]:
    """What a GraphQL document gives."""
    answer = client.post("/graphql", json={"query": document, "variables": variables}).raise_for_status().json()
    if "errors" in answer:
        raise RuntimeError("; ".join(error["message"] for error in answer["errors"]))
    found: dict[str, Any] = answer["data"]
    return found
