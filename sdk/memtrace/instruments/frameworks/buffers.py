"""A conversation that a model gets whole is one buffer: each turn makes a new version, and so does each cut or summary.

A list of messages that begins with an earlier version continues it. A list that shares messages with an earlier version
and lacks others is a rewritten history: a version of the earlier one, made by an operation of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

from memtrace.identity import Variable
from memtrace.instruments.frameworks.messages import conversations, plain
from memtrace.instruments.frameworks.runs import Run
from memtrace.instruments.frameworks.values import known_message, message, remember_message
from memtrace.instruments.making import Making

MAX_VERSIONS = 16
"""Number of versions of a conversation that may grow or be rewritten: a program may ask other things between turns."""

MAX_COMPARED = 500
"""Number of messages at the end of a conversation that are compared with a rewritten history."""

TRIMMED, REWRITTEN = "trim history", "rewrite history"
"""Names of rewriting operations that no node or function explains."""

Said = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a conversation.

    Attributes:
        value: the messages as elements of a buffer.
        spoken: the same without system messages, which programs put before a conversation or leave out.
        made: the buffer's variable.
        name: the buffer's name.
        marks: ids of the messages, and of their objects, which ``messages`` keeps alive.
    """

    value: list[Said]
    spoken: list[Said]
    made: Variable
    name: str
    marks: frozenset[str]
    messages: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Change:
    """How a list of messages differs from an earlier version.

    Attributes:
        kept: how many messages of the earlier version are left.
        dropped: how many are not.
        inserted: places of new messages before the last one that was kept, such as a summary.
    """

    kept: int
    dropped: int
    inserted: frozenset[int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node of a graph that returned messages for the key that it had read: an addition, or a rewritten history.

    Attributes:
        name: of the node.
        location: of the node's function; None if it is a package's.
        spoken: the returned messages, without system messages.
        key: that was read.
        before: the messages that were read.
    """

    name: str
    location: str | None
    spoken: list[Said]
    key: str
    before: Sequence[Any]


def buffer(run: Run, key: str, messages: Sequence[Any]) -> Variable:
    """The version of the conversation's buffer with these messages, recorded now if it is new."""
    made = version(run, key, messages).made
    for one in messages:
        run.root.buffers[id(one)] = one, made
    return made


def version(run: Run, key: str, messages: Sequence[Any], *, is_state: bool = False) -> Version:
    """The version with these messages. ``is_state``: the messages are what a run was given, not what a model reads."""
    known, spoken = versions(run), spoken_of(messages)
    begun = _begun(run, known, spoken, messages)
    if begun is not None and len(begun.spoken) == len(spoken):
        return begun
    if not is_state and _tell_state(run, spoken):
        begun = _begun(run, known, spoken, messages)
        if begun is not None and len(begun.spoken) == len(spoken):
            return begun
    continued = 0 if begun is None else len(begun.spoken)
    candidate = next((one for one in candidates(run) if len(one.spoken) > continued and _explains(one, spoken)), None)
    if candidate is not None:
        whole = version(run, candidate.key, candidate.before, is_state=True)
        how = change(whole.spoken, [plain(one) for one in messages])
        return rewrite(run, candidate.name, whole, how, messages, location=candidate.location)
    changed = _rewritten(run, known, spoken, messages, continued)
    if changed is not None:
        before, how = changed
        return rewrite(run, _name(run, REWRITTEN if how.inserted else TRIMMED), before, how, messages)
    # The messages come first, because finding one may write another operation, which makes a prompt.
    new = [message(run, one) for one in _new(begun, messages)]
    name = begun.name if begun is not None else f"{key} of {run.root.session}" if run.root.session else key
    appending = Making(run.here, "append messages", "Update")
    for one in new:
        appending.use(one, "message")
    value = [plain(one) for one in messages]
    made = appending.make(value, name, "Buffer", revises=None if begun is None else begun.made)
    appending.end()
    return _keep(run, value, made, name, messages)


def rewrite(
    run: Run, name: str, before: Version, how: Change, messages: Sequence[Any], *, location: str | None = None
) -> Version:
    """Record a rewritten history: a new version of ``before``, made by an operation of its own.

    Args:
        run: around the operation.
        name: of the operation, such as the name of the node.
        before: the version with the messages that were dropped.
        how: the change from ``before`` to the messages.
        messages: the new history.
        location: the line of the code that rewrites; the default is the line of the application that runs.
    """
    value, kept = [plain(one) for one in messages], {_form(one) for one in before.value}
    # A new message that nobody has said was made by this operation, such as a placeholder for what it dropped.
    found = {
        place: known_message(run, one) if place in how.inserted else message(run, one)
        for place, one in enumerate(messages)
        if _form(value[place]) not in kept
    }
    kind = "Deletion" if how.dropped and not how.inserted else "Update"
    making = Making(run.here, name, kind, attributes={"dropped": how.dropped}, location=location)
    sources = [making.use(one, "message") for one in found.values() if one is not None]
    for place in [place for place, one in found.items() if one is None]:
        summary = making.make(str(value[place]["content"]), "summary", "Context", sources=[before.made, *sources])
        remember_message(run, messages[place], summary)
        sources.append(summary)
    made = making.make(value, before.name, "Buffer", revises=before.made, sources=sources)
    making.end()
    return _keep(run, value, made, before.name, messages)


def versions(run: Run) -> list[Version]:
    """The versions of the run's conversation that may go on; without a session, those of the whole trace."""
    kept: dict[str, list[Version]] = run.here.trace.notes.setdefault("buffers", {})
    return kept.setdefault(run.root.session or "", [])


def is_kept(run: Run, said: Any) -> bool:
    """Whether a message stands in a version of the run's conversation, such as a summary that a program put there."""
    marks = set(_marks([said]))
    return any(not one.marks.isdisjoint(marks) for one in versions(run))


def candidates(run: Run) -> list[Candidate]:
    """The nodes that may have rewritten the run's conversation, the newest first."""
    kept: dict[str, list[Candidate]] = run.here.trace.notes.setdefault("rewriting", {})
    return kept.setdefault(run.root.session or "", [])


def spoken_of(messages: Iterable[Any]) -> list[Said]:
    """The messages as elements of a buffer, without system messages."""
    return [plain(one) for one in messages if one.type != "system"]


def change(before: Sequence[Said], value: Sequence[Said]) -> Change:
    """How a list of messages differs from an earlier one."""
    skipped = max(0, len(before) - MAX_COMPARED), max(0, len(value) - MAX_COMPARED)
    old, new = [_form(one) for one in before[skipped[0] :]], [_form(one) for one in value[skipped[1] :]]
    same = [one for one in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks() if one.size]
    taken = {one.b + place + skipped[1] for one in same for place in range(one.size)}
    kept, last = sum(one.size for one in same), max(taken, default=-1)
    return Change(kept, len(old) - kept, frozenset(place for place in range(last) if place not in taken))


def _begun(run: Run, known: Sequence[Version], spoken: list[Said], messages: Sequence[Any]) -> Version | None:
    """The longest version that the messages continue."""
    return max(
        (one for one in known if spoken[: len(one.spoken)] == one.spoken and _is_linked(run, one, messages)),
        key=lambda one: len(one.spoken),
        default=None,
    )


def _new(begun: Version | None, messages: Sequence[Any]) -> list[Any]:
    """The messages that come after those of an earlier version."""
    if begun is None:
        return list(messages)
    spoken = [one for one in messages if one.type != "system"][len(begun.spoken) :]
    return [*(one for one in messages if one.type == "system" and plain(one) not in begun.value), *spoken]


def _rewritten(
    run: Run, known: Sequence[Version], spoken: list[Said], messages: Sequence[Any], continued: int
) -> tuple[Version, Change] | None:
    """The version that the messages rewrite: it has most messages in common, more than ``continued``."""
    found = [(one, change(one.spoken, spoken)) for one in known if _is_linked(run, one, messages)]
    return max((one for one in found if one[1].kept > continued), key=lambda one: one[1].kept, default=None)


def _tell_state(run: Run, spoken: list[Said]) -> bool:
    """Record the history that the innermost run around was given, if a model reads only a part of it."""
    around: Run | None = run.parent
    while around is not None:
        for key, given in conversations(around.inputs):
            state = spoken_of(given)
            if change(state, spoken).kept:
                is_part = state != spoken[: len(state)]
                if is_part:
                    version(around, key, given, is_state=True)
                return is_part
        around = around.parent
    return False


def _explains(one: Candidate, spoken: Sequence[Said]) -> bool:
    """Whether a node's messages are the beginning of this history, and lack messages that the node had read."""
    if not one.spoken or list(spoken[: len(one.spoken)]) != one.spoken:
        return False
    how = change(spoken_of(one.before), one.spoken)
    return how.dropped > 0 and (how.kept > 0 or one.spoken[0]["role"] != "ai")


def _name(run: Run, what: str) -> str:
    """The name of a rewriting operation, with the node in which it happens."""
    around: Run | None = run
    while around is not None and around.kind != "node":
        around = around.parent
    return what if around is None else f"{what} in {around.name}"


def _is_linked(run: Run, known: Version, messages: Sequence[Any]) -> bool:
    """Whether messages may belong to a version: the same words prove it only within one session."""
    return run.root.session is not None or not known.marks.isdisjoint(_marks(messages))


def _keep(run: Run, value: list[Said], made: Variable, name: str, messages: Sequence[Any]) -> Version:
    new = Version(value, spoken_of(messages), made, name, frozenset(_marks(messages)), tuple(messages))
    known = versions(run)
    known.insert(0, new)
    del known[MAX_VERSIONS:]
    return new


def _marks(messages: Iterable[Any]) -> Iterable[str]:
    """The object of each message, and its id if it has one: a graph may give a message its id after it was recorded."""
    for one in messages:
        yield f"object {id(one)}"
        if getattr(one, "id", None):
            yield str(one.id)


def _form(said: Said) -> str:
    return repr(sorted(said.items()))
