"""Turns a span into wire events. The result depends on nothing but the span and the name of its trace.

Attributes beyond the limit of one element are cut (``keeping``); the cut is visible in the attribute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec
from memtrace.kinds import MAX_NAME_CHARACTERS, DerivationKind, EndStatus, VariableKind

from ingest.otlp.dialects.memtrace import EVENTS
from ingest.otlp.dialects.registry import step_of
from ingest.otlp.keeping import MOST_BYTES, KeptResources, beginning, kept_of
from ingest.otlp.names import INPUT, OTEL, OUTPUT, PLAIN, edge_name, operation_name, short, variable_name
from ingest.otlp.reading import objects, words
from ingest.otlp.spans import Span, SpanError, time_of
from ingest.otlp.steps import Item
from schema.ids import make_id, trace_id

_MOST_VALUE_BYTES = 8 << 20
"""Largest value in bytes; a longer value is cut, and its event has the original size."""

_MOST_ASKED_BYTES = 64 << 10
"""Largest question of an inner span that is kept beside its prompt, as JSON in bytes, with the span's attributes; it
counts only if the span is a turn."""

Event = dict[str, Any]


def events_of(
    project_id: str, span: Span, trace: str, cut: list[str] | None = None, resources: KeptResources | None = None
) -> list[bytes]:
    """The events of a span as JSON, in order.

    Args:
        project_id: the project that receives the span.
        span: the span.
        trace: the name of its trace.
        cut: gets a line for each part of the span that is not kept whole.
        resources: of the spans of the same request; None for a span alone.
    """
    told = [] if cut is None else cut
    if EVENTS in span.attributes:
        made = _told(span)
    else:
        made = _Maker(project_id, trace, span, told, resources or KeptResources(1)).events()
    head = {"v": 1, "trace": trace}
    return [msgspec.json.encode(head | event) for event in made]


def _told(span: Span) -> Iterator[Event]:
    """The events in a span's attribute ``memtrace.events``.

    Raises:
        SpanError: the attribute does not contain events.
    """
    events = objects(span.attributes[EVENTS])
    if not events:
        raise SpanError(f"{EVENTS} is no list of events in JSON")
    for event in events:
        own = {name: value for name, value in event.items() if name not in {"v", "trace"}}
        yield {"time": time_of(span.started_ns)} | own


class _Maker:
    def __init__(self, project_id: str, trace: str, span: Span, cut: list[str], resources: KeptResources) -> None:
        self._span = span
        self._resources = resources
        self._cut = cut
        self._step = step_of(span)
        self._graph_trace = trace_id(project_id, trace)
        self._operation = operation_name(span.trace_id, span.span_id)
        self._began = time_of(span.started_ns)
        self._ended = time_of(span.started_ns if span.ended_ns is None else span.ended_ns)
        self._session = None if self._step.session is None else short(self._step.session)
        cut += self._step.left_out

    def events(self) -> Iterator[Event]:
        if self._session is not None:
            yield {"type": "session", "session": self._session, "time": self._began}
        yield self._started()
        inputs = list(enumerate(self._step.inputs))
        outputs = list(enumerate(self._step.outputs))
        for place, item in sorted(inputs, key=lambda placed: not placed[1].is_outside):
            yield self._variable(INPUT, place, item)
            if item.is_outside:
                name = variable_name(self._operation, INPUT, place)
                yield self._said("used", operation=self._operation, variable=name, role="input", position=place)
        for place, item in outputs:
            yield self._variable(OUTPUT, place, item)
        for source, target in _own_edges(self._step.inputs, self._step.outputs):
            names = [variable_name(self._operation, side, place) for side, place in (source, target)]
            yield self._said(
                "derived",
                derivation=edge_name(*names),
                source=names[0],
                target=names[1],
                operation=self._operation,
                kind=DerivationKind.DERIVATION,
            )
        if self._span.ended_ns is not None:
            yield self._ending()

    def _said(self, type_: str, **fields: Any) -> Event:
        return {"type": type_, "time": self._began} | {key: value for key, value in fields.items() if value is not None}

    def _started(self) -> Event:
        span, step = self._span, self._step
        rest = {name: value for name, value in span.attributes.items() if not name.startswith(step.taken or ("\0",))}
        told: dict[str, Any] = {
            "traceId": span.trace_id,
            "spanId": span.span_id,
            "dialect": step.dialect,
            "kind": span.kind,
            "scope": " ".join(part for part in (span.scope, span.scope_version) if part)[:_SHORT],
            "resource": self._resources.of(span.resource, self._cut),
            "variables": len(step.inputs) + len(step.outputs),
        }
        if span.message:
            told["message"] = span.message[:_LONG]
        if span.links:
            told["links"] = [list(link) for link in span.links[:_MANY]]
            if len(span.links) > _MANY:
                self._cut.append(f"{len(span.links) - _MANY:,} links after the first {_MANY} are left out")
        moments = [one for one in span.moments if one.name not in step.taken_moments]
        turn = self._turn()
        room = MOST_BYTES - (0 if turn is None else len(msgspec.json.encode(turn)))
        attributes, events = kept_of(rest, moments, room, self._cut)
        if events:
            told["events"] = events
        if step.deleted is not None:
            told["deletes"] = {"store": step.deleted.store, "id": step.deleted.id}
        if turn is not None:
            told["turn"] = turn
        if span.parent_id is not None:
            # Not the event's ``parent``: the event would wait for the parent span, which may never come here.
            told["parentSpanId"] = span.parent_id
            attributes["parentId"] = make_id(
                "Operation", self._graph_trace, operation_name(span.trace_id, span.parent_id)
            )
        attributes[OTEL] = told
        return self._said(
            "operationStarted",
            operation=self._operation,
            session=self._session,
            name=span.name[:MAX_NAME_CHARACTERS] or "span",
            kind=step.kind,
            category=None if step.category is None else step.category[:_SHORT],
            attributes=attributes,
        )

    def _turn(self) -> dict[str, Any] | None:
        """The turn of a conversation that an inner span would be if no span was around it; None if it would be none.

        Whether only plain spans are around it may show later (``ingest.otlp.turns``).
        """
        if self._span.is_root or self._step.dialect == PLAIN:
            return None
        if any(item.kind is VariableKind.ANSWER for item in self._step.outputs):
            return None
        alone = step_of(replace(self._span, parent_id=None))
        answers = [place for place, item in enumerate(alone.outputs) if item.kind is VariableKind.ANSWER]
        if not answers:
            return None
        asked = [item.text or "" for item in alone.inputs if item.kind is VariableKind.QUERY and item.is_outside]
        turn: dict[str, Any] = {"answer": answers[0]}
        if asked:
            turn["asked"] = beginning(asked[0], _MOST_ASKED_BYTES)
            if len(turn["asked"]) < len(asked[0]):
                kept = len(turn["asked"].encode())
                self._cut.append(f"question: {len(asked[0].encode()):,} bytes, the first {kept:,} are kept")
        if self._session is not None:
            turn["session"] = self._session
        return turn

    def _ending(self) -> Event:
        span = self._span
        event = self._said("operationEnded", operation=self._operation) | {"time": self._ended}
        if not span.is_error:
            return event | {"status": EndStatus.OK}
        raised = next((one.attributes for one in reversed(span.moments) if one.name == "exception"), {})
        type_ = words(raised.get("exception.type")) or words(span.attributes.get("error.type")) or "error"
        message = words(raised.get("exception.message")) or span.message
        error = {"type": type_[:_SHORT], "message": message[:_LONG]}
        return event | {"status": EndStatus.ERROR, "error": error}

    def _variable(self, side: str, place: int, item: Item) -> Event:
        text = item.text or ""
        data = text.encode()
        told: dict[str, Any] = {"side": side}
        if item.text is None:
            told["content"] = "not captured"
        for name, value in (("store", item.store), ("id", item.id), ("writes", item.is_write or None)):
            if value is not None:
                told[name] = value[:_LONG] if isinstance(value, str) else value
        attributes: dict[str, Any] = {OTEL: told}
        if item.score is not None:
            attributes["score"] = item.score
        event = self._said(
            "variable",
            variable=variable_name(self._operation, side, place),
            name=item.name[:MAX_NAME_CHARACTERS],
            kind=item.kind,
            version=item.version,
            value=text,
            mediaType="text/plain",
            operation=None if item.is_outside else self._operation,
            role=None if item.is_outside else side,
            session=self._session,
            attributes=attributes,
        )
        if len(data) > _MOST_VALUE_BYTES:
            event["value"] = data[:_MOST_VALUE_BYTES].decode("utf-8", "ignore")
            event |= {"truncated": True, "size": len(data)}
            self._cut.append(f"{item.name[:_SHORT]}: {len(data):,} bytes, the first {_MOST_VALUE_BYTES:,} are kept")
        return event | ({"time": self._ended} if side == OUTPUT else {})


_SHORT = 200
_LONG = 4_000
_MANY = 100


def _own_edges(inputs: Sequence[Item], outputs: Sequence[Item]) -> Iterator[tuple[tuple[str, int], tuple[str, int]]]:
    """Derivations inside a span, as (source, target): a prompt derives from its question, a reply from its prompt.

    An output that equals an input (a document that a reranker kept) derives from the equal input, and from all inputs
    that equal no output (the question).
    """
    outside = [place for place, item in enumerate(inputs) if item.is_outside]
    inside = [place for place, item in enumerate(inputs) if not item.is_outside]
    if outside and inside:
        for source in outside:
            for target in inside:
                yield (INPUT, source), (INPUT, target)
    feeding = inside or outside
    again = {_identity(item) for item in outputs} - {None}
    for target, made in enumerate(outputs):
        same = [place for place in feeding if _identity(inputs[place]) == _identity(made) and _identity(made)]
        others = [place for place in feeding if _identity(inputs[place]) not in again]
        for source in sorted({*same, *others}) if same else feeding:
            yield (INPUT, source), (OUTPUT, target)


def _identity(item: Item) -> tuple[str | None, str | None] | None:
    """The key by which two items are the same document; None for an item that is no document."""
    if item.id is not None:
        return item.store, item.id
    return None if item.text is None else (None, item.text)
