"""The runs of LangChain that are under way: chains, models, tools, and in which run a piece of code executes."""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from memtrace.config import is_ready
from memtrace.context import question, scope, unsampled
from memtrace.faults import report
from memtrace.identity import Questions, Variable
from memtrace.instruments import placing
from memtrace.instruments.langchain.held_store import held_store
from memtrace.instruments.langchain.messages import is_message, leaves
from memtrace.instruments.making import Making, begin_session
from memtrace.instruments.placing import Home, NotRecordedError
from memtrace.steps import Scope

MAX_RUNS = 50_000
"""Runs whose end was never told are forgotten, the oldest first."""

MAX_WAITING = 1_000
"""What is to be recorded when the trace of a run is chosen; more is not kept waiting: then it is chosen at once."""

SESSION_KEYS = ("thread_id", "session_id", "conversation_id")
"""Keys of a configuration that name a conversation."""

USER_KEYS = ("user_id", "langgraph_user_id")
"""Keys of a configuration that say whose memory is used."""


@dataclass
class Root:
    """The outermost run: what the application calls.

    Its trace is chosen when the first model, tool or memory is used in it, as the memory that is used says most about
    it: where a model comes first, that is the vector store that is searched later. What functions and templates did
    before, such as rewriting the question, is recorded then.

    Attributes:
        session: the name of its conversation.
        questions: ids of the questions that were asked in it.
        searched: the questions that were searched for, by their text.
        given: texts from outside that nothing has used yet, with their keys.
        buffers: by the ``id`` of a message: the buffer in which it came, and the message, which is kept alive.
        waiting: what is to be recorded as soon as the trace is chosen, in order.
        is_behind: whether what was waiting is being recorded just now.
        store: the trace of the only vector store that the chain holds.
    """

    inputs: object = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    placed: Scope | None = None
    session: str | None = None
    questions: set[str] = field(default_factory=set)
    searched: dict[str, Variable] = field(default_factory=dict)
    given: dict[int, tuple[str, str]] = field(default_factory=dict)
    buffers: dict[int, tuple[Any, Variable]] = field(default_factory=dict)
    waiting: list[Callable[[], None]] = field(default_factory=list)
    is_behind: bool = False
    store: Home | None = None
    is_left_out: bool = False

    def later(self, record: Callable[[], None]) -> bool:
        """Leave something to be recorded until the trace is chosen; False if it is, or must be chosen now."""
        with _choosing:  # else it could be chosen in between, and nobody would record this
            is_open = self.placed is None and not self.is_left_out and len(self.waiting) < MAX_WAITING
            if is_open:
                self.waiting.append(record)
        return is_open

    def place(
        self, memory: Home | None = None, *, is_shared: bool = False, contents: Callable[[], Home] | None = None
    ) -> Scope:
        """Its trace and session, which are chosen now if they are not chosen yet.

        Args:
            memory: the trace of the memory that is used first.
            is_shared: whether this memory goes before the user whom the configuration names: it is the same for all
                users, such as an index of documents, or has users of its own.
            contents: gives the trace to which what is used first belongs, where nothing else says it.

        Raises:
            NotRecordedError: The trace is not recorded.
        """
        if self.is_left_out:
            raise NotRecordedError
        if self.placed is None or self.is_behind:
            # Parts of a chain run in threads of their own. What others go on with may be made from what was waiting.
            with _choosing:
                if self.placed is None:
                    self._place(memory, is_shared, contents)
                    self._catch_up()
        if self.placed is None:
            raise NotRecordedError
        return self.placed

    def _catch_up(self) -> None:
        """Record what was waiting, where the trace is recorded."""
        self.is_left_out = self.placed is None
        waiting, self.waiting = self.waiting, []
        self.is_behind = not self.is_left_out
        try:
            for record in waiting if self.is_behind else ():
                record()
        finally:
            self.is_behind = False

    def _place(self, memory: Home | None, is_shared: bool, contents: Callable[[], Home] | None) -> None:
        if memory is None and self.store is not None:
            memory, is_shared = self.store, True
        said = {**_configured(), **self.metadata}
        self.session = self.session or _session(said)

        def home() -> Home:
            user = next((f"{key}={said[key]}" for key in USER_KEYS if said.get(key)), None)
            if memory is not None and (is_shared or user is None):
                return replace(memory, session=self.session or memory.session)
            if user is not None:
                return placing.memory_home("langchain", user, what="LangChain", session=self.session)
            if self.session is not None:
                owner = f"conversation={self.session}"
                return placing.memory_home("langchain", owner, what="LangChain", session=self.session)
            return placing.contents_home([self.inputs], what="LangChain") if contents is None else contents()

        with placing.Place(home) as place:
            self.placed = scope.get() if place.is_recorded else None


_choosing = threading.RLock()
"""For choosing a trace, and for making a node an operation: several threads may come to it at once."""


