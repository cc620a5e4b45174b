"""Chooses the trace in which a call of an instrumented package is recorded. docs/instruments.md has the rule.

A call inside an open trace belongs to the open trace. A call inside a run of LangChain or LangGraph belongs to the
run's trace (``around``), which ``frameworks/root.py`` chooses. Any other call of a memory belongs to the trace of the
memory (``of_memory``); any other call belongs to the trace that gave out its arguments (``of_contents``).

The trace is current only while the call runs, so that a thread that serves one user after another carries nothing over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Protocol, Self

from memtrace import undecided
from memtrace.config import is_ready, is_sampled
from memtrace.context import name_of, scope, state_of, unsampled
from memtrace.exporters import fork_and_exit
from memtrace.faults import report
from memtrace.identity import Variable
from memtrace.ids import new_id, trace_id
from memtrace.instruments import handed_out, homes, joining
from memtrace.instruments.handed_out import Given, Proof
from memtrace.instruments.homes import Home
from memtrace.instruments.program_name import namespace, program
from memtrace.instruments.texts import texts
from memtrace.steps import Scope, TraceState

_IN_MEMORY = " in memory "
"""Stands in the name of a store that ends with its process, before a digest."""
_ENDS_WITH_PROCESS = re.compile(rf"{_IN_MEMORY}[0-9a-f]{{32}}(?: |$)")
_MADE = frozenset({"Answer", "Other", "Response"})
_current: ContextVar[Place | None] = ContextVar("memtrace.place", default=None)


class Around(Protocol):
    """Gives the place of the framework's run in which code executes, such as a node of a graph."""

    def __call__(self, choose: Callable[[], Home], *, is_memory: bool) -> Scope | None:
        """The place; None outside of runs.

        Args:
            choose: gives the trace of the call by itself; also the trace of a run that has no place yet.
            is_memory: whether the call is one of a memory.

        Raises:
            NotRecordedError: The run is not recorded.
        """
        ...


around: Around | None = None
"""The instrument ``langchain`` sets this to ``frameworks.runs.room``."""


class NotRecordedError(Exception):
    """A run is not recorded: sampling leaves out its trace."""


class Place:
    """A block in which a call is recorded in its trace; inside, ``is_recorded`` says whether there is a trace.

    Args:
        choose: gives the trace, if no trace is open and no run is around the call.
        is_memory: whether the call is one of a memory; None if runs around the call do not matter.
    """

    __slots__ = ("_choose", "_is_memory", "_is_over", "_tokens", "_trace", "is_recorded")

    def __init__(self, choose: Callable[[], Home], is_memory: bool | None = None) -> None:
        self._choose = choose
        self._is_memory = is_memory
        self._tokens: tuple[Token[Scope | None], Token[str | None], Token[Place | None]] | None = None
        self._trace: TraceState | None = None
        self._is_over = False
        self.is_recorded = False

    def __enter__(self) -> Self:
        try:
            self._enter()
        except Exception as error:
            report("place of a call", error)
        return self

    def _enter(self) -> None:
        here, before = scope.get(), _current.get()
        is_left_over = here is not None and before is not None and before._is_over and before._trace is here.trace
        if here is not None and not is_left_over:
            self.is_recorded = True
            return
        if (unsampled.get() is not None and not is_left_over) or not is_ready():
            return
        if around is not None and self._is_memory is not None:
            try:
                inside = around(self._home, is_memory=self._is_memory)
            except NotRecordedError:
                return
            if inside is not None:
                self._set(inside, inside.trace)
                return
        home = self._home()
        if home.is_open:
            fork_and_exit.close_at_exit()
            trace = undecided.hold(home.trace, is_sampled)
        elif not is_sampled(name_of(home.trace)) and undecided.of(home.trace) is None:
            self._tokens = scope.set(None), unsampled.set(home.trace), _current.set(self)
            return
        else:
            trace = state_of(home.trace)
            undecided.goes_on(trace.id)
        session = homes.session_id(home)
        self._set(Scope(trace, session), trace)
        homes.tell(trace, home, session)

    def _home(self) -> Home:
        """The trace by the call itself; or the one trace of the run, if the user asked for one.

        A memory in a file or on a server keeps its own trace, which other runs read and write, too.
        """
        home, together = self._choose(), homes.together()
        store = dict(home.attributes).get("store")
        is_kept = store is not None and not _ENDS_WITH_PROCESS.search(store)
        if together is None or not home.attributes or is_kept:
            return home
        return Home(together, program(), home.session, (("program", program()),))

    def _set(self, here: Scope, trace: TraceState) -> None:
        self._trace = trace
        self._tokens = scope.set(here), unsampled.set(None), _current.set(self)
        self.is_recorded = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._is_over = True
        tokens, self._tokens = self._tokens, None
        if tokens is None:
            return
        try:
            scope.reset(tokens[0])
            unsampled.reset(tokens[1])
            _current.reset(tokens[2])
        except ValueError as wrong:
            report("end of a call in another context than its beginning", wrong)


