"""The runs of LangChain that are under way: chains, models, tools, and in which run a piece of code executes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from memtrace.context import question, scope
from memtrace.identity import Questions, Variable
from memtrace.instruments import placing
from memtrace.instruments.langchain.messages import leaves
from memtrace.instruments.making import Making, begin_session
from memtrace.steps import Scope

MAX_RUNS = 50_000
"""Runs whose end was never told are forgotten, the oldest first."""

SESSION_KEYS = ("thread_id", "session_id", "conversation_id")
"""Keys of a configuration that name a conversation."""


USER_KEYS = ("user_id", "langgraph_user_id")
"""Keys of a configuration that say whose memory is used."""


@dataclass
class Root:
    """The outermost run: what the application calls.

    Attributes:
        here: its trace and session.
        session: the name of its conversation.
        questions: ids of the questions that were asked in it.
        given: texts from outside that nothing has used yet, with their keys.
        buffers: by the ``id`` of a message: the buffer in which it came, and the message, which is kept alive.
    """

    here: Scope
    session: str | None
    questions: set[str] = field(default_factory=set)
    given: dict[int, tuple[str, str]] = field(default_factory=dict)
    buffers: dict[int, tuple[Any, Variable]] = field(default_factory=dict)


@dataclass
class Run:
    """One run.

    Attributes:
        here: where its operations are recorded: inside its own operation, if it is one.
        making: its operation; None for a chain, which only passes values on.
        hits: of a retriever: the documents that a vector store found, the names of their units, and scores.
        before: of a retriever: the one inside which it runs.
    """

    root: Root
    parent: Run | None
    kind: str
    name: str
    here: Scope
    inputs: object = None
    making: Making | None = None
    question: Variable | None = None
    hits: list[tuple[Any, str, float | None]] = field(default_factory=list)
    before: Run | None = None

    @property
    def asked(self) -> Questions:
        """The questions to which it belongs."""
        current = question.get()
        own = frozenset(self.root.questions)
        return own if current is None or own else frozenset((current,))


class Runs:
    """The runs that have begun and not ended."""

    def __init__(self) -> None:
        self._runs: OrderedDict[Any, Run] = OrderedDict()

    def enter(
        self,
        run_id: Any,
        parent_id: Any,
        kind: str,
        name: str,
        inputs: object,
        metadata: Mapping[str, Any] | None,
    ) -> Run | None:
        """A run begins; None if it is not recorded."""
        parent = self._runs.get(parent_id) if parent_id is not None else None
        if parent is None:
            root = _root(inputs, metadata or {})
            if root is None:
                return None
            run = Run(root, None, kind, name, root.here, inputs)
        else:
            run = Run(parent.root, parent, kind, name, parent.here, inputs)
        self._runs[run_id] = run
        if len(self._runs) > MAX_RUNS:
            self._runs.popitem(last=False)
        return run

    def leave(self, run_id: Any) -> Run | None:
        """A run ended."""
        return self._runs.pop(run_id, None)

    def around(self) -> Run | None:
        """The run in which this code executes; None outside LangChain."""
        config = import_module("langchain_core.runnables.config").var_child_runnable_config.get()
        callbacks = config.get("callbacks") if isinstance(config, Mapping) else None
        parent_id = getattr(callbacks, "parent_run_id", None)
        return None if parent_id is None else self._runs.get(parent_id)


runs = Runs()


def _home(inputs: object, metadata: Mapping[str, Any], session: str | None) -> placing.Home:
    """The trace of a run outside any: of the user or conversation that its configuration names, or of its inputs."""
    user = next((f"{key}={metadata[key]}" for key in USER_KEYS if metadata.get(key)), None)
    if user is not None:
        return placing.memory_home("langchain", user, what="LangChain", session=session)
    if session is not None:
        return placing.memory_home("langchain", f"conversation={session}", what="LangChain", session=session)
    return placing.contents_home([inputs], what="LangChain")


def _root(inputs: object, metadata: Mapping[str, Any]) -> Root | None:
    session = next((str(metadata[key]) for key in SESSION_KEYS if metadata.get(key)), None)
    with placing.Place(lambda: _home(inputs, metadata, session)) as place:
        here = scope.get() if place.is_recorded else None
    if here is None:
        return None
    if session is not None and here.session is None:
        here = begin_session(here, session, session, "conversation")
    root = Root(here, session)
    for key, leaf in leaves(inputs):
        if isinstance(leaf, str) and len(leaf) > 1:
            root.given[id(leaf)] = key, leaf
    return root
