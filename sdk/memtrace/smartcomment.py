"""Sends a live graph of smartcomment to the platform, which imports it like a file of smartcomment."""

from __future__ import annotations

import gzip
import json
from datetime import datetime
from os import environ
from typing import Any, Protocol

SECONDS = 300.0


class Network(Protocol):
    """The part of smartcomment's ``ExecNetwork`` that is used here; ``comment_graph`` returns an ``ExecNetwork``."""

    def export_graph(self) -> dict[str, Any]:
        """The graph in the form of smartcomment's files."""
        ...


class NotTakenError(RuntimeError):
    """The platform did not take a graph; the message says why."""


def from_smartcomment(
    network: Network,
    endpoint: str | None = None,
    key: str | None = None,
    project: str | None = None,
    *,
    timezone: str | None = None,
) -> str:
    """Send a graph that smartcomment 0.1.2 has recorded so far; the graph may still grow.

    Sending the graph again adds only the new parts. Unlike the recorder, this function raises an error if it fails,
    because nothing of the graph is kept. No masks are applied.

    Args:
        network: the graph.
        endpoint: address of the platform (``MEMTRACE_ENDPOINT``).
        key: API key with the role writer (``MEMTRACE_API_KEY``).
        project: name of the project (``MEMTRACE_PROJECT``); the default is the project of the key.
        timezone: IANA name of the time zone of the graph's times, which name no zone. The default is ``TZ``, or UTC if
            the local time of this process is UTC.

    Returns:
        The id of the import job, for ``GET /v1/jobs/{id}``.

    Raises:
        ValueError: no endpoint is named, or the time zone has to be named.
        NotTakenError: the platform can't be reached, or refused the graph.
    """
    import httpx

    endpoint = endpoint or environ.get("MEMTRACE_ENDPOINT")
    if not endpoint:
        raise ValueError("endpoint: name the platform's address, or set MEMTRACE_ENDPOINT")
    graph = network.export_graph()
    body = gzip.compress(json.dumps(graph, indent=4, ensure_ascii=False).encode("utf-8", "replace"), mtime=0)
    parameters = {"name": f"{graph['graph_id']}.json"[:255], "timezone": timezone or _zone()}
    if project := project or environ.get("MEMTRACE_PROJECT"):
        parameters["project"] = project
    headers = {"Content-Type": "application/gzip"}
    if key := key or environ.get("MEMTRACE_API_KEY"):
        headers["Authorization"] = f"Bearer {key}"
    try:
        answer = httpx.post(
            f"{endpoint.rstrip('/')}/v1/import", params=parameters, content=body, headers=headers, timeout=SECONDS
        )
        said = answer.json()
    except (httpx.HTTPError, OSError, ValueError) as error:
        raise NotTakenError(
            f"the platform can't be reached, or gave no answer of its own: {type(error).__name__}"
        ) from None
    if answer.status_code != 202:
        raise NotTakenError(f"status {answer.status_code}: {said.get('detail') or said.get('title')}")
    return str(said["id"])


def _zone() -> str:
    named = environ.get("TZ", "").lstrip(":")
    if named:
        return named
    if datetime.now().astimezone().utcoffset():
        raise ValueError("timezone: name the zone of the graph's times, such as Europe/Berlin")
    return "UTC"
