"""Recognises the conversation of a model's call: the earlier call that the call continues, and the call's trace.

A call may name its conversation (``conversation``, ``previous_response_id``, ``metadata`` with a thread or session), or
send the history again: then its messages begin with those of an earlier call and the reply, or with what the program
kept of the reply. A call whose only message quotes several turns of a user, such as a request for a summary of the
history, belongs to the conversation with these turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Protocol, TypeVar

from memtrace.context import name_of
from memtrace.identity import Variable
from memtrace.instruments import placing
from memtrace.instruments.homes import Home
from memtrace.instruments.kept_replies import is_kept
from memtrace.recent import Recent
from memtrace.values import snapshot

MAX_CALLS = 20_000
MAX_HELD = 1_000
"""Largest number of variables of a history that the model's server keeps."""
MAX_HELD_BYTES = 32_000_000

T = TypeVar("T")

_NAMES = ("conversation_id", "thread_id", "session_id", "conversationId", "threadId", "sessionId", "litellm_session_id")
"""Keys of a call's ``metadata`` that name its conversation."""

MAX_TURNS = 400
"""Number of the newest turns of users that are looked for in a message."""
MAX_TRACES = 256
"""Number of the newest traces that are known for one history, turn or call of a tool: thousands may begin alike."""
_SHORTEST_TURN = 16
_FEWEST_QUOTED = 2
"""A message must quote this number of turns: one question may be a part of any text."""
_SHORTEST = 24
"""Fewest characters of a message and its reply together that are recognised without the messages before them."""


class Spoken(Protocol):
    """A message."""

    @property
    def role(self) -> str:
        """Who says it."""
        ...

    @property
    def content(self) -> object:
        """What is said."""
        ...


@dataclass(frozen=True, slots=True)
class Talk:
    """What a call says about its conversation.

    Attributes:
        name: the conversation's id; None if the call names none.
        before: the id of the earlier response that the call continues.
        spoken: the messages without instructions, as role and text.
        is_held: whether the model's server keeps the history of the named conversation, and adds it to the call.
    """

    name: str | None = None
    before: str | None = None
    spoken: Sequence[tuple[str, str]] = ()
    is_held: bool = False

    def last_reply(self) -> int | None:
        """The place of the last reply in the history; None if it has none."""
        return next(
            (place for place in reversed(range(len(self.spoken))) if self.spoken[place][0] == "assistant"), None
        )

    def digests(self) -> list[bytes]:
        """Digests of the history up to the last reply in it: of the whole history, and of its last two messages."""
        last = self.last_reply()
        return [] if last is None else _keys(self.spoken[: last + 1])


@dataclass(frozen=True, slots=True)
class Held:
    """A history that the model's server keeps.

    Attributes:
        trace: id of its trace.
        variables: its messages and replies, in order.
        is_asked: whether its newest message of a user is a turn of a conversation, or a prompt with a question.
    """

    trace: str
    variables: tuple[Variable, ...] = ()
    is_asked: bool = False


@dataclass(slots=True)
class _Memory:
    continued: Recent[bytes, dict[str, bool]] = field(default_factory=lambda: Recent(2 * MAX_CALLS))
    """Traces by a digest of their history, each with whether a later call has continued it from there."""
    asked: Recent[bytes, dict[str, str]] = field(
        default_factory=lambda: Recent(2 * MAX_CALLS, MAX_HELD_BYTES, lambda known: 64 + sum(map(len, known.values())))
    )
    """Traces by a digest of the messages of a call that got one text as its reply; each trace with the reply."""
    tools: Recent[bytes, dict[str, bool]] = field(default_factory=lambda: Recent(MAX_CALLS))
    """Traces by a digest of a tool's name and arguments that a reply calls, each with whether the tool has run."""
    turns: Recent[str, dict[str, None]] = field(default_factory=lambda: Recent(2 * MAX_TURNS))
    """The traces in which a user said a text."""
    held: Recent[str, Held] = field(
        default_factory=lambda: Recent(MAX_CALLS, MAX_HELD_BYTES, lambda held: 64 + 8 * len(held.variables))
    )


_memory = _Memory()


def talk_of(body: Mapping[str, Any], messages: Iterable[Spoken]) -> Talk:
    """The conversation of a request to OpenAI's interface."""
    told = body.get("metadata")
    told = told if isinstance(told, Mapping) else {}
    held = body.get("conversation")
    held = held.get("id") if isinstance(held, Mapping) else held
    named = held or next((told[name] for name in _NAMES if told.get(name)), None)
    before = body.get("previous_response_id")
    return Talk(
        str(named) if isinstance(named, str | int) else None,
        before if isinstance(before, str) else None,
        said(messages),
        is_held=bool(held),
    )


def said(messages: Iterable[Spoken]) -> list[tuple[str, str]]:
    """Role and text of each message that is no instruction."""
    return [(one.role, _text(one.content)) for one in messages if one.role not in {"system", "developer", "reasoning"}]


def alone(said: Spoken) -> bytes:
    """A digest of one message without the conversation before it."""
    return blake2b(f"{said.role}\0{_text(said.content)}".encode("utf-8", "surrogatepass"), digest_size=20).digest()


def up_to_each(messages: Sequence[Spoken]) -> list[bytes]:
    """For each message, a digest of the conversation up to it."""
    digest, keys = blake2b(digest_size=16), []
    for said in messages:
        text = _text(said.content)
        digest.update(f"{said.role}\0{len(text)}\0{text}".encode("utf-8", "surrogatepass"))
        keys.append(digest.digest())
    return keys