def of_memory(store: str, owner: str, *, what: str, session: str | None = None, given: Iterable[object] = ()) -> Place:
    """The place of a call of a memory: each memory has one trace, the same in every process and run.

    Args:
        store: identifies the store in all processes: kind, address or absolute path, and collection, without key or
            password. For a store in this process's memory, use ``private_store``.
        owner: the owner of the memories in the store, such as ``user_id=alice``; empty if the store has no owners.
        what: the package, for the trace's name.
        session: the id of the call's conversation or run, if any.
        given: the arguments from the application: a conversation whose model wrote them becomes a part of the trace.
    """
    return Place(lambda: joining.used_by(given, memory_home(store, owner, what=what, session=session)), is_memory=True)


def memory_home(store: str, owner: str, *, what: str, session: str | None = None) -> Home:
    """The trace of a memory, ``memtrace.trace_id(store, owner)``; arguments as in ``of_memory``."""
    name = f"{what}: {owner}" if owner else f"{what}: {store}"
    said = (("store", store), *((("owner", owner),) if owner else ()))
    return Home(trace_id(store, owner), name, session, said)


def own_home(owner: str, *, what: str, session: str | None = None) -> Home:
    """The trace of a user or conversation that the program names, where no memory is known; see ``namespace``."""
    said = (("namespace", namespace()), ("owner", owner))
    return Home(trace_id(what, namespace(), owner), f"{what}: {owner}", session, said)


def conversation_home(conversation: str, *, name: str | None = None) -> Home:
    """The trace of a conversation that the application or the model's server names.

    The id is made from the conversation's id and ``namespace``: another program may call its conversation the same.

    Args:
        conversation: its id.
        name: the trace's name after the program; the default is the id. The trace then has a session of this id.
    """
    said = (("program", program()), ("namespace", namespace()))
    trace = trace_id("conversation", namespace(), conversation)
    return Home(trace, f"{program()}: {name or conversation}", conversation if name is None else None, said)


def of_contents(
    values: Iterable[object],
    *,
    what: str,
    named: Callable[[], Home | None] = lambda: None,
    continued: Callable[[], list[str]] = list,
) -> Place:
    """The place of a call without a memory, such as a model's: the trace that gave out its arguments.

    Args:
        values: the arguments from the application: texts, lists, dictionaries, pydantic models.
        what: the package and call, for the name of a new trace.
        named: gives the trace of the conversation that the call names; None if it names none.
        continued: gives the traces whose conversation the call continues by its messages; one trace is a proof.
    """
    return Place(lambda: contents_home(values, what=what, named=named, continued=continued), is_memory=False)


def contents_home(
    values: Iterable[object],
    *,
    what: str,
    named: Callable[[], Home | None] = lambda: None,
    continued: Callable[[], list[str]] = list,
) -> Home:
    """The trace of a call without a memory, in this order; arguments as in ``of_contents``.

    The trace of a memory that gave out some of the values; the conversation that the call names; the trace that gave
    out most of the values; the trace whose conversation the call continues; a new trace (``homes.together``).
    """
    talk = named()
    found = _trace_of(list(values), continued, is_named=talk is not None)
    if found is not None:
        return Home(found, "", None if talk is None else talk.session)
    if talk is not None:
        return joining.opened(talk)
    together = homes.together()
    name = program() if together else f"{program()}: {what}"
    return joining.opened(Home(together or new_id(), name, None, (("program", program()),)))


