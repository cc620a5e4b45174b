"""Records the arguments and results of operations as variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from memtrace.context import question
from memtrace.equal_texts import LOOSE_KINDS, equal, is_alike, mark, unit
from memtrace.identity import NO_QUESTIONS, Variable
from memtrace.raw_events import RawEvent
from memtrace.record import declare
from memtrace.scripts import is_word
from memtrace.steps import Scope, Step
from memtrace.told import asked_for, told_inside
from memtrace.values import CONTAINERS, is_copyable, is_data, is_number, own_copy

STORED = {"MemoryUnit", "Buffer"}
"""Kinds of variables that a memory stores."""

KINDS_BY_NAME = {
    "query": "Query",
    "question": "Query",
    "prompt": "Prompt",
    "message": "Message",
    "messages": "Message",
    "context": "Context",
}
"""The kind of an argument if none is given."""

_WRITERS = {"Extraction", "Update", "Deletion", "Initialization", "Segmentation", "Embedding"}
"""Kinds of operations that write memory."""

_SAID = {"Message", "Other"}
"""Kinds of arguments that may be a message with the program's words around it."""

MAX_SEARCHED = 50_000
MAX_DEPTH = 5


def known_inside(scope: Scope, value: object) -> list[tuple[object, list[Variable]]]:
    """The known objects inside a container, each with its variables."""
    found: list[tuple[object, list[Variable]]] = []
    searched = 0
    stack: list[tuple[Iterator[object], int]] = [(_items(value), 1)]
    while stack:
        items, depth = stack[-1]
        for item in items:
            searched += 1
            if searched > MAX_SEARCHED:
                return found
            if isinstance(item, Variable):
                found.append((item, [item]))
                continue
            known = scope.trace.identities.find(item)
            if known is not None:
                found.append((item, known))
            elif depth < MAX_DEPTH and isinstance(item, CONTAINERS):
                stack.append((_items(item), depth + 1))
                break
        else:
            stack.pop()
    return found


def take(events: list[RawEvent], scope: Scope, step: Step, value: object, role: str, kind: str | None) -> None:
    """Record an argument of an operation: a known value is used; a new value is a variable from outside."""
    known = scope.trace.identities.find(value)
    if known is not None:
        step.use(events, known[0] if len(known) == 1 else choose(known, step), role)
    elif isinstance(value, str):
        _take_new(events, scope, step, value, role, kind)
    elif isinstance(value, Variable):
        step.use(events, value, role)
    elif isinstance(value, CONTAINERS):
        _take_container(events, scope, step, value, role, kind)
    elif is_data(value) and (not is_number(value) or (kind is not None and value is not None)):
        _take_new(events, scope, step, value, role, kind)


def _take_container(
    events: list[RawEvent], scope: Scope, step: Step, value: object, role: str, kind: str | None
) -> None:
    inside = known_inside(scope, value)
    if not inside and not is_alike(scope, value):
        if value:
            _take_new(events, scope, step, value, role, kind)
        return
    for _, known in inside:
        if step.maker[1] == "Retrieval" and known[0].kind in STORED:
            step.consider(known[0])
        else:
            step.use(events, choose(known, step), role)
    hold = getattr(step, "hold", None)  # of a deletion
    if hold is not None:
        hold(value, [(item, choose(known, step)) for item, known in inside if known[0].kind == "MemoryUnit"])
    for item in _new_items(scope, value):
        _take_new(events, scope, step, item, role, kind)


def _take_new(events: list[RawEvent], scope: Scope, step: Step, value: object, role: str, kind: str | None) -> None:
    is_unnamed = kind is None and role not in KINDS_BY_NAME
    kind = kind or KINDS_BY_NAME.get(role, "Other")
    if kind in _SAID and scope.trace.notes and isinstance(value, str):
        message = told_inside(scope.trace, value) or asked_for(scope.trace, value)
        if message is not None:
            scope.trace.identities.bind(value, message)
            step.use(events, message, role)
            return
    if scope.trace.identities.units and kind in LOOSE_KINDS and isinstance(value, str):
        alike = equal(scope, value)
        if alike is not None:
            _take_alike(events, scope, step, value, role, alike)
            return
    if is_unnamed and isinstance(value, str) and _is_told(step) and not is_word(value):
        kind = "Message"
    variable = declare(events, scope, value, role, kind)
    scope.trace.identities.bind(value, variable)
    step.use(events, variable, role)


def _is_told(step: Step) -> bool:
    """Whether the operation extracts from a text that no argument calls a message; see ``Plan.is_told``."""
    plan = getattr(step, "plan", None)
    return plan is not None and plan.is_told


def _take_alike(events: list[RawEvent], scope: Scope, step: Step, value: str, role: str, alike: list[Variable]) -> None:
    """Record a text that equals the text of a unit as a read of the unit or of an occurrence."""
    if step.maker[1] == "Retrieval":
        step.consider(unit(alike))
        return
    origin = choose(alike, step)
    occurrence = declare(
        events, scope, value, origin.name, origin.kind, step=step, reads=origin, said=mark(alike)
    )  # fmt: skip
    scope.trace.identities.bind(value, occurrence)
    step.use(events, occurrence, role)


def give(
    events: list[RawEvent], scope: Scope, step: Step, value: object, *, name: str, kind: str | None, is_each: bool
) -> Any:
    """Record the result of an operation.

    Returns:
        The result for the application: the result itself, or a copy of a text, so that the object belongs to one
            variable.
    """
    if value is None:
        return None
    identities = scope.trace.identities
    if type(value) is not str and isinstance(value, CONTAINERS) and identities.find(value) is None:
        inside = known_inside(scope, value)
        if inside or is_each:
            for item, known in inside:
                _give_known(events, scope, step, item, known, kind if is_each else None, name)
            for item in _new_items(scope, value) if inside else _items(value):
                identities.bind(item, declare(events, scope, item, name, kind or "Other", step=step))
            return value
    return give_one(events, scope, step, value, name=name, kind=kind)


