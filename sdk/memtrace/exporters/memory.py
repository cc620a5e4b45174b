"""Events in this process's memory: for tests and notebooks."""

from __future__ import annotations

import json
import threading
from typing import Any

from memtrace.exporters.prepare import Preparation, encoded
from memtrace.exporters.protocol import FlushResult
from memtrace.identity import Variable


class MemoryExporter:
    """Keeps the prepared events, oldest first, in ``events``, and answers questions about the graph that they are."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self._prepare = Preparation()
        self._lock = threading.Lock()

    def prepare_with(self, preparation: Preparation) -> None:
        """Use this to mask, cut and complete events."""
        self._prepare = preparation

    def export(self, events: list[dict[str, Any]]) -> None:
        """Keep these events."""
        with self._lock:
            self.events.extend(json.loads(encoded(self._prepare(event))) for event in events)

    def flush(self, timeout: float = 0.0) -> FlushResult:
        """How many events there are."""
        return FlushResult(sent=len(self.events))

    def close(self) -> None:
        """Nothing is held but memory."""

    def of(self, type: str) -> list[dict[str, Any]]:  # noqa: A002 (the wire's own word)
        """The events of one type."""
        return [event for event in self.events if event["type"] == type]

    def closure(self, variable: Variable | str, direction: str = "backward") -> list[dict[str, Any]]:
        """All that the variable causally depends on, or (``forward``) all that depends on it; itself first.

        Args:
            variable: what ``find`` gave, or an id, or a name (its newest).
            direction: ``backward`` or ``forward``.

        Raises:
            KeyError: There is no such variable.
        """
        ends = {"backward": ("target", "source"), "forward": ("source", "target")}
        if direction not in ends:
            raise ValueError(f"direction must be backward or forward, got {direction!r}")
        here, there = ends[direction]
        edges: dict[str, list[str]] = {}
        for edge in self.of("derived"):
            edges.setdefault(edge[here], []).append(edge[there])
        variables = {event["variable"]: event for event in self.of("variable")}
        found = dict.fromkeys([self._id(variable, variables)])
        for known in (queue := list(found)):
            for other in edges.get(known, ()):
                if other not in found:
                    found[other] = None
                    queue.append(other)
        return [variables[known] for known in found]

    def to_mermaid(self) -> str:
        """The graph as a Mermaid flowchart: variables are boxes, operations the words on the arrows."""
        names = {event["operation"]: event["name"] for event in self.of("operationStarted")}
        numbers = {event["variable"]: f"v{number}" for number, event in enumerate(self.of("variable"))}
        lines = ["flowchart LR"]
        for event in self.of("variable"):
            text = f"{event['kind']} {event['name']} {event['version']}: {event['value'][:60]}"
            lines.append(f'    {numbers[event["variable"]]}["{_quoted(text)}"]')
        for event in self.of("derived"):
            word = names.get(event["operation"], "") if event["kind"] == "Derivation" else event["kind"]
            arrow = "-->" if event["kind"] == "Derivation" else "-.->"
            lines.append(f'    {numbers[event["source"]]} {arrow}|"{_quoted(word)}"| {numbers[event["target"]]}')
        return "\n".join(lines) + "\n"

    def _id(self, variable: Variable | str, variables: dict[str, dict[str, Any]]) -> str:
        known = variable.id if isinstance(variable, Variable) else variable
        if known in variables:
            return known
        named = [id_ for id_, event in variables.items() if event["name"] == known]
        if not named:
            raise KeyError(f"no variable has the id or name {known!r}")
        return named[-1]


def _quoted(text: str) -> str:
    escaped = text.replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
    return " ".join(escaped.split())
