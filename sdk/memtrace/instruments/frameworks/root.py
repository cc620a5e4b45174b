"""In which trace the runs of a framework are recorded, such as a chain of LangChain: ``Root`` chooses it.

The first model, tool or memory that the run uses causes the choice, and the first rule that applies decides:

1. A trace is open already (``memtrace.trace``, or a recorded call around the run): this trace.
2. A vector store, or a memory of mem0 or EverOS, is used first; or a model comes first, and the chain holds exactly one
   vector store (``held_store``): the trace of this store or memory.
3. The configuration, or the runtime context of a graph, names a user (``USER_KEYS``): the user's trace.
4. Another memory is used first, such as a store of LangGraph: the memory's trace.
5. The configuration names a conversation (``SESSION_KEYS``): the conversation's trace.
6. Otherwise: the trace that gave out most of the values in the call (``placing.contents_home``), or else a new trace.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import Any

from memtrace import undecided
from memtrace.config import is_ready
from memtrace.context import name_of, scope, unsampled
from memtrace.faults import report
from memtrace.identity import Variable
from memtrace.instruments import joining, placing
from memtrace.instruments.conversations import Talk, continued
from memtrace.instruments.frameworks.held_store import held_store
from memtrace.instruments.frameworks.messages import KINDS_BY_KEY, is_message, leaves, spoken
from memtrace.instruments.homes import Home
from memtrace.instruments.making import begin_session
from memtrace.instruments.placing import NotRecordedError
from memtrace.recent import Recent
from memtrace.scripts import is_word
from memtrace.steps import Scope

MAX_WAITING = 1_000
"""Number of records that may wait for the choice of the trace; one more, and the trace is chosen at once."""

SESSION_KEYS = ("thread_id", "session_id", "conversation_id")
"""Keys of a configuration that name a conversation."""

USER_KEYS = ("user_id", "langgraph_user_id")
"""Keys of a configuration that name the user whose memory is used."""

_RUNTIME = "__pregel_runtime"
"""The key under which LangGraph keeps a run's runtime, with the context, in the configuration of the run's nodes."""

_OWN = ("__", "checkpoint", "langgraph_", "ls_")
"""How the package's own keys in a configuration begin."""

_USERS = ("user_id=", "run_id=", "session=")
"""How the owners of a memory begin that are one user, one run or one conversation."""

_FLAGS = frozenset({"", "0", "True", "False"})
"""Words that name nobody."""

_written: Recent[str, bool] = Recent(20_000)
"""The traces of the memories into which runs have written: they hold what was said in conversations."""

_choosing = threading.RLock()


def choosing() -> AbstractContextManager[object]:
    """The lock for choosing a trace, and for making a node an operation: several threads may come to it at once."""
    return _choosing


def _after_fork() -> None:
    global _choosing  # noqa: PLW0603 (another thread may have held it, which the child does not have)
    _choosing = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@dataclass
class Root:
    """The outermost run, which the application calls.

    Steps of functions and templates before the choice of the trace, such as rewriting the question, wait and are
    recorded after the choice.

    Attributes:
        session: the name of the conversation.
        questions: ids of the questions that were asked in the run.
        searched: the questions that were searched for, by text.
        carried: ids of the questions behind the run's replies, also of earlier turns that the models read as history.
        given: texts from outside that nothing has used yet, with their keys.
        buffers: by the ``id`` of a message: the message, which is kept alive, and the buffer that contains it.
        waiting: records that wait for the choice of the trace, in order.
        is_behind: whether waiting records are being written just now.
        store: the trace of the only vector store that the chain holds.
        is_left_out: whether sampling leaves the trace out.
        replies: each ``answering.Reply`` of a model that may become the run's answer.
        turn: what the user said, as a model read it last; later calls of an agent's loop answer it, too.
        names: what the configuration and the runtime context of a graph say, such as a user; without the conversation.
    """

    inputs: object = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    placed: Scope | None = None
    session: str | None = None
    questions: set[str] = field(default_factory=set)
    searched: dict[str, Variable] = field(default_factory=dict)
    carried: set[str] = field(default_factory=set)
    given: dict[int, tuple[str, str]] = field(default_factory=dict)
    buffers: dict[int, tuple[Any, Variable]] = field(default_factory=dict)
    waiting: list[Callable[[], None]] = field(default_factory=list)
    is_behind: bool = False
    store: Home | None = None
    is_left_out: bool = False
    replies: list[Any] = field(default_factory=list)
    turn: Variable | None = None
    names: frozenset[str] = frozenset()
    what: str = "LangChain"
    """The package, for the name of a new trace."""

    def later(self, record: Callable[[], None]) -> bool:
        """Let a record wait for the choice of the trace; False if the trace is chosen, or too many records wait."""
        with choosing():  # otherwise the trace could be chosen in between, and the record would be lost
            is_open = self.placed is None and not self.is_left_out and len(self.waiting) < MAX_WAITING
            if is_open:
                self.waiting.append(record)
        return is_open

    def place(
        self, memory: Home | None = None, *, is_shared: bool = False, contents: Callable[[], Home] | None = None
    ) -> Scope:
        """The run's trace and session, chosen now if they are not chosen yet.

        Args:
            memory: the trace of the memory that the run uses now.
            is_shared: whether this memory goes before the user whom the configuration names: an index of documents is
                the same for all users, and some memories have users of their own.
            contents: gives the trace if no other rule applies; the default is the trace of the run's inputs.

        Raises:
            NotRecordedError: The trace is not recorded.
        """
        if self.is_left_out:
            raise NotRecordedError
        if self.placed is None or self.is_behind:
            # Parts of a chain run in threads. Other threads wait here, because they may need the waiting records.
            with choosing():
                if self.placed is None:
                    self._place(memory, is_shared, contents)
                    self._catch_up()
        if self.placed is None:
            raise NotRecordedError
        return self.placed

    @property
    def is_open(self) -> bool:
        """Whether the run's trace may still become a part of the trace of a memory that the run uses."""
        return self.placed is not None and joining.is_open(self.placed.trace.id)

    def uses(self, memory: Home, parts: Sequence[str] = (), *, is_written: bool = False) -> None:
        """Note that the run uses a memory: an undecided run becomes a part of the memory's trace if this is safe.

        It is safe if the memory belongs to a user; if runs write into it, and nobody is named, or one of the names is a
        part of the memory's name; or if nobody and no conversation is named.

        Args:
            memory: the memory's trace.
            parts: of the memory's name, such as a namespace.
            is_written: whether the run writes into the memory.
        """
        if is_written:
            _written.set(memory.trace, True)
        if self.placed is None or not self.is_open or self.placed.trace.id == name_of(memory.trace):
            return
        if self.names and not _has_user(memory) and not self.names & {str(part) for part in parts}:
            is_meant = False
        else:
            is_anybody = not self.names and self.session is None
            is_meant = is_anybody or _has_user(memory) or _written.get(memory.trace) is not None
        if is_meant:
            joining.join(self.placed.trace.id, memory)
        elif is_written:
            undecided.settle(self.placed.trace.id)

    def ended(self) -> None:
        """Note the end of the run. What a nameless run made may go into a memory next."""
        if self.placed is not None and self.session is None:
            undecided.ended(self.placed.trace.id)
        elif self.placed is not None:
            undecided.settle(self.placed.trace.id)

    def _catch_up(self) -> None:
        """Write the waiting records, if the trace is recorded."""
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
        self.names = _names()

        def home() -> Home:
            user = next((f"{key}={said[key]}" for key in USER_KEYS if said.get(key)), None)
            if memory is not None and (is_shared or user is None):
                return replace(memory, session=self.session or memory.session)
            owner = user or (f"conversation={self.session}" if self.session is not None else None)
            if owner is not None:
                own = placing.own_home(owner, what=self.what, session=self.session)
                return own if user is not None else joining.opened(own)
            if contents is not None:
                return contents()
            talk = Talk(spoken=spoken(self.inputs))
            return placing.contents_home([self.inputs], what=self.what, continued=lambda: continued(talk))

        with placing.Place(home) as place:
            self.placed = scope.get() if place.is_recorded else None


