"""One call of a model as an operation: the messages are the inputs, and the reply is the output.

Each message of a conversation is a variable of its own, so that a turn adds only the new messages. A message derives
from texts inside it that were handed out before: memory units, documents, questions, replies.

A call of the application itself, outside of operations, is a turn of a conversation: the user's message is a Message,
unless it contains known texts: then the application wrote it, and it is a Prompt. The reply is an Answer, also to a
Prompt with a question that a memory was asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memtrace import empty_searches
from memtrace.calls import just_retrieved
from memtrace.equal_texts import CONFIDENCE
from memtrace.faults import report
from memtrace.identity import Questions, Variable
from memtrace.instruments import conversations, handed_out, joining, kept_replies, placing, said_now
from memtrace.instruments.conversations import MAX_HELD, Held, Talk
from memtrace.instruments.handed_out import Given
from memtrace.instruments.texts import inside_of
from memtrace.observe import STORED, choose
from memtrace.raw_events import RawEvent
from memtrace.recent import Recent
from memtrace.record import declare
from memtrace.steps import Scope, Step
from memtrace.told import ask_for

INSIDE = f"inferred: the text is inside, confidence {CONFIDENCE}"
"""Comment of an edge from a text to a message that contains the text; the confidence is an estimate."""

THOUGHT = "reasoning"
"""Name of the reply with the model's reasoning. All other replies of the call derive from the reasoning."""

TOOL_CALLS = "tool calls"
"""Name of the reply with the tools that the model calls."""

TURN, EARLIER = "turn", "earlier"
"""Categories of messages of a conversation: said now by the user; or said before, and not recorded then."""

_KINDS = {"system": "Prompt", "developer": "Prompt", "user": "Prompt", "assistant": "Response", "tool": "Other"}
MAX_CONVERSATIONS = 20_000

_known: Recent[tuple[str, bytes], Variable] = Recent(MAX_CONVERSATIONS)
"""Messages by trace and by a digest of the conversation up to the message: conversations are sent again whole."""


def _rename(trace: str, to: str) -> None:
    for known in (_known.young, _known.old):
        for place, variable in [(place, known[place]) for place in list(known) if place[0] == trace]:
            known.setdefault((to, place[1]), variable)


joining.renaming.append(_rename)

