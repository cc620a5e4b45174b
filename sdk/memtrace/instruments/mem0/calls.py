"""Records one call of a mem0 memory: its prompts and replies, and the units that it finds and writes.

A decision of mem0's model is not recorded as a write: the model may name a unit that does not exist, or repeat a known
one. Only a write to the vector store is recorded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import Token
from typing import Any

from memtrace import empty_searches
from memtrace.context import scope
from memtrace.identity import Variable
from memtrace.instruments import placing
from memtrace.instruments.callers import line
from memtrace.instruments.frameworks.runs import Run, runs
from memtrace.instruments.frameworks.values import asked
from memtrace.instruments.mem0 import replay
from memtrace.instruments.mem0.owners import store_of
from memtrace.instruments.model_calls import ModelCall, Reply, Said
from memtrace.observe import read, take
from memtrace.raw_events import RawEvent
from memtrace.recent import Recent
from memtrace.record import declare
from memtrace.sink import emit
from memtrace.steps import PackageCall, Scope, Step
from memtrace.stored_units import newest_unit, store_unit, stored_unit
from memtrace.told import asked_for, told_inside
from memtrace.values import own_copy, plain_tree, snapshot
from memtrace.variables import deleted, retrieved

KINDS = {
    "add": "Other",
    "search": "Retrieval",
    "get_all": "Retrieval",
    "get": "Retrieval",
    "update": "Update",
    "delete": "Deletion",
    "delete_all": "Deletion",
    "reset": "Deletion",
}
"""The recorded methods of a memory and the kinds of their operations. ``add`` has more operations inside."""

_LONGEST_DATA = 2_000
_said: Recent[tuple[str, str, str], Variable] = Recent(50_000)
"""Messages by trace, role and text, because mem0 puts the newest messages into later prompts."""


class Mem0Call:
    """A running call. Its methods may raise errors, which ``instrument`` reports."""

    def __init__(self, memory: Any, name: str, here: Scope, said: Mapping[str, Any]) -> None:
        """Begin an operation; ``said`` are the call's arguments by name."""
        self.memory = memory
        self.name = name
        self.store = store_of(memory)
        self.is_storing = False
        """Whether ``add`` stores messages by now; an earlier call of a model describes an image."""
        self.ranked: list[tuple[str, float]] | None = None
        self._said = said
        self._step = Step(here, (f"mem0 {name}", KINDS[name]))
        self._messages: dict[Variable, str] = {}
        self._texts: dict[str, Variable] = {}
        self._candidates: dict[str, Variable] = {}
        self._hits: dict[str, tuple[Variable, float | None]] = {}
        self._stored: dict[str, str] = {}
        """Texts of units as the store has them, by id."""
        self._query: Variable | None = None
        self._replies: list[Variable] = []
        self._token: Token[Scope | None] | None = None
        events: list[RawEvent] = [()]
        self._take(events)
        attributes = {
            "owner": ", ".join(f"{kind}={said[kind]}" for kind in ("user_id", "agent_id", "run_id") if said.get(kind))
        }
        shown: dict[str, Any] = {name: value for name, value in attributes.items() if value}
        if KINDS[name] == "Retrieval":
            shown["store"] = self.store
            if said.get("filters"):
                shown["filters"] = plain_tree(said["filters"])
        shown |= {name: said[name] for name in ("top_k", "limit", "threshold", "infer") if said.get(name) is not None}
        if said.get("expiration_date") is not None:
            shown["expires"] = str(said["expiration_date"])
        self.replayed: PackageCall | None = None
        """The replay's changes of a search."""
        if name == "search" and here.trace.replaying is not None:
            self.replayed = here.trace.replaying.package("mem0:search", {"query": said.get("query")})
            shown |= self.replayed.noted
        self._step.begin(line(), {"attributes": shown} if shown else None, events)

    def _take(self, events: list[RawEvent]) -> None:
        said = self._said
        if self.name == "add":
            for role, content in _messages(said.get("messages")):
                self._message(events, role, content)
        elif self.name == "search" and isinstance(said.get("query"), str):
            self._query = self._asked(events, said["query"])
        elif self.name == "update":
            text = said.get("text") or said.get("data")
            if isinstance(text, str):
                self._message(events, "update", text)

    def _asked(self, events: list[RawEvent], query: str) -> Variable:
        """The question of a search. In a run of LangChain, it derives from the message with the same text."""
        step, around = self._step, runs.around()
        if around is not None:
            made = asked(Run(around.root, around, "memory", ""), None, query, is_writing=False)
            step.use(events, made, "query")
            return made
        known = step.trace.identities.find(query)
        if known is not None and known[-1].kind not in {"Query", "RefinedQuery"} and known[-1].operation is None:
            # The same words, said to a model or stored before.
            step.trace.identities.bind(query, declare(events, step, query, "query", "Query"))
        take(events, step, step, query, "query", "Query")
        return next(reversed(step.inputs))

    def _message(self, events: list[RawEvent], role: str, content: object) -> None:
        """Record a message to the memory; it is a new variable even if the same words were a question or a reply.

        What a model wrote as an argument of its tool is the model's reply.
        """
        text = content if isinstance(content, str) else snapshot(content)[0][:_LONGEST_DATA]
        trace = self._step.trace
        known = trace.identities.find(content)
        message = known[0] if known is not None and known[0].kind == "Message" else told_inside(trace, text)
        message = message or asked_for(trace, text)
        if message is not None:
            made = message
        else:
            made = declare(events, self._step, text, role[:100], "Prompt" if role == "system" else "Message")
        _said.set((trace.id, role, text), made)
        self._messages[made] = role
        self._texts[text] = made
        self._step.use(events, made, role)

    @contextmanager
    def current(self) -> Iterator[None]:
        """A block in which the call's operation is current."""
        token = scope.set(self._step)
        try:
            yield
        finally:
            scope.reset(token)

    def failed(self, error: BaseException) -> None:
        """Record an end with an error, or a cancellation."""
        from memtrace.calls import CANCELLED

        is_cancelled = isinstance(error, CANCELLED)
        self._step.finish("cancelled" if is_cancelled else "error", None if is_cancelled else error)

    def done(self, result: object) -> None:
        """Record the result and a normal end."""
        try:
            if self.name == "search":
                self._found(result)
            elif self.name in {"get_all", "get"}:
                self._listed(result)
        finally:
            if KINDS[self.name] == "Retrieval":
                if not result or not (self.name == "get" or _items(result)):
                    empty_searches.found_nothing(self._step)
                else:
                    empty_searches.remember(self._step, [])
            empty_searches.stored(self._step)
            self._step.finish("ok")

    def _found(self, result: object) -> None:
        if self._query is None:
            return
        returned, handed = [], []
        for item in _items(result):
            unit = self._unit(item["id"], item["memory"])
            if unit is not None:
                item["memory"] = own_copy(item["memory"])  # the object tells later which search gave it out
                returned.append((item["memory"], unit))
                handed.append((item, unit))
        ranked = self.ranked if self.ranked is not None else []
        scores = {id_: score for id_, (_, score) in self._hits.items()} | dict(ranked)
        for item, _ in handed:
            if isinstance(item.get("score"), int | float):
                scores[str(item["id"])] = float(item["score"])
        order = sorted(self._hits, key=lambda id_: -(scores.get(id_) or 0.0))  # stable: the store's order among equals
        retrieved(self._query, [(self._hits[id_][0], scores.get(id_)) for id_ in order], returned)
        placing.asked(self._said["query"], self._query)
        self._hand_out([text for text, _ in returned])

    def _listed(self, result: object) -> None:
        events: list[RawEvent] = []
        texts = []
        for item in [result] if self.name == "get" else _items(result):
            if not isinstance(item, dict) or not isinstance(item.get("memory"), str):
                continue
            unit = self._unit(item["id"], item["memory"])
            if unit is not None:
                item["memory"] = own_copy(item["memory"])
                read(events, self._step, self._step, item["memory"], unit)
                texts.append(item["memory"])
        emit(events)
        self._hand_out(texts)

    def _hand_out(self, texts: Iterable[str]) -> None:
        for text in texts:
            known = self._step.trace.identities.find(text)
            if known is not None:
                placing.gave(text, known[-1], is_own=True)

    def saw(self, hits: Iterable[Any]) -> None:
        """Note rows that the vector store returned: they are candidates."""
        for hit in hits:
            payload = getattr(hit, "payload", None)
            text = payload.get("data") if isinstance(payload, Mapping) else None
            if not isinstance(text, str):
                continue
            id_, score = str(hit.id), getattr(hit, "score", None)
            self._stored[id_] = text
            unit = self._unit(id_, text)
            if unit is not None:
                self._candidates.setdefault(id_, unit)
                self._hits.setdefault(id_, (unit, float(score) if isinstance(score, int | float) else None))

    def _unit(self, id_: object, text: str) -> Variable | None:
        known = self._hits.get(str(id_))
        return known[0] if known is not None else stored_unit(text, store=self.store, id=str(id_))

    def remembered(self, rows: Iterable[Any]) -> None:
        """Note earlier messages that mem0 looked up for its prompt."""
        events: list[RawEvent] = []
        for row in rows:
            role, text = str(row.get("role")), row.get("content")
            if not isinstance(text, str):
                continue
            key = (self._step.trace.id, role, text)
            known = _said.get(key)
            if known is None:
                known = declare(events, self._step, text, role[:100], "Message", said={"category": "earlier"})
                _said.set(key, known)
            self._messages.setdefault(known, f"earlier {role}"[:100])
        emit(events)

    def described(self, messages: object) -> None:
        """Note the messages that ``add`` begins to store; a message with the description of an image is new."""
        self.is_storing = True
        events: list[RawEvent] = []
        for role, content in _messages(messages):
            if isinstance(content, str) and content not in self._texts:
                self._message(events, role, content)
        emit(events)

    def model_call(self) -> tuple[str, str]:
        """Name and kind of the operation for a call of the model now."""
        if self._replies:
            return "mem0 decide", "Update"
        return ("mem0 extract", "Extraction") if self._is_extracting else ("mem0 describe", "Other")

    def ask(self, messages: object, model: object, noted: Mapping[str, str]) -> ModelCall | None:
        """Record the beginning of a call of mem0's model, which describes, extracts or decides; None outside traces."""
        here = scope.get()
        if here is None or not isinstance(messages, Sequence):
            return None
        sources: dict[Variable, str] = {}
        if self._replies:
            sources[self._replies[-1]] = "facts"
        else:
            sources |= self._messages
        if self.is_storing:
            sources |= dict.fromkeys(self._candidates.values(), "candidate")
        call = ModelCall(here, *self.model_call())
        attributes: dict[str, Any] = {**({"model": model} if isinstance(model, str) else {}), **noted}
        if self._candidates:
            attributes["candidates"] = list(self._candidates)  # in the order of their numbers in the prompt
        said = [
            Said(str(message.get("role")), message.get("content")) for message in messages if isinstance(message, dict)
        ]
        call.ask(said, attributes, sources)
        return call

    @property
    def _is_extracting(self) -> bool:
        return self.is_storing or self._said.get("memory_type") is not None

    def answered(self, call: ModelCall, reply: object) -> None:
        """Record the model's reply."""
        made = call.done([Reply(reply)] if isinstance(reply, str | dict | list) else [])
        if made and self._is_extracting:
            self._replies.append(made[-1])

    def inserted(self, ids: Iterable[Any], payloads: Iterable[Any]) -> None:
        """Record new rows of the vector store."""
        for id_, payload in zip(ids, payloads, strict=False):
            if isinstance(payload, Mapping) and isinstance(payload.get("data"), str):
                with self._writing("mem0 create", payload["data"], payload["data"]):
                    self._write(str(id_), payload["data"])

    def updated(self, id_: object, payload: object) -> None:
        """Record a changed row of the vector store; a change of metadata alone makes no new version."""
        if not isinstance(payload, Mapping) or not isinstance(payload.get("data"), str):
            return
        if self._stored.get(str(id_)) == payload["data"]:
            return
        with self._writing("mem0 update", payload["data"], payload["data"]):
            self._write(str(id_), payload["data"])

    def removed(self, id_: object) -> None:
        """Record the deletion of a row."""
        unit = newest_unit(store=self.store, id=str(id_))
        if unit is not None:
            with self._writing("mem0 delete", None, self._stored.get(str(id_), "")):
                deleted(unit)

    def emptied(self) -> None:
        """Note that the store was emptied, for all owners."""

    def _write(self, id_: str, text: str) -> None:
        store_unit(text, store=self.store, id=id_)

    @contextmanager
    def _writing(self, name: str, text: str | None, unit: str) -> Iterator[None]:
        """A block in which the writing operation is current: a new operation in ``add``, else the call itself.

        Args:
            name: of the new operation.
            text: the written text; None for a deletion.
            unit: the text of the unit, by which a replay knows the operation.
        """
        if self.name != "add":
            with self.current():
                yield
            return
        step = Step(self._step, (name, "Deletion" if text is None else "Update"))
        events: list[RawEvent] = [()]
        if self._replies:
            step.use(events, self._replies[-1], "decision")
        elif text is not None and (said := self._texts.get(text)) is not None:
            step.use(events, said, "message")
        else:
            for message, role in self._messages.items():
                step.use(events, message, role)
        replaying = step.trace.replaying
        replayed = None if replaying is None else replaying.package(name.replace(" ", ":"), {"unit": unit})
        step.begin(line(), None if replayed is None else {"attributes": replayed.noted}, events)
        token = scope.set(step)
        try:
            yield
            if replayed is not None:
                replay.remember(replayed, self.memory, self._said)
        finally:
            scope.reset(token)
            step.finish("ok")


def forget() -> None:
    """Forget all messages."""
    global _said  # noqa: PLW0603 (one recorder a process)
    _said = Recent(50_000)


def _messages(given: object) -> list[tuple[str, object]]:
    listed = [given] if isinstance(given, str | Mapping) else given if isinstance(given, list) else []
    found: list[tuple[str, object]] = []
    for message in listed:
        if isinstance(message, str):
            found.append(("user", message))
        elif isinstance(message, Mapping) and message.get("content") is not None:
            found.append((str(message.get("role") or "user"), message["content"]))
    return found


def _items(result: object) -> list[dict[str, Any]]:
    listed = result.get("results") if isinstance(result, Mapping) else result
    return [
        item
        for item in (listed if isinstance(listed, list) else ())
        if isinstance(item, dict) and isinstance(item.get("memory"), str) and "id" in item
    ]