def begun(inputs: object, metadata: Mapping[str, Any], *, is_written: bool, is_named_by_package: bool) -> Root | None:
    """The root of a run that begins outside of other runs; None if nothing is recorded here.

    Args:
        inputs: the application's inputs of the run.
        metadata: metadata of the run, such as LangGraph's name of the conversation.
        is_written: whether the inputs are a prompt that the application wrote: its texts are no messages.
        is_named_by_package: whether the names of the inputs are parameters of the package, and not the program's.
    """
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
    if isinstance(inputs, Mapping) and not is_named_by_package:
        _name_what_is_said(root.given)
    return root


def _name_what_is_said(given: dict[int, tuple[str, str]]) -> None:
    """Give the key ``input`` to the texts that a user says, if the program's own key does not tell what they are.

    A program may name what its user says in any language, such as ``testo``, and hand over several such texts. Single
    words beside them, such as names and categories, are said by nobody.
    """
    texts = {one: said for one, (_, said) in given.items() if not is_word(said)}
    keys = {key for key, _ in given.values()}
    if len({given[one][0] for one in texts}) == 1 and keys.isdisjoint(KINDS_BY_KEY):
        given |= {one: ("input", said) for one, said in texts.items()}


def configuration() -> Mapping[str, Any]:
    """The configuration of the innermost run of LangChain around this code; empty outside of runs."""
    module = sys.modules.get("langchain_core.runnables.config")
    config = None if module is None else module.var_child_runnable_config.get()
    return config if isinstance(config, Mapping) else {}


def _configured() -> dict[str, Any]:
    said = configuration().get("configurable")
    if not isinstance(said, Mapping):
        return {}
    return {**_in_context(getattr(said.get(_RUNTIME), "context", None)), **said}


def _in_context(context: object) -> dict[str, Any]:
    """The user whom the runtime context of a graph (``context=``) names; a context is a mapping or an object."""
    told = {key: context.get(key) if isinstance(context, Mapping) else getattr(context, key, None) for key in USER_KEYS}
    return {key: user for key, user in told.items() if user and isinstance(user, str | int)}


def _names() -> frozenset[str]:
    """What the configuration and a graph's runtime context say, without the package's own keys and the conversation."""
    said = configuration().get("configurable")
    if not isinstance(said, Mapping):
        return frozenset()
    context = getattr(said.get(_RUNTIME), "context", None)
    told = context if isinstance(context, Mapping) else getattr(context, "__dict__", {})
    own = {key: one for key, one in said.items() if not str(key).startswith(_OWN) and key not in SESSION_KEYS}
    return frozenset(
        str(one) for one in (*told.values(), *own.values()) if isinstance(one, str | int) and str(one) not in _FLAGS
    )


def _has_user(memory: Home) -> bool:
    return any(key == "owner" and owner.startswith(_USERS) for key, owner in memory.attributes)


def _session(said: Mapping[str, Any]) -> str | None:
    return next((str(said[key]) for key in SESSION_KEYS if said.get(key)), None)


def _held() -> Home | None:
    """The trace of the store that the chain holds, or None, also after a failed search."""
    try:
        return held_store()
    except Exception as error:
        report("the store of a chain", error)
        return None
