"""Finds the variable of a framework's value, or the sources of a new value: by object, else by text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from memtrace.identity import Variable
from memtrace.instruments.frameworks.messages import KINDS_BY_KEY, content, plain, tool_calls
from memtrace.instruments.frameworks.runs import Run
from memtrace.instruments.making import Making, known, learn, outside, text_of
from memtrace.instruments.texts import stands_in, texts
from memtrace.scripts import is_word

SPOKEN = frozenset({"Message", "Response", "Answer"})
_REPLIES = frozenset({"Response", "Answer"})
_QUERIES = frozenset({"Query", "RefinedQuery"})
_ROLES = frozenset({"human", "ai", "tool", "system"})
"""Keys of texts that are messages of a conversation already."""


def same(run: Run, value: object) -> Variable | None:
    """The variable of an object, or else the variable with an equal text; None if unknown."""
    here = run.here
    found = known(here, value, run.asked)
    if found is None and isinstance(value, str):
        found = texts(here.trace).equal(value, run.asked)
    return found


def sources(run: Run, text: str, *, is_speech: bool = False) -> list[Variable]:
    """The sources of a new text: the variables whose text it contains, or else a reply that contains the new text.

    Args:
        run: that has the text.
        text: the new text.
        is_speech: whether a user may have said it, who mentions short texts such as names without quoting anybody.
    """
    _name_given(run, text)
    here = run.here
    found = texts(here.trace).inside(text, run.asked, is_speech=is_speech)
    if found:
        return found
    reply = texts(here.trace).around(text, run.asked | run.root.carried, SPOKEN)
    return [] if reply is None else [reply]


def given(run: Run, value: str, key: str, kind: str | None = None, *, category: str = "") -> Variable:
    """Record a text that came from outside under a key; returns the variable. The key decides the default kind.

    In a conversation, what is under the key of a question is what the user says, and not always a question. So is a
    text that is the whole input of the outermost run, whatever key a template gives it.
    """
    run.root.given.pop(id(value), None)
    if kind is None:
        kind = KINDS_BY_KEY.get(key, "Other")
        is_whole = kind == "Other" and value is run.root.inputs and not is_word(value)
        kind = "Message" if is_whole or (kind == "Query" and run.root.session is not None) else kind
    made = outside(run.here, value, key or kind.lower(), kind, said={"category": category} if category else None)
    if kind == "Query":
        run.root.questions.add(made.id)
    return made


def asked(run: Run, making: Making | None, query: str, *, is_writing: bool) -> Variable:
    """The question of a search, which becomes an input of ``making``.

    A message that is searched for stays a message; the question is a new variable, which derives from the message. A
    search while memory is written (``is_writing``) is no question of a user, but a ``RefinedQuery``.
    """
    found = run.root.searched.get(query) or same(run, query)
    if found is None or found.kind not in _QUERIES:
        came_from = [found] if found is not None else sources(run, query)
        # A model that calls a search has read earlier turns, too: the questions of those turns don't count here.
        is_refined = is_writing or any(one.questions - (run.root.carried - run.asked) for one in came_from)
        kind = "RefinedQuery" if is_refined else "Query"
        if came_from:
            asking = Making(run.here, "ask", "Other")
            for one in came_from:
                asking.use(one)
            # The text still stands for the message, not for the question: other questions may follow.
            found = asking.make(query, "question", kind, is_learned=False)
            asking.end()
        else:
            found = given(run, query, "question", kind)
        if kind == "Query":
            run.root.questions.add(found.id)
        run.root.searched[query] = found
    if making is not None:
        making.use(found, "query")
    return found


def message(run: Run, said: Any) -> Variable:
    """The variable of a message: known by object, id or text, or recorded now as a message from outside."""
    found = known_message(run, said)
    if found is None:
        run.root.given.pop(id(said.content), None)
        found = outside(run.here, content(said), str(said.type), "Message")
        remember_message(run, said, found)
    return found


def known_message(run: Run, said: Any) -> Variable | None:
    """The variable of a message that is known by object, id or text, or that contains known texts; else None."""
    found = known(run.here, said, run.asked)
    if found is not None:
        return found
    kept = _by_id(run).get(said.id) if said.id else None
    found = kept[1] if kept is not None and kept[0] == plain(said) else _message(run, said, content(said))
    if found is not None:
        remember_message(run, said, found)
    return found


def remember_message(run: Run, said: Any, variable: Variable) -> None:
    """Let a message, and its id if it has one, stand for a variable."""
    if said.id:
        _by_id(run)[said.id] = plain(said), variable
    learn(run.here, said, variable)


def _by_id(run: Run) -> dict[str, tuple[dict[str, Any], Variable]]:
    found: dict[str, tuple[dict[str, Any], Variable]] = run.here.trace.notes.setdefault("messages", {})
    return found


def _message(run: Run, said: Any, text: str) -> Variable | None:
    found = same(run, said.content) if isinstance(said.content, str) else texts(run.here.trace).equal(text, run.asked)
    if found is not None and (found.kind in SPOKEN or found.kind in _QUERIES or found.kind == "Context"):
        return found
    calls = tool_calls(said)
    said_before = texts(run.here.trace).said(text or (text_of(calls) if calls else ""), SPOKEN)
    if said_before is not None:
        return said_before  # the conversation goes on, even if another question came in between
    came_from = [] if found is None else [found]
    if said.type == "human" and not came_from:
        _name_wrapped(run, text)
    came_from = came_from or texts(run.here.trace).inside(text, run.asked, is_speech=said.type == "human")
    if came_from and said.type in {"human", "system"}:
        return _made_of(run, came_from, text, ("write prompt", "Other"), ("prompt", "Prompt"))
    if said.type in {"ai", "AIMessageChunk"} and any(one.kind in _REPLIES for one in came_from):
        # An agent writes the replies and results of its loop into one message of the history.
        return _made_of(run, came_from, text, ("write history", "Other"), ("reply", "Response"))
    if came_from and said.type == "tool":  # a tool that nothing recorded, which gave out parts of the memory
        return _made_of(run, came_from, text, ("tool", "Tool"), ("tool result", "Other"))
    return None


def _made_of(run: Run, others: Iterable[Variable], text: str, step: tuple[str, str], made: tuple[str, str]) -> Variable:
    """A text that was made from others by a step of its own; step and text with name and kind."""
    making = Making(run.here, *step)
    for one in others:
        making.use(one)
    found = making.make(text, *made)
    making.end()
    return found


def write(run: Run, text: str, objects: Sequence[Any] = ()) -> Variable:
    """The prompt with a text, recorded now if it is new; ``objects`` stand for the prompt from now on.

    A prompt with the words of an earlier one is new if its results were read again since.
    """
    came_from = sources(run, text)
    now = same(run, text)
    if now is not None and (again := _read_again(run, text)):
        came_from, now = again, None
    if now is None:
        if came_from:
            now = _made_of(run, came_from, text, ("write prompt", "Other"), ("prompt", "Prompt"))
            _written_from(run).setdefault(text.strip(), {})[now] = frozenset(came_from)
        else:
            now = given(run, text, "prompt", "Prompt")
    for one in objects:
        learn(run.here, one, now)
    return now


def _read_again(run: Run, text: str) -> list[Variable]:
    """The sources of a prompt with the words of earlier ones, if some were read since; else empty."""
    earlier = _written_from(run).get(text.strip())
    if not earlier:
        return []
    now = texts(run.here.trace).inside(text, run.asked, leave=earlier.keys())
    known = next(reversed(earlier.values()))
    return now if any(one.reads is not None and one not in known for one in now) else []


def _written_from(run: Run) -> dict[str, dict[Variable, frozenset[Variable]]]:
    """The prompts that were written in a trace with their sources, by the text."""
    found: dict[str, dict[Variable, frozenset[Variable]]] = run.here.trace.notes.setdefault("written from", {})
    return found


def _name_given(run: Run, text: str) -> None:
    """Record texts from outside that a new text contains, and what a user said of which the new text is a part."""
    for key, leaf in list(run.root.given.values()):
        is_said = leaf != text or KINDS_BY_KEY.get(key) == "Message"
        is_inside = is_said and stands_in(leaf, text)
        if (is_inside or _is_part(text, key, leaf)) and same(run, leaf) is None:
            given(run, leaf, key)


def _is_part(text: str, key: str, leaf: str) -> bool:
    """Whether a new text is a part of what the user said, such as a paragraph."""
    is_said = KINDS_BY_KEY.get(key) == "Message" and key not in _ROLES
    return is_said and len(text) < len(leaf) and not is_word(text) and stands_in(text, leaf)


def _name_wrapped(run: Run, text: str) -> None:
    """Record what the user said to the outermost run if a message of the program wraps it in other words."""
    for key, leaf in list(run.root.given.values()):
        is_said = KINDS_BY_KEY.get(key) in {"Message", "Query"} and key not in _ROLES
        if (
            is_said
            and len(leaf) < len(text)
            and not is_word(leaf)
            and stands_in(leaf, text)
            and same(run, leaf) is None
        ):
            given(run, leaf, key)