def home(talk: Talk, what: str) -> Home | None:
    """The trace that a call names; None if it names no conversation.

    Args:
        talk: of the call.
        what: the package and call, for the name of the trace.
    """
    held = _held(talk)
    if held is not None:
        return Home(held.trace, "", talk.name)
    if talk.name is not None:
        return placing.conversation_home(talk.name)
    if talk.before is not None:
        return placing.conversation_home(talk.before, name=what)
    return None


def continued(talk: Talk) -> list[str]:
    """The traces whose history the call continues, those first that no call has continued; else traces it quotes."""
    for key in talk.digests():
        known = _memory.continued.get(key)
        if known:
            fresh = [trace for trace, is_used in list(known.items()) if not is_used]
            return list(dict.fromkeys(map(name_of, fresh or list(known))))
    return _changed(talk) or _quoted(talk)


def _changed(talk: Talk) -> list[str]:
    """The traces of calls with the messages before the last reply, of which the program kept a part.

    Two users may have said the same until then, so that any other reply proves nothing.
    """
    last = talk.last_reply()
    if not last:
        return []
    asked, kept = talk.spoken[:last], talk.spoken[last][1]
    for key in _keys(asked):
        known = _memory.asked.get(key) or {}
        if found := [trace for trace, reply in known.items() if is_kept(kept, reply)]:
            return list(dict.fromkeys(map(name_of, found)))
    return []


def _quoted(talk: Talk) -> list[str]:
    """The traces of which a call's only message quotes most turns of a user."""
    if len(talk.spoken) != 1 or talk.spoken[0][0] != "user":
        return []
    text, turns = talk.spoken[0][1], _memory.turns
    found: Counter[str] = Counter()
    for turn, traces in {**turns.old, **turns.young}.items():
        if len(turn) < len(text) and turn in text:
            found.update(list(dict.fromkeys(map(name_of, traces))))
    most = max(found.values(), default=0)
    return [trace for trace, count in found.items() if count == most] if most >= _FEWEST_QUOTED else []


def earlier(talk: Talk, trace: str) -> Held:
    """The history that the model's server adds to a call in this trace; empty if it adds none or it is not known."""
    held = _held(talk)
    return held if held is not None and held.trace == trace else Held(trace)


def answered(talk: Talk, trace: str, replies: Sequence[object], response: str | None, history: Held) -> None:
    """Remember a call that ended.

    Args:
        talk: of the call.
        trace: the trace of the call.
        replies: texts and calls of tools of its replies.
        response: the id of the response, if it has one.
        history: with the messages and replies of the call.
    """
    for key in talk.digests():
        known = _memory.continued.get(key)
        if known is not None:
            known.update({one: True for one in known if name_of(one) == trace})
    for text in [text for role, text in talk.spoken if role == "user" and len(text) >= _SHORTEST_TURN][-1:]:
        _memory.turns.set(text, _with(_memory.turns.get(text), trace, None))
    only = replies[0] if len(replies) == 1 else None
    if isinstance(only, str):
        for key in _keys(talk.spoken):
            _memory.asked.set(key, _with(_memory.asked.get(key), trace, only))
    spoken = [*talk.spoken, *(("assistant", _text(one)) for one in replies)]
    if replies:
        for key in _keys(spoken):
            _note(key, trace)
    if response is not None:
        _memory.held.set(f"response {response}", history)
    if talk.name is not None and talk.is_held:
        _memory.held.set(f"conversation {talk.name}", history)


def called(tool: str, arguments: object, trace: str) -> None:
    """Remember a tool that a model's reply calls: the program may run it by itself."""
    key = _digest([(tool, snapshot(arguments)[0])])
    _memory.tools.set(key, _with(_memory.tools.get(key), trace, value=False))


def running(tool: str, arguments: object) -> list[str]:
    """The traces with a reply that calls a tool with these arguments, those first where the tool has not run yet."""
    known = _memory.tools.get(_digest([(tool, snapshot(arguments)[0])])) or {}
    found = [trace for trace, has_run in list(known.items()) if not has_run] or list(known)
    if len(found) == 1:
        known[found[0]] = True
    return list(dict.fromkeys(map(name_of, found)))


def forget() -> None:
    """Forget all conversations."""
    global _memory  # noqa: PLW0603 (one recorder a process)
    _memory = _Memory()


def _held(talk: Talk) -> Held | None:
    found = None if talk.before is None else _memory.held.get(f"response {talk.before}")
    if found is None and talk.name is not None and talk.is_held:
        found = _memory.held.get(f"conversation {talk.name}")
    return found if found is None or name_of(found.trace) == found.trace else replace(found, trace=name_of(found.trace))


def _note(key: bytes, trace: str) -> None:
    _memory.continued.set(key, _with(_memory.continued.get(key), trace, value=False))


def _with(known: dict[str, T] | None, trace: str, value: T) -> dict[str, T]:
    """The traces that are known for a key, the newest last, and a further one: a copy, because threads share them."""
    found = dict(known or ())
    found.pop(trace, None)
    if len(found) >= MAX_TRACES:
        del found[next(iter(found))]
    found[trace] = value
    return found


def _keys(spoken: Sequence[tuple[str, str]]) -> list[bytes]:
    """The digest of a history, and of its last two messages if these are long enough."""
    keys = [_digest(spoken)]
    if len(spoken) > 2 and sum(len(text) for _, text in spoken[-2:]) >= _SHORTEST:
        keys.append(_digest(spoken[-2:]))
    return keys


def _digest(spoken: Sequence[tuple[str, str]]) -> bytes:
    state = blake2b(digest_size=16)
    for role, text in spoken:
        state.update(f"{role}\0{len(text)}\0{text}".encode("utf-8", "surrogatepass"))
    return state.digest()


def _text(content: object) -> str:
    return content if isinstance(content, str) else snapshot(content)[0]
