"""Keeps events in the memory of this process, for tests and notebooks."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from typing import Any

from memtrace import undecided
from memtrace.exporters.prepare import Preparation
from memtrace.exporters.protocol import FlushResult
from memtrace.identity import Variable
from memtrace.raw_events import RawEvent


class MemoryExporter:
    """Keeps the prepared events, oldest first, in ``events``, and answers questions about their graph.

    As in the wire format, an event has only the new part of a growing value; all methods give whole values.
    """

    def __init__(self) -> None:
        self._events: list[dict[str, Any]] = []
        self._new: list[RawEvent] = []
        self._prepare = Preparation()
        self._lock = threading.Lock()

    def prepare_with(self, preparation: Preparation) -> None:
        """Use this to mask, cut and complete events."""
        self._make_ready()
        self._prepare = preparation

    def export(self, events: list[RawEvent]) -> None:
        """Keep these events."""
        with self._lock:
            self._new += events

    @property
    def events(self) -> list[dict[str, Any]]:
        """All events so far."""
        undecided.settle_all()
        self._make_ready()
        return self._events

    def flush(self, timeout: float = 0.0) -> FlushResult:
        """Count the events as sent."""
        return FlushResult(sent=len(self.events))

    def close(self) -> None:
        """Do nothing: only memory is used."""

    def of(self, type: str) -> list[dict[str, Any]]:  # noqa: A002 (the wire's own word)
        """The events of one type."""
        if type == "variable":
            variables = self._variables()
            return _whole(variables, variables)
        return [event for event in self.events if event["type"] == type]

    def closure(self, variable: Variable | str, direction: str = "backward") -> list[dict[str, Any]]:
        """All variables on which a variable causally depends, or (``forward``) that depend on it; itself first.

        Args:
            variable: a variable that ``find`` returned, an id, or a name (which means the newest variable with that
                name).
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
        variables = self._variables()
        found = dict.fromkeys([self._id(variable, variables)])
        for known in (queue := list(found)):
            for other in edges.get(known, ()):
                if other not in found:
                    found[other] = None
                    queue.append(other)
        return _whole(variables, found)

    def to_mermaid(self) -> str:
        """The graph as a Mermaid flowchart: variables are boxes, operations are the texts at the arrows."""
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

    def _make_ready(self) -> None:
        with self._lock:
            new, self._new = self._new, []
            self._events += [json.loads(self._prepare.line(event)) for event in new]

    def _variables(self) -> dict[str, dict[str, Any]]:
        return {event["variable"]: event for event in self.events if event["type"] == "variable"}

    def _id(self, variable: Variable | str, variables: dict[str, dict[str, Any]]) -> str:
        known = variable.id if isinstance(variable, Variable) else variable
        if known in variables:
            return known
        named = [id_ for id_, event in variables.items() if event["name"] == known]
        if not named:
            raise KeyError(f"no variable has the id or name {known!r}")
        return named[-1]


def _whole(variables: dict[str, dict[str, Any]], wanted: Iterable[str]) -> list[dict[str, Any]]:
    values: dict[str, str] = {}
    found = []
    for id_ in wanted:
        chain = [id_]
        while chain[-1] not in values and "base" in variables[chain[-1]]:
            chain.append(variables[chain[-1]]["base"]["variable"])
        for known in reversed(chain):
            event = variables[known]
            if "base" not in event:
                values[known] = event["value"]
            elif known not in values:
                kept, before = event["base"]["kept"], values[event["base"]["variable"]]
                values[known] = before[:kept] + event["value"] if kept <= len(before) else before
        event = {name: item for name, item in variables[id_].items() if name != "base"}
        found.append(event | {"value": values[id_]})
    return found


def _quoted(text: str) -> str:
    escaped = text.replace("&", "#amp;").replace('"', "#quot;").replace("<", "#lt;").replace(">", "#gt;")
    return " ".join(escaped.split())
