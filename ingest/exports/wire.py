"""Turns a stored trace back into wire events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec
from memtrace.kinds import MAX_ID_CHARACTERS

from ingest.events import stored_units
from ingest.events.elements import CONSIDERED, RETURNED
from ingest.exports.content import Content
from schema.kinds import Status
from schema.models import Derivation, Failure, Operation, Usage, Variable, format_time

Event = dict[str, Any]

_Attributes = dict[str, msgspec.Raw]
"""The attributes of an element by their names. Their values stay JSON: decoding lists of lists takes long."""

_decode_attributes = msgspec.json.Decoder(_Attributes).decode


class Events:
    """Makes the events of one trace, without data that has no field on the wire (edge categories, locations)."""

    def __init__(self, content: Content, occurrences: str = "") -> None:
        """Name the elements.

        Args:
            content: the trace.
            occurrences: what stands before the id that names an occurrence; see ``ingest.events.names.OF_GRAPH``.
        """
        self._content = content
        names = Counter(one.external_id for derived in content.derived.values() for one in derived)
        self._several = {name for name, count in names.items() if count > 1}
        recorded = {one.external_id for one in content.variables.values() if not one.occurrence}
        self._variables = {
            one.id: f"{occurrences}{one.id}"
            if one.occurrence and one.external_id in recorded
            else _short(one.external_id, one.id)
            for one in content.variables.values()
        }
        self._recorded = recorded
        self._sessions = {one.id: _short(one.external_id, one.id) for one in content.sessions}
        self._operations = {one.id: _short(one.external_id, one.id) for one in content.operations}

    def of_trace(self, texts: Mapping[str, str]) -> list[Event]:
        """The events of the trace, of its sessions, and of variables from outside.

        Args:
            texts: values of the variables from outside, by variable id.
        """
        trace = self._content.trace
        attributes = _decode_attributes(trace.attributes)
        found = [self._event("trace", trace.created_at, name=trace.name, attributes=attributes)]
        for session in self._content.sessions:
            said: Event = {"name": session.name, "category": session.category, "comment": session.comment}
            said["attributes"] = _decode_attributes(session.attributes)
            found.append(self._event("session", session.created_at, session=self._sessions[session.id], **said))
        return found + [
            self.variable(one, texts[one.id]) for one in self._content.made.get(None, ()) if one.id in texts
        ]

    def of_operation(self, operation: Operation, texts: Mapping[str, str]) -> list[Event]:
        """The events of an operation, of its inputs and outputs, and of the variables that it invalidated.

        Args:
            operation: the operation.
            texts: values of the variables that the operation made, by variable id.
        """
        content, id_ = self._content, operation.id
        found = [self.started(operation), *self.uses_of(operation)]
        found += [self.variable(one, texts[one.id]) for one in content.made.get(id_, ())]
        found += [self.derived(one) for one in content.derived.get(id_, ())]
        return found + self.end_of(operation)

    def uses_of(self, operation: Operation) -> list[Event]:
        """The events of what an operation used."""
        return [self._used(one) for one in self._content.used.get(operation.id, ())]

    def end_of(self, operation: Operation) -> list[Event]:
        """The events of the variables that an operation invalidated, and of its end."""
        found: list[Event] = []
        name = self._operations[operation.id]
        for one in self._content.ended.get(operation.id, ()):
            variable = self._variables[one.variable_id]
            found.append(self._event("invalidated", operation.ended_at, variable=variable, operation=name))
        if operation.status is not Status.RUNNING:
            status, error = operation.status.value, None
            if operation.status is Status.ERROR:
                error = _error(_read(_decode_attributes(operation.attributes), "error"))
            ended = operation.ended_at or operation.started_at
            found.append(self._event("operationEnded", ended, operation=name, status=status, error=error))
        return found

    def _event(self, type_: str, moment: Any, **fields: Any) -> Event:
        said = {name: value for name, value in fields.items() if value is not None and value != {}}
        return {"type": type_, "time": format_time(self._content.time(moment))} | said

    def started(self, operation: Operation) -> Event:
        """The event of the beginning of an operation."""
        attributes = _decode_attributes(operation.attributes)
        parent = self._operations.get(str(_read(attributes, "parentId")))
        if parent is not None:
            del attributes["parentId"]
        return self._event(
            "operationStarted",
            operation.started_at,
            operation=self._operations[operation.id],
            session=self._sessions.get(operation.session_id or ""),
            parent=parent,
            name=operation.name or operation.kind.value,
            kind=operation.kind.value,
            category=operation.category,
            comment=operation.comment,
            location=operation.location,
            attributes=attributes,
        )

    def variable(self, variable: Variable, text: str) -> Event:
        """The event of a variable with its whole value."""
        attributes = _decode_attributes(variable.attributes)
        size = _read(attributes, "truncatedFrom")
        is_cut = isinstance(size, int)
        if is_cut:
            del attributes["truncatedFrom"]
        role = _read(attributes, "role")
        if isinstance(role, str) and 0 < len(role) <= MAX_ID_CHARACTERS:
            del attributes["role"]
        else:
            role = None
        is_mentioned = stored_units.is_mentioned(variable)
        if is_mentioned:
            attributes = {key: value for key, value in attributes.items() if key not in stored_units.MARK}
        is_read = bool(variable.occurrence) and variable.external_id in self._recorded
        return self._event(
            "variable",
            variable.created_at,
            variable=self._variables[variable.id],
            name=variable.name or variable.external_id,
            kind=variable.kind.value,
            className=variable.class_name,
            version=variable.version,
            value=text,
            mediaType=variable.media_type,
            operation=self._operations.get(variable.operation_id or ""),
            role=role,
            revisionOf=self._variables.get(variable.revision_of or ""),
            reads=variable.external_id if is_read else None,
            occurrence=variable.occurrence if is_read else None,
            session=self._sessions.get(variable.session_id or ""),
            category=variable.category,
            comment=variable.comment,
            truncated=True if is_cut else None,
            size=size if is_cut else None,
            stored=stored_units.MENTIONED if is_mentioned else None,
            attributes=attributes,
        )

    def _used(self, usage: Usage) -> Event:
        said = {"operation": self._operations[usage.operation_id], "variable": self._variables[usage.variable_id]}
        moment = self._content.of_id[usage.operation_id].started_at
        if usage.role in {CONSIDERED, RETURNED}:
            return self._event(
                "considered",
                moment,
                query=said["variable"],  # a required field; the graph does not store the query of a candidate
                rank=usage.position,
                score=usage.score,
                returned=usage.role == RETURNED,
                **said,
            )
        return self._event("used", moment, role=usage.role, position=usage.position, **said)

    def derived(self, derivation: Derivation) -> Event:
        """The event of a derivation."""
        name = derivation.external_id
        return self._event(
            "derived",
            derivation.created_at,
            derivation=derivation.id if name is None or name in self._several else _short(name, derivation.id),
            source=self._variables[derivation.source],
            target=self._variables[derivation.target],
            operation=self._operations[derivation.operation_id],
            kind=derivation.kind.value,
            comment=derivation.comment,
        )

    def feedback(self, failure: Failure) -> Event:
        """The event of a user's report that an answer is wrong."""
        comment = _read(_decode_attributes(failure.attributes), "comment")
        return self._event(
            "feedback",
            failure.created_at,
            answer=self._variables[failure.answer_id or ""],
            question=self._variables[failure.question_id],
            gold=list(failure.gold_answers),
            evidence=[self._variables[one] for one in failure.evidence_ids if one in self._variables],
            comment=comment if isinstance(comment, str) else None,
        )

    def right(self, answer: Variable) -> Event:
        """The event of the judgement that an answer is right."""
        return self._event("feedback", answer.created_at, answer=self._variables[answer.id], right=True)


def _short(name: str, id_: str) -> str:
    return name if 0 < len(name) <= MAX_ID_CHARACTERS else id_


def _read(attributes: _Attributes, name: str) -> Any:
    return msgspec.json.decode(attributes[name]) if name in attributes else None


def _error(said: object) -> dict[str, str] | None:
    if not isinstance(said, dict):
        return None
    return {"type": str(said.get("type", "error")), "message": str(said.get("message", ""))}