def gave(
    value: object, variable: Variable, *, proof: Proof = "text", is_own: bool = False, at: Scope | None = None
) -> None:
    """Note that the current trace gave a value to the application: calls with the value belong to this trace.

    Args:
        value: a text or an object, the same object that the application gets.
        variable: the variable of the value.
        proof: as in ``handed_out.Given``: an equal ``text`` for memory units, the same ``object`` for replies of
            models, ``nothing`` for questions.
        is_own: whether the object was made for this value alone, such as a new text.
        at: the place that gave the value, if it is no longer the current place, such as at the end of a stream.
    """
    here = at or scope.get()
    if here is None:
        return
    handed_out.remember(Given(value, here.trace.id, variable, proof), is_own=is_own)
    if isinstance(value, str) and variable.kind in _MADE:
        joining.replied(here.trace.id, value)
    if around is not None and isinstance(value, str) and proof != "nothing":
        texts(here.trace).add(value, variable)  # a prompt or message of a run around may contain the text
    if joining.last_trace() != here.trace.id:
        joining.last.set(here.trace.id)


def asked(value: object, variable: Variable) -> None:
    """Note a question to a memory: a model's call that gets only this question belongs to the current trace."""
    gave(value, variable, proof="nothing")


def private_store(kind: str, instance: object) -> str:
    """An identity for a store in this process's memory, such as ``InMemoryStore``.

    The instance keeps the identity as an attribute if possible, because Python reuses the ``id`` of a dead object.
    """
    known = getattr(instance, "__dict__", {}).get("_memtrace_store")
    if isinstance(known, str):
        return known
    made = f"{kind}{_IN_MEMORY}{homes.digest(homes.run(), new_id())}"
    try:
        object.__setattr__(instance, "_memtrace_store", made)
    except (AttributeError, TypeError):
        return f"{kind}{_IN_MEMORY}{homes.digest(homes.run(), str(id(instance)))}"
    return made


def forget() -> None:
    """Forget which sessions were sent, and which trace gave out a value last."""
    homes.forget()
    joining.last.set(None)


def _trace_of(values: list[object], continued: Callable[[], list[str]], *, is_named: bool) -> str | None:
    """The trace that gave out most of the values; None if no trace did, or several traces are equal.

    Args:
        values: the values.
        continued: as in ``of_contents``.
        is_named: whether the call names its conversation: then only values of a memory count.
    """
    by_identity: dict[str, int] = {}
    is_remembered = False
    weak: dict[str, int] = {}
    found: dict[str, None] = {}
    seen: set[int] = set()
    for leaf in handed_out.leaves(values):
        if id(leaf) in seen:
            continue
        seen.add(id(leaf))
        given = handed_out.same_object(leaf)
        if given is not None:
            votes = weak if given.proof == "nothing" else by_identity
            is_remembered = is_remembered or given.proof == "text"
            trace = name_of(given.trace)
            votes[trace] = votes.get(trace, 0) + 1
        if isinstance(leaf, str):
            found[leaf] = None
    if len(by_identity) == 1 and not (is_named and not is_remembered):
        return next(iter(by_identity))
    by_text = _votes_of_texts(found, weak)
    if is_named and not is_remembered and not by_text:
        return None
    tied = _most(by_identity, _most(by_text, None))
    if tied is None:
        known, last = continued(), joining.last_trace()
        if known:
            return known[0] if len(known) == 1 else last if last in known else None
        # Questions and replies prove nothing, because several users may have the same; the last user is likely meant.
        return last if last is not None and last in weak else None
    if len(tied) > 1:
        tied = _most({trace: count for trace, count in weak.items() if trace in tied}, tied) or tied
    if len(tied) == 1:
        return next(iter(tied))
    last = joining.last_trace()
    return last if last in tied else None


def _votes_of_texts(texts: Iterable[str], weak: dict[str, int]) -> dict[str, int]:
    """How many known texts of each trace are in some texts; texts that prove nothing are counted in ``weak``."""
    found: dict[str, int] = {}
    for text in texts:
        for same in handed_out.inside(text):
            for trace, givens in list(same.given.items()):
                if all(given.is_part for given in givens):
                    continue  # anybody may say one sentence of a reply
                votes = found if any(given.proof == "text" for given in givens) else weak
                votes[trace] = votes.get(trace, 0) + 1
    return found


def _most(votes: Mapping[str, int], among: set[str] | None) -> set[str] | None:
    """The traces with the most votes; if several have as many, only the traces that are also ``among``, if any."""
    if not votes:
        return among
    most = max(votes.values())
    first = {trace for trace, count in votes.items() if count == most}
    return (first & among or first) if among else first