@dataclass
class Run:
    """One run.

    Attributes:
        making: its operation; None for a chain, which only passes values on.
        hits: of a retriever: the documents that a vector store found, their units, and scores.
        replies: of a manager of memory: what its model said.
        messages: of a manager of memory: what it was told.
        candidates: of a reranker: what it chooses from.
        store_name: of a retriever: the store in which it searches.
        before: of a retriever: the one inside which it runs.
        step_number: of a node of a graph: in which step of the graph it runs.
    """

    root: Root
    parent: Run | None
    kind: str
    name: str
    inputs: object = None
    making: Making | None = None
    question: Variable | None = None
    hits: list[tuple[Any, tuple[str, str], float | None]] = field(default_factory=list)
    replies: list[Variable] = field(default_factory=list)
    messages: list[Variable] = field(default_factory=list)
    candidates: list[tuple[Any, Variable | None]] = field(default_factory=list)
    store_name: str | None = None
    before: Run | None = None
    step_number: int | None = None
    noted: dict[str, str] = field(default_factory=dict)
    """Attributes that say by what a replay knows the call."""

    @property
    def here(self) -> Scope:
        """Where its operations are recorded: inside the tool or node that runs, else in the outermost run's place.

        Raises:
            NotRecordedError: The trace is not recorded.
        """
        return self.root.place() if self.parent is None else self.parent.room

    @property
    def room(self) -> Scope:
        """Where what runs inside it is recorded. A node becomes an operation when something in it is recorded.

        Raises:
            NotRecordedError: The trace is not recorded.
        """
        if self.kind == "node":
            with _choosing:
                if self.making is None:
                    said = {"step": self.step_number} if self.step_number is not None else None
                    self.making = Making(self.here, self.name, "Other", category="node", attributes=said)
        if self.kind in {"node", "tool"} and self.making is not None:
            return self.making.step
        return self.here

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
        parent = parent or inside.get()
        if parent is None:
            # What a model is asked outside of a chain is a prompt that the application wrote, whatever its role.
            root = _root(inputs, metadata or {}, is_written=kind == "model")
            if root is None:
                return None
            run = Run(root, None, kind, name, inputs)
        else:
            run = Run(parent.root, parent, kind, name, inputs)
            if kind == "chain" and _is_node(parent, name, metadata or {}):
                run.kind, run.step_number = "node", (metadata or {}).get("langgraph_step")
        self._runs[run_id] = run
        if len(self._runs) > MAX_RUNS:
            self._runs.popitem(last=False)
        return run

    def of(self, run_id: Any) -> Run | None:
        """The run of this id, if it has begun and not ended."""
        return self._runs.get(run_id)

    def leave(self, run_id: Any) -> Run | None:
        """A run ended."""
        return self._runs.pop(run_id, None)

    def around(self) -> Run | None:
        """The run in which this code executes; None outside LangChain."""
        callbacks = _config().get("callbacks")
        parent_id = getattr(callbacks, "parent_run_id", None)
        found = None if parent_id is None else self._runs.get(parent_id)
        return found or inside.get()


def _is_node(parent: Run, name: str, metadata: Mapping[str, Any]) -> bool:
    """Whether a run is a node of a graph of LangGraph; what runs in the node has the same metadata, and other names."""
    return metadata.get("langgraph_node") == name and not (parent.kind == "node" and parent.name == name)


runs = Runs()


def _after_fork() -> None:
    global _choosing  # noqa: PLW0603 (another thread may have held it, which the child does not have)
    _choosing = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def room(choose: Callable[[], Home], *, is_memory: bool) -> Scope | None:
    """The place for a call of another package (``placing.around``): in the run in which it is, if it is in one.

    Raises:
        NotRecordedError: The run is not recorded.
    """
    run = runs.around()
    if run is None:
        return None
    if run.root.placed is None and not run.root.is_left_out:
        if is_memory:
            run.root.place(choose(), is_shared=True)
        else:
            run.root.place(contents=choose)
    return run.room


inside: ContextVar[Run | None] = ContextVar("memtrace.langchain.inside", default=None)
"""A run that is no run of LangChain, such as a manager of memory: what runs here is inside it."""


def single(here: Scope, kind: str, name: str = "") -> Run:
    """A run of its own for a call outside LangChain, in this place."""
    return Run(Root(placed=here), None, kind, name)


def _config() -> Mapping[str, Any]:
    """The configuration with which the code around this was run by LangChain."""
    module = sys.modules.get("langchain_core.runnables.config")
    config = None if module is None else module.var_child_runnable_config.get()
    return config if isinstance(config, Mapping) else {}


def _configured() -> dict[str, Any]:
    said = _config().get("configurable")
    return dict(said) if isinstance(said, Mapping) else {}


def _session(said: Mapping[str, Any]) -> str | None:
    return next((str(said[key]) for key in SESSION_KEYS if said.get(key)), None)


def _held() -> Home | None:
    """The trace of the store that the chain holds; a fault in looking for it costs no more than that."""
    try:
        return held_store()
    except Exception as error:
        report("the store of a chain", error)
        return None


def _root(inputs: object, metadata: Mapping[str, Any], *, is_written: bool) -> Root | None:
    here, session = scope.get(), _session(metadata)
    if here is None and (unsampled.get() is not None or not is_ready()):
        return None
    if here is not None and session is not None and here.session is None:
        here = begin_session(here, session, session, "conversation")
    root = Root(inputs, metadata, here, session, store=_held() if here is None else None)
    for key, leaf in () if is_written else leaves(inputs):
        said: Any = leaf
        if is_message(leaf):
            key, said = str(said.type), said.content  # noqa: PLW2901
        if isinstance(said, str) and len(said) > 1:
            root.given[id(said)] = key, said
    return root
