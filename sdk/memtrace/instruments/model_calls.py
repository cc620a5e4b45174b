"""One call of a model as an operation: the messages are the inputs, and the reply is the output.

Each message of a conversation is a variable of its own, so that a turn adds only the new messages. A message derives
from texts inside it that were handed out before: memory units, documents, questions, replies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from memtrace import empty_searches
from memtrace.equal_texts import CONFIDENCE
from memtrace.faults import report
from memtrace.identity import Variable
from memtrace.instruments import handed_out, placing
from memtrace.instruments.handed_out import Given
from memtrace.observe import STORED, choose
from memtrace.raw_events import RawEvent
from memtrace.recent import Recent
from memtrace.record import declare
from memtrace.steps import Scope, Step
from memtrace.values import snapshot

INSIDE = f"inferred: the text is inside, confidence {CONFIDENCE}"
"""Comment of an edge from a text to a message that contains the text; the confidence is an estimate."""

_KINDS = {"system": "Prompt", "developer": "Prompt", "user": "Prompt", "assistant": "Response", "tool": "Other"}
MAX_CONVERSATIONS = 20_000

_known: Recent[tuple[str, bytes], Variable] = Recent(MAX_CONVERSATIONS)
"""Messages by trace and by a digest of the conversation up to the message: conversations are sent again whole."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message to a model.

    Attributes:
        role: ``system``, ``user``, ``assistant``, ``tool`` or another word of the model's.
        content: the text, or other data.
        same: another object by which the message may be known, such as the whole message of a model's reply.
    """

    role: str
    content: object
    same: object = None


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply of a model; ``objects`` are the application's objects for the reply."""

    text: object
    name: str = "reply"
    objects: tuple[object, ...] = ()


class ModelCall(Step):
    """A running call of a model. None of its methods raises an error."""

    __slots__ = ("is_over",)

    def __init__(self, here: Scope, name: str, kind: str = "Generation") -> None:
        super().__init__(here, (name, kind))
        self.is_over = False

    def ask(
        self,
        messages: Sequence[Said],
        attributes: Mapping[str, Any],
        sources: Mapping[Variable, str] | None = None,
        location: str | None = None,
    ) -> None:
        """Record the messages to the model.

        Args:
            messages: the whole conversation.
            attributes: such as the model's name.
            sources: the variables that the user's messages derive from, each with its role in the operation. None
                means unknown: then texts that were handed out before are looked for in the messages.
            location: the line of the application.
        """
        try:
            events: list[RawEvent] = [()]
            for source, role in (sources or {}).items():
                self.use(events, source, role)
            self._take(events, messages, sources)
            if sources is None and self.maker[1] == "Generation":
                empty_searches.use(self, events)
            self.begin(location, {"attributes": dict(attributes)} if attributes else None, events)
        except Exception as error:
            report("what a model is asked", error)

    def _take(self, events: list[RawEvent], messages: Sequence[Said], sources: Mapping[Variable, str] | None) -> None:
        keys = _conversation(self.trace_id, messages)
        known = [self._find(said, key) for said, key in zip(messages, keys, strict=True)]
        found = [
            handed_out.inside(said.content)
            if sources is None and known is None and isinstance(said.content, str)
            else []
            for said, known in zip(messages, known, strict=True)
        ]
        for texts in found:  # questions first: they decide which occurrence of a unit is meant
            for text in texts:
                for given in text.given.get(self.trace_id, ()):
                    if given.variable.kind in {"Query", "RefinedQuery"} and not self.has_input(given.variable):
                        self.use(events, given.variable, "question")
        for said, key, variables, texts in zip(messages, keys, known, found, strict=True):
            variable = self._new(events, said, texts, sources) if variables is None else choose(variables, self)
            _known.set((self.trace_id, key), variable)
            if not self.has_input(variable):
                self.use(events, variable, said.role)

    def _find(self, said: Said, key: bytes) -> list[Variable] | None:
        find = self.trace.identities.find
        known = find(said.content) or (find(said.same) if said.same is not None else None)
        if known is None and (before := _known.get((self.trace_id, key))) is not None:
            known = [before]
        return known

    def _new(
        self,
        events: list[RawEvent],
        said: Said,
        texts: Sequence[handed_out.Text],
        sources: Mapping[Variable, str] | None,
    ) -> Variable:
        inside = dict.fromkeys(self._meant(text.given[self.trace_id]) for text in texts if self.trace_id in text.given)
        for variable in inside:
            if not self.has_input(variable):
                self.use(events, variable, "inside")
        kind = _KINDS.get(said.role, "Other")
        made = declare(events, self, said.content, f"{said.role} message"[:100], kind)
        if said.role == "user":
            for source in sources or ():
                self.link(source, made, None)
        for variable in inside:
            self.link(variable, made, INSIDE)
        if isinstance(said.content, str):
            self.trace.identities.bind(said.content, made)
        return made

    def _meant(self, givens: Sequence[Given]) -> Variable:
        """The variable of a text that was given out several times: the newest variable of this question."""
        if not self.asked:
            return givens[-1].variable
        for given in reversed(givens):
            if not given.variable.questions or given.variable.questions & self.asked:
                return given.variable
        other = givens[
            -1
        ].variable  # handed out for another question, and kept: then it is the unit itself that is used
        while other.reads is not None and other.kind in STORED:
            other = other.reads
        return other

    def done(self, replies: Sequence[Reply], attributes: Mapping[str, Any] | None = None) -> list[Variable]:
        """Record the replies and a normal end; returns the variables of the replies."""
        made: list[Variable] = []
        if self.is_over:
            return made
        self.is_over = True
        try:
            for reply in replies:
                variable = declare(self.pending, self, reply.text, reply.name, "Response", step=self)
                made.append(variable)
                self.known_as(variable, reply.text, *reply.objects)
            self.finish("ok", None, attributes)
        except Exception as error:
            report("reply of a model", error)
        return made

    def known_as(self, variable: Variable, *objects: object) -> None:
        """Let objects stand for a reply: the application may pass them to another call."""
        for one in objects:
            if one is None or (isinstance(one, str) and len(one) < 2):
                continue
            if type(one) is str:
                self.trace.identities.bind(one, variable, is_own=True)
            else:
                self.trace.identities.bind(one, variable)
            placing.gave(one, variable, proof="object", is_own=True, at=self)

    def fail(self, error: BaseException, replies: Sequence[Reply] = ()) -> None:
        """Record an error or a cancellation; ``replies`` is the part of the reply that had come."""
        from memtrace.calls import CANCELLED

        if self.is_over:
            return
        self.is_over = True
        try:
            for reply in replies:
                declare(self.pending, self, reply.text, reply.name, "Response", step=self)
            is_cancelled = isinstance(error, CANCELLED)
            self.finish("cancelled" if is_cancelled else "error", None if is_cancelled else error)
        except Exception as wrong:
            report("end of a model's call", wrong)


def forget() -> None:
    """Forget all conversations."""
    global _known  # noqa: PLW0603 (one recorder a process)
    _known = Recent(MAX_CONVERSATIONS)


def _conversation(trace: str, messages: Sequence[Said]) -> list[bytes]:
    """For each message, a digest of the conversation up to it."""
    digest = blake2b(trace.encode("utf-8", "surrogatepass"), digest_size=16)
    keys = []
    for said in messages:
        text = said.content if isinstance(said.content, str) else snapshot(said.content)[0]
        digest.update(f"{said.role}\0{len(text)}\0{text}".encode("utf-8", "surrogatepass"))
        keys.append(digest.digest())
    return keys