def give_one(
    events: list[RawEvent],
    scope: Scope,
    step: Step,
    value: object,
    *,
    name: str,
    kind: str | None,
    said: Mapping[str, Any] | None = None,
) -> Any:
    """Record one value that the operation makes or returns; returns the value for the application, as ``give`` does."""
    identities = scope.trace.identities
    known = identities.find(value)
    if known is None:
        if type(value) is not str and not is_data(value):
            return value
    elif not (isinstance(value, str) and _is_made_again(step, known)):
        variable = _give_known(events, scope, step, value, known, kind, name, is_copied=isinstance(value, str))
        if variable is None or not isinstance(value, str):
            return value
        value = own_copy(value)
        identities.bind(value, variable, is_own=True)
        return value
    is_text = type(value) is str and is_copyable(value)
    if is_text:
        value = own_copy(value)  # type: ignore[arg-type]
    variable = declare(events, scope, value, name, kind or KINDS_BY_NAME.get(name, "Other"), step=step, said=said)
    identities.bind(value, variable, is_own=is_text)
    return value


def _is_made_again(step: Step, known: list[Variable]) -> bool:
    """Whether a known text object is a new value here: Python uses one object for equal literals."""
    if any(step.has_input(variable) or step.made(variable) for variable in known):
        return False
    return known[0].maker == step.maker or (step.maker[1] != "Retrieval" and known[0].kind not in STORED)


def _give_known(
    events: list[RawEvent],
    scope: Scope,
    step: Step,
    value: object,
    known: list[Variable],
    kind: str | None,
    name: str,
    *,
    is_copied: bool = False,
) -> Variable | None:
    """Record that the operation returns a value that existed before; None for a value made inside the operation.

    A memory that stores a message as it is makes a unit of it. Any other value that is given back was only read.
    """
    own = next((one for one in reversed(known) if step.made(one) and not step.has_input(one)), None)
    if own is not None and (kind is None or kind == own.kind or own.operation == step.id):
        return None
    origin = own or next((variable for variable in known if step.has_input(variable)), known[0])
    if isinstance(value, Variable):
        return None
    if kind in STORED and step.maker[1] != "Retrieval" and all(one.kind not in STORED for one in known):
        unit = declare(events, scope, value, name, kind, step=step)
        if not is_copied:
            scope.trace.identities.bind(value, unit)  # the value stands for the unit from now on
        return unit
    occurrence = read(events, scope, step, value, origin, kind, is_copied=is_copied)
    if not is_copied and kind is not None and kind != origin.kind and origin.kind not in STORED:
        scope.trace.identities.bind(value, occurrence)  # the value has the new kind from now on
    return occurrence


def read(
    events: list[RawEvent],
    scope: Scope,
    step: Step,
    value: object,
    origin: Variable,
    kind: str | None = None,
    *,
    is_copied: bool = False,
    said: Mapping[str, Any] | None = None,
) -> Variable:
    """Record that the operation returns a variable; returns the new occurrence.

    The object ``value`` also stands for the occurrence, unless ``is_copied``: then the application gets a copy.
    """
    if not step.has_input(origin):
        step.use(events, origin, "read", is_input=False)
    if said is None:
        inferred = getattr(step, "inferred", None)  # of a retrieval
        said = inferred.get(id(value)) if inferred else None
    occurrence = declare(events, scope, value, origin.name, kind or origin.kind, step=step, reads=origin, said=said)
    if not is_copied:
        scope.trace.identities.add_occurrence(value, occurrence)
    return occurrence


def consider(events: list[RawEvent], step: Step) -> None:
    """Record the candidates of a retrieval, if it had a query."""
    query = next((used for used in step.inputs if used.kind in {"Query", "RefinedQuery"}), None)
    if query is None:
        query = next(iter(step.inputs), None)
    if query is None:
        return
    returned = {variable.reads.id for variable, _, _ in step.outputs if variable.reads is not None}
    for rank, variable in enumerate(step.candidates or ()):
        events.append(step.considered(query, variable, rank, is_returned=variable.id in returned))


def _items(value: object) -> Iterator[Any]:
    return iter(list(value.values()) if isinstance(value, Mapping) else list(value))  # type: ignore[call-overload]


def _new_items(scope: Scope, value: object) -> list[object]:
    """Elements of a list that are data, are no known variables and contain none."""
    if isinstance(value, Mapping):
        return []
    return [
        item
        for item in _items(value)
        if is_data(item)
        and not is_number(item)
        and not isinstance(item, Variable)
        and scope.trace.identities.find(item) is None
        and not (isinstance(item, CONTAINERS) and known_inside(scope, item))
    ]


def choose(known: list[Variable], step: Step | None) -> Variable:
    """Choose the variable that a consumer means by an object.

    An object that several readers returned stands for several occurrences. The consumer means the newest occurrence
    that derives from one of the consumer's own questions. An operation that writes memory and has no question means the
    variable itself.

    Args:
        known: the variable of the object, followed by its occurrences, oldest first.
        step: the consumer; None outside of operations.
    """
    if len(known) == 1:
        return known[0]
    for variable in reversed(known):
        if step is not None and step.made(variable):
            return variable
    asked = step.asked if step is not None else NO_QUESTIONS
    if not asked:
        if step is not None and step.maker[1] in _WRITERS:
            return known[0]
        current = question.get()
        asked = frozenset((current,)) if current is not None else NO_QUESTIONS
    if not asked:
        return known[-1]
    return next((variable for variable in reversed(known[1:]) if variable.questions & asked), known[0])
