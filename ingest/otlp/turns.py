"""Finds the turns of a conversation among spans that are inside plain spans only.

A span that says nothing of a model or a memory, such as that of a web framework, is no step of the memory. What a
model is asked and answers inside it is a turn of the conversation, as if the plain span was not there. An inner span
often comes before the plain span around it. The question and the answer are added to the inner span's operation when
the plain span has come, and nothing is changed. Both depend on all spans on the way only, so the order of the spans
does not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime

from memtrace import events as wire
from memtrace.kinds import DerivationKind, VariableKind

from ingest.otlp.names import INPUT, OTEL, OUTPUT, edge_name
from ingest.otlp.rules import Node, Value

_HANDED_OUT = "the reply is the answer: only plain spans are around it"


def turns(nodes: Mapping[str, Node], new: AbstractSet[str]) -> list[tuple[Node, Value]]:
    """The spans that are turns because only plain spans are around them, with their replies, the earliest first.

    Args:
        nodes: the spans to look at, by name.
        new: the names of the spans that came since the last look; a turn that no new span touches is left out.
    """
    found = []
    ways: dict[str, bool | None] = {}
    for node in nodes.values():
        answer = _answer(node)
        if answer is not None and _is_newly_plain(nodes, new, node, ways):
            found.append((node, answer))
    return sorted(found, key=lambda one: (one[1].at, one[0].name))


def of_turn(trace: str, node: Node, answer: Value, text: str | None) -> list[wire.Event]:
    """The events that add the question and the answer to a span's operation.

    Args:
        trace: the name of the trace.
        node: the span.
        answer: the span's reply.
        text: the text of the reply; None if it was not captured.
    """
    turn, asked_at = node.turn, node.began
    if turn is None or asked_at is None:
        return []
    made: list[wire.Event] = []
    asked, replied = f"{node.name}/turn/query", f"{node.name}/turn/answer"
    if turn.asked is not None:
        made = [
            _variable(trace, turn.session, asked_at, asked, VariableKind.QUERY, turn.asked, INPUT),
            wire.Used(trace=trace, time=asked_at, operation=node.name, variable=asked, role=INPUT, position=0),
        ]
        targets = [value.name for value in node.on(INPUT)] or [answer.name]
        made += [_derived(trace, node, asked, target, None) for target in targets]
    reply = _variable(trace, turn.session, answer.at, replied, VariableKind.ANSWER, text, OUTPUT, node.name)
    return [*made, reply, _derived(trace, node, answer.name, replied, _HANDED_OUT)]


def _answer(node: Node) -> Value | None:
    """The reply of a span that may be a turn."""
    if node.turn is None:
        return None
    return next((value for value in node.on(OUTPUT) if value.rank == node.turn.answer), None)


def _is_newly_plain(
    nodes: Mapping[str, Node], new: AbstractSet[str], node: Node, known: dict[str, bool | None]
) -> bool:
    """Whether all spans around a span are known and plain, and the span or one of them is new.

    A request from outside the program ends the way: who sent it is no part of the conversation.

    Args:
        nodes: the spans to look at, by name.
        new: the names of the new spans.
        node: the span.
        known: for plain spans, whether they or spans around them are new, and None if one of these is not known or not
            plain. It gets the spans on the way, so that each is looked at once for all spans inside it.
    """
    start = node.name
    way: dict[str, None] = {}
    is_new: bool | None = False
    while node.parent is not None:
        if node.parent in known:
            is_new = known[node.parent]
            break
        outer = nodes.get(node.parent)
        if outer is None or not outer.is_plain or outer.name in way:
            is_new = None
            break
        way[outer.name] = None
        if outer.is_entry:
            break
        node = outer
    for name in reversed(way):
        is_new = None if is_new is None else is_new or name in new
        known[name] = is_new
    return is_new is not None and (is_new or start in new)


def _variable(
    trace: str,
    session: str | None,
    time: datetime,
    name: str,
    kind: VariableKind,
    text: str | None,
    side: str,
    maker: str | None = None,
) -> wire.VariableEvent:
    told = {"side": side} | ({"content": "not captured"} if text is None else {})
    return wire.VariableEvent.model_validate(
        {
            "trace": trace,
            "time": time,
            "variable": name,
            "name": "query" if kind is VariableKind.QUERY else "reply",
            "kind": kind,
            "version": 0,
            "value": text or "",
            "mediaType": "text/plain",
            "operation": maker,
            "role": None if maker is None else side,
            "session": session,
            "attributes": {OTEL: told},
        }
    )


def _derived(trace: str, node: Node, source: str, target: str, comment: str | None) -> wire.Derived:
    assert node.began is not None
    return wire.Derived(
        trace=trace,
        time=node.began,
        derivation=edge_name(source, target),
        source=source,
        target=target,
        operation=node.name,
        kind=DerivationKind.DERIVATION,
        comment=comment,
    )
