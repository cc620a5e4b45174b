"""Runs of a framework that are under way: chains, models, tools, and in which run a piece of code executes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from memtrace.context import question
from memtrace.identity import Questions, Variable
from memtrace.instruments.frameworks.root import Root, begun, choosing, configuration
from memtrace.instruments.making import Making
from memtrace.instruments.placing import Home
from memtrace.steps import Scope

MAX_RUNS = 50_000
"""Runs whose end was never told are forgotten, the oldest first."""


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
            with choosing():
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
            root = begun(inputs, metadata or {}, is_written=kind == "model")
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
        callbacks = configuration().get("callbacks")
        parent_id = getattr(callbacks, "parent_run_id", None)
        found = None if parent_id is None else self._runs.get(parent_id)
        return found or inside.get()


def _is_node(parent: Run, name: str, metadata: Mapping[str, Any]) -> bool:
    """Whether a run is a node of a graph of LangGraph; what runs in the node has the same metadata, and other names."""
    return metadata.get("langgraph_node") == name and not (parent.kind == "node" and parent.name == name)


runs = Runs()


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


_writing: ContextVar[bool] = ContextVar("memtrace.writing", default=False)


@contextmanager
def writing() -> Iterator[None]:
    """A block that writes memory."""
    token = _writing.set(True)
    try:
        yield
    finally:
        _writing.reset(token)


def is_writing() -> bool:
    """Whether this code writes memory."""
    return _writing.get()