_written_for: Recent[str, Questions] = Recent(MAX_CONVERSATIONS)
"""The questions behind the texts inside a message, by the id of the message."""


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

    __slots__ = ("_is_asked", "_is_said_inside", "_is_turn", "_spoken", "_talk", "is_over")

    def __init__(self, here: Scope, name: str, kind: str = "Generation") -> None:
        super().__init__(here, (name, kind))
        self.is_over = False
        self._is_turn = here.step is None and kind == "Generation"
        """Whether the application itself calls the model."""
        self._is_asked = False
        """Whether the newest message of the user is a turn of a conversation, or a prompt with the user's question."""
        self._is_said_inside = False
        """Whether the message at hand has something that the user says now, beside kept parts of replies."""
        self._spoken: list[Variable] = []
        """The messages without instructions."""
        self._talk: Talk | None = None

    def ask(
        self,
        messages: Sequence[Said],
        attributes: Mapping[str, Any],
        sources: Mapping[Variable, str] | None = None,
        location: str | None = None,
        talk: Talk | None = None,
    ) -> None:
        """Record the messages to the model.

        Args:
            messages: the whole conversation.
            attributes: such as the model's name.
            sources: the variables that the user's messages derive from, each with its role in the operation. None
                means unknown: then texts that were handed out before are looked for in the messages.
            location: the line of the application.
            talk: the conversation of the call.
        """
        try:
            self._talk = talk
            self._is_turn = self._is_turn and sources is None
            events: list[RawEvent] = [()]
            for source, role in (sources or {}).items():
                self.use(events, source, role)
            if talk is not None:
                held = conversations.earlier(talk, self.trace.id)
                for variable in held.variables:
                    self._spoken.append(variable)
                    if not self.has_input(variable):
                        self.use(events, variable, "history")
                self._is_asked = held.is_asked
            self._take(events, messages, sources)
            if sources is None and self.maker[1] == "Generation":
                empty_searches.use(self, events)
            self.begin(location, {"attributes": dict(attributes)} if attributes else None, events)
        except Exception as error:
            report("what a model is asked", error)

    def _take(self, events: list[RawEvent], messages: Sequence[Said], sources: Mapping[Variable, str] | None) -> None:
        keys = conversations.up_to_each(messages)
        replied = max((place for place, said in enumerate(messages) if said.role == "assistant"), default=-1)
        known = [
            self._find(said, key, is_history=self._is_turn and place <= replied)
            for place, (said, key) in enumerate(zip(messages, keys, strict=True))
        ]
        found = [
            kept_replies.inside(said.role, said.content, self.trace_id)
            if sources is None and known is None and isinstance(said.content, str)
            else []
            for said, known in zip(messages, known, strict=True)
        ]
        self._use_questions(events, found)  # first: they decide which occurrence of a unit is meant
        for place, (said, before) in enumerate(zip(messages, known, strict=True)):
            if sources is None and before is not None and self._is_written_anew(said, before, known):
                known[place], found[place] = None, handed_out.inside(str(said.content))
        for place, (said, key, variables, texts) in enumerate(zip(messages, keys, known, found, strict=True)):
            if variables is None:
                variable = self._new(events, said, texts, sources, is_history=place <= replied)
            else:
                variable = choose(variables, self)
            _known.set((self.trace_id, key), variable)
            if self._is_turn:
                _known.set((self.trace_id, conversations.alone(said)), variable)
            if not self.has_input(variable):
                self.use(events, variable, said.role)
            if said.role not in _INSTRUCTIONS:
                self._spoken.append(variable)
            if said.role == "user":
                is_asked = variable.kind in {"Message", "Query"} or self._has_question(texts)
                self._is_asked = self._is_turn and (is_asked or self._is_said_inside)
                self._is_said_inside = False

    def _use_questions(self, events: list[RawEvent], found: Sequence[Sequence[handed_out.Text]]) -> None:
        for text in (text for texts in found for text in texts):
            for given in text.given.get(self.trace_id, ()):
                if given.variable.kind in {"Query", "RefinedQuery"} and not self.has_input(given.variable):
                    self.use(events, given.variable, "question")

    def _is_written_anew(
        self, said: Said, before: Sequence[Variable], known: Sequence[Sequence[Variable] | None]
    ) -> bool:
        """Whether a message has the words of an earlier one, and results that were found again for this question.

        Two questions may find the same units. The instructions that an application writes with them are then equal.

        Args:
            said: the message.
            before: the earlier message, and its occurrences.
            known: the variables of all messages of the call, as far as they are known.
        """
        others = (one for some in known if some is not before for one in some or ())
        asked = self.asked.union(*(one.questions for one in others))
        questions = frozenset[str]().union(*(_written_for.get(one.id) or () for one in before))
        if not isinstance(said.content, str) or not questions or questions & asked:
            return False
        if self.trace.identities.find(said.content):
            return False  # the very object: the conversation goes on
        given = (one for text in handed_out.inside(said.content) for one in text.given.get(self.trace_id, ()))
        return any(one.variable.reads is not None and one.variable.questions & asked for one in given)

    def _has_question(self, texts: Sequence[handed_out.Text]) -> bool:
        """Whether the application put a question that it searched for into a message, and no earlier reply.

        With an earlier reply inside, the message rather asks for a judgement of the reply. A memory that gave the words
        of a reply after it was made is not such a reply: a model may answer with a memory unit as it is. Nor is a part
        of a reply, such as a note that the application kept: with notes alone, the application asks for the user.
        """
        given = [found for text in texts if (found := text.given.get(self.trace_id))]
        whole = [one for found in given if not (one := found[-1]).is_part]
        is_asked = any(one.variable.kind == "Query" for found in given for one in found) or (given and not whole)
        return bool(is_asked) and _REPLIES.isdisjoint(one.variable.kind for one in whole)

    def _find(self, said: Said, key: bytes, *, is_history: bool) -> list[Variable] | None:
        find = self.trace.identities.find
        known = find(said.content) or (find(said.same) if said.same is not None else None)
        if known is None and (before := _known.get((self.trace_id, key))) is not None:
            known = [before]
        if (
            known is None
            and is_history
            and (before := _known.get((self.trace_id, conversations.alone(said)))) is not None
        ):
            known = [before]  # the history was cut before this message
        return known

    def _new(
        self,
        events: list[RawEvent],
        said: Said,
        texts: Sequence[handed_out.Text],
        sources: Mapping[Variable, str] | None,
        *,
        is_history: bool,
    ) -> Variable:
        inside = dict.fromkeys(self._meant(text.given[self.trace_id]) for text in texts if self.trace_id in text.given)
        if self._is_turn and isinstance(said.content, str):
            inside |= dict.fromkeys(said_now.turns_in(self.trace, said.content, is_enough=bool(inside)))
        if sources is None and isinstance(said.content, str):
            inside |= dict.fromkeys(self._given_in(said.content))
        if said.role == "assistant" and self._spoken:
            kept = kept_replies.kept_of(self._spoken[-1], said.content)
            inside |= {} if kept is None else {kept: None}
        inside |= dict.fromkeys(self._said_now(events, said, texts, inside))
        for variable in inside:
            if not self.has_input(variable):
                self.use(events, variable, "inside")
        kind, more = _KINDS.get(said.role, "Other"), None
        is_spoken = said.role == "user" or (said.role == "assistant" and isinstance(said.content, str))
        if self._is_turn and is_spoken:
            kind = kind if inside else "Message"
            more = None if inside and said.role != "user" else {"category": EARLIER if is_history else TURN}
        made = declare(events, self, said.content, f"{said.role} message"[:100], kind, said=more)
        if said.role == "user":
            for source in sources or ():
                self.link(source, made, None)
        for variable in inside:
            self.link(variable, made, INSIDE)
        if questions := frozenset[str]().union(*(one.questions for one in inside)):
            _written_for.set(made.id, questions)
        if isinstance(said.content, str):
            self.trace.identities.bind(said.content, made)
            if kind == "Message":
                said_now.remember_turn(self.trace, said.content, made)
        return made

    def _said_now(
        self, events: list[RawEvent], said: Said, texts: Sequence[handed_out.Text], inside: Mapping[Variable, None]
    ) -> list[Variable]:
        """What the user says now in a message that the program wrote from kept replies alone, as a Message."""
        text = said.content
        if not (said.role == "user" and self._is_turn and isinstance(text, str)):
            return []
        own = {one.variable for known in texts for one in known.given.get(self.trace_id, ())}
        new = said_now.said_now(self.trace, text, texts) if inside.keys() <= own else ""
        said_now.remember(self.trace, text)
        if not new:
            return []
        made = declare(events, self, new, "said in user message", "Message", said={"category": TURN})
        said_now.remember_turn(self.trace, new, made)
        self._is_said_inside = True
        return [made]

    def _given_in(self, text: str) -> list[Variable]:
        """What a text for the model contains: inputs of the operations around the call, and what was just retrieved."""
        around, given = self.parent, dict.fromkeys(just_retrieved(self.trace))
        while around is not None:
            given |= around.inputs
            around = around.parent
        return inside_of(self.trace, given, text)

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
            is_answer = self._is_asked and all(reply.name in {"reply", THOUGHT} for reply in replies)
            thoughts: list[Variable] = []
            arguments: list[str] = []
            for reply in replies:
                is_thought = reply.name == THOUGHT
                kind = "Other" if is_thought else "Answer" if is_answer else "Response"
                variable = declare(self.pending, self, reply.text, reply.name, kind, step=self)
                made.append(variable)
                self.known_as(variable, reply.text, *reply.objects)
                written = kept_replies.arguments_of(reply.text) if reply.name == TOOL_CALLS else []
                kept_replies.note_parts(self.trace_id, reply.text, written, variable)
                for argument in written:
                    arguments.append(argument)
                    ask_for(self.trace, argument, variable)
                for source in () if is_thought else (*self.inputs, *thoughts) if thoughts else ():
                    self.link(source, variable, None)
                if is_thought:
                    thoughts.append(variable)
            if self._talk is not None:
                self._remember(self._talk, replies, made, (attributes or {}).get("responseId"))
            self.finish("ok", None, attributes)
            joining.wrote(self.trace.id, arguments)
        except Exception as error:
            report("reply of a model", error)
        return made

    def _remember(self, talk: Talk, replies: Sequence[Reply], made: Sequence[Variable], response: object) -> None:
        """Note the call, so that later calls can continue its conversation."""
        history = Held(self.trace.id, tuple((*self._spoken, *made)[-MAX_HELD:]), self._is_asked)
        texts = [reply.text for reply in replies if reply.name != THOUGHT]
        conversations.answered(talk, self.trace.id, texts, response if isinstance(response, str) else None, history)
        if self._is_turn:
            for reply, variable in zip(replies, made, strict=True):
                if reply.name != THOUGHT and self._spoken:
                    kept_replies.note(self._spoken[-1], reply.text, variable)
                _known.set((self.trace_id, conversations.alone(Said("assistant", reply.text))), variable)

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
                kind = "Other" if reply.name == THOUGHT else "Response"
                declare(self.pending, self, reply.text, reply.name, kind, step=self)
            is_cancelled = isinstance(error, CANCELLED)
            self.finish("cancelled" if is_cancelled else "error", None if is_cancelled else error)
        except Exception as wrong:
            report("end of a model's call", wrong)


def forget() -> None:
    """Forget all conversations."""
    global _known, _written_for
    _known, _written_for = Recent(MAX_CONVERSATIONS), Recent(MAX_CONVERSATIONS)
    conversations.forget()
    kept_replies.forget()


_INSTRUCTIONS = frozenset({"system", "developer"})
_REPLIES = frozenset({"Answer", "Response"})
