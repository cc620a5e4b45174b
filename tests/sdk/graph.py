"""Checks that every recorded graph must pass."""

from __future__ import annotations

from graphlib import TopologicalSorter
from typing import Any


def check(events: list[dict[str, Any]]) -> None:
    """Check that references are to earlier events, that each end has a beginning, and that there are no cycles."""
    variables: set[str] = set()
    operations: set[str] = set()
    edges: dict[str, set[str]] = {}
    pairs: set[tuple[str, str, str, str]] = set()
    for event in events:
        match event["type"]:
            case "variable":
                assert event["variable"] not in variables
                assert event.get("stored") != "mentioned" or "operation" not in event
                variables.add(event["variable"])
                assert event.get("operation") is None or event["operation"] in operations
                assert event.get("revisionOf") is None or event["revisionOf"] in variables
                assert event.get("base") is None or event["base"]["variable"] in variables
            case "operationStarted":
                assert event["operation"] not in operations
                operations.add(event["operation"])
            case "derived":
                assert {event["source"], event["target"]} <= variables
                assert event["operation"] in operations
                edges.setdefault(event["target"], set()).add(event["source"])
                pair = event["source"], event["target"], event["operation"], event["kind"]
                assert pair not in pairs
                pairs.add(pair)
            case "used" | "invalidated" | "considered":
                assert event["variable"] in variables
                assert event["operation"] in operations
            case "operationEnded":
                assert event["operation"] in operations
    list(TopologicalSorter(edges).static_order())


def sources(events: list[dict[str, Any]], target: dict[str, Any]) -> list[tuple[str, str]]:
    """(kind of edge, value of source) of all that the target was directly derived from."""
    variables = {event["variable"]: event for event in events if event["type"] == "variable"}
    return sorted(
        (event["kind"], variables[event["source"]]["value"])
        for event in events
        if event["type"] == "derived" and event["target"] == target["variable"]
    )


def value(events: list[dict[str, Any]], text: str) -> dict[str, Any]:
    """The only variable with that text."""
    (found,) = [event for event in events if event["type"] == "variable" and event["value"] == text]
    return found
