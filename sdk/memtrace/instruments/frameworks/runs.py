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
from memtrace.instruments.homes import Home
from memtrace.instruments.making import Making
from memtrace.steps import Scope

MAX_RUNS = 50_000
"""Beyond this number, the oldest run is forgotten: LangChain does not tell the end of every run."""


@dataclass
class Run:
    """One run.

    Attributes:
        making: the run's operation; None for a chain, which only passes values on.
        hits: of a retriever: the documents from the vector store, their units, and scores.
        replies: of a manager of memory: the replies of the model.
        messages: of a manager of memory: the messages to remember.
        candidates: of a reranker: the documents to choose from, with their variables.
        store_name: of a retriever: the store to search.
        limits: of a retriever: the store, and what may leave units out, such as a filter; None if it is not known.
        before: of a retriever: the retriever around it.
        step_number: of a node of a graph: the number of the graph's step.
        is_turn: of a model: whether the application itself asks it what a user said in a conversation, or a question
            that a memory was asked.
        is_graph: whether nodes do the work, and the graph only passes on what its nodes made.
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
    limits: Mapping[str, Any] | None = None
    before: Run | None = None
    step_number: int | None = None
    is_turn: bool = False
    is_graph: bool = False
    noted: dict[str, str] = field(default_factory=dict)
    """Attributes with the name of the call in replays."""

    @property
    def is_direct(self) -> bool:
        """Whether the application itself begins the run, outside of operations."""
        return self.parent is None and self.here.step is None

    @property
    def here(self) -> Scope:
        """The place of the run's operation: inside the tool or node around, or else the outermost run's place.

        Raises:
            NotRecordedError: The trace is not recorded.
        """
        return self.root.place() if self.parent is None else self.parent.room

    @property
    def room(self) -> Scope:
        """The place of operations inside the run. A node becomes an operation with the first operation inside.

        Raises:
            NotRecordedError: The trace is not recorded.
        """
        if self.kind == "node":
            with choosing():
                here = self.here  # first: choosing the trace writes waiting records, which may need the node too
                if self.making is None:
                    said = {"step": self.step_number} if self.step_number is not None else None
                    self.making = Making(here, self.name, "Other", category="node", attributes=said)
        if self.kind in {"node", "tool"} and self.making is not None:
            return self.making.step
        return self.here

    @property
    def asked(self) -> Questions:
        """The questions of the outermost run, or else the newest question of this context."""
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
        *,
        is_named_by_package: bool = False,
    ) -> Run | None:
        """Note the beginning of a run; returns None if the run is not recorded.

        Args:
            run_id: the framework's id of the run.
            parent_id: the id of the run around it; None at the outermost run.
            kind: what the framework runs, such as ``chain`` or ``model``.
            name: its name.
            inputs: the application's inputs.
            metadata: metadata of the run.
            is_named_by_package: whether the names of the inputs are parameters of the package, and not the program's.
        """
        parent = self._runs.get(parent_id) if parent_id is not None else None
        parent = parent or inside.get()
        if parent is None:
            # A model that the application calls directly gets a prompt that the application wrote, of any role.
            root = begun(inputs, metadata or {}, is_written=kind == "model", is_named_by_package=is_named_by_package)
            if root is None:
                return None
            run = Run(root, None, kind, name, inputs)
        else:
            run = Run(parent.root, parent, kind, name, inputs)
            if kind == "chain" and _is_node(parent, name, metadata or {}):
                run.kind, run.step_number = "node", (metadata or {}).get("langgraph_step")
                parent.is_graph = True
        self._runs[run_id] = run
        if len(self._runs) > MAX_RUNS:
            self._runs.popitem(last=False)
        return run

    def of(self, run_id: Any) -> Run | None:
        """The run with this id, if it has begun and not ended."""
        return self._runs.get(run_id)

    def leave(self, run_id: Any) -> Run | None:
        """Note the end of a run; returns the run, or None if it is not recorded."""
        run = self._runs.pop(run_id, None)
        if run is not None and run.parent is None:
            run.root.ended()
        return run

    def around(self) -> Run | None:
        """The innermost run around this code; None outside of runs."""
        callbacks = configuration().get("callbacks")
        parent_id = getattr(callbacks, "parent_run_id", None)
        found = None if parent_id is None else self._runs.get(parent_id)
        return found or inside.get()


def _is_node(parent: Run, name: str, metadata: Mapping[str, Any]) -> bool:
    """Whether a run is a node of a graph of LangGraph. Runs inside a node have its metadata, but other names."""
    return metadata.get("langgraph_node") == name and not (parent.kind == "node" and parent.name == name)


runs = Runs()


def room(choose: Callable[[], Home], *, is_memory: bool) -> Scope | None:
    """The place for a call of another package (``placing.around``): inside the run around the call; None outside.

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
    elif is_memory and run.root.is_open:
        run.root.uses(choose())
    return run.room


inside: ContextVar[Run | None] = ContextVar("memtrace.langchain.inside", default=None)
"""The run around this code if LangChain does not know it, such as the run of a manager of memory."""


def single(here: Scope, kind: str, name: str = "") -> Run:
    """A run for a call outside of frameworks, with an outermost run of its own in this place."""
    return Run(Root(placed=here), None, kind, name)


_writing: ContextVar[bool] = ContextVar("memtrace.writing", default=False)


@contextmanager
def writing() -> Iterator[None]:
    """A block that writes memory: its model calls are extractions, and its searches are no questions of users."""
    token = _writing.set(True)
    try:
        yield
    finally:
        _writing.reset(token)


def is_writing() -> bool:
    """Whether the current code is inside ``writing``."""
    return _writing.get()
