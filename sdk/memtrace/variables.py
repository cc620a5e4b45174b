"""Functions that record values by hand, where a decorator can't see them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from numbers import Real
from typing import Any, ParamSpec, TypeVar, cast

from memtrace.calls import variable_kind
from memtrace.context import scope
from memtrace.equal_texts import equal, mark, unit
from memtrace.faults import report
from memtrace.identity import Variable
from memtrace.kinds import MAX_ID_CHARACTERS
from memtrace.mistakes import MistakeError, shown
from memtrace.mutations import implied_step
from memtrace.observe import STORED, choose, read, take
from memtrace.record import declare
from memtrace.sink import emit
from memtrace.steps import Scope
from memtrace.unconnected import searched
from memtrace.values import CONTAINERS, is_copyable, is_data, own_copy

T = TypeVar("T")
P = ParamSpec("P")


def variable(
    value: T,
    kind: str = "Other",
    name: str | None = None,
    *,
    revises: object = None,
    category: str | None = None,
    comment: str | None = None,
    class_name: str | None = None,
    role: str | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> T:
    """Record a value that came from outside or, inside an operation, was made by the operation.

    A known list, dictionary or object stays the same variable; use ``mutation`` when it changes.

    Args:
        value: the value.
        kind: a ``VariableKind``, such as ``Message``, ``Query``, ``MemoryUnit``, ``Prompt``, ``Answer``. Case, spaces,
            hyphens and underscores do not matter.
        name: the name of the variable. A ``MemoryUnit`` or ``Buffer`` with a known name is the next version of the
            newest variable with the name.
        revises: the previous version, as a value or variable.
        category: your own word for the sort of value.
        comment: anything for people to read.
        class_name: the class of the value in your program.
        role: the role of the value in the operation that makes the value.
        attributes: any values that JSON can represent.

    Returns:
        The value; of a text, a copy. Continue with the copy: the recorder recognises the object later.

    Raises:
        ValueError: The kind does not exist; the message names the nearest one.
    """
    kind = variable_kind(kind)
    here = scope.get()
    if here is None:
        return value
    try:
        said = {
            word: item
            for word, item in (
                ("category", category),
                ("comment", comment),
                ("className", class_name),
                ("role", role and role[:MAX_ID_CHARACTERS]),
                ("attributes", attributes),
            )
            if item
        }
        return cast("T", _declared(here, value, kind, name, revises, said))
    except Exception as error:
        report("variable", error)
        return value


def _declared(here: Scope, value: object, kind: str, name: str | None, revises: object, said: dict[str, Any]) -> object:
    identities = here.trace.identities
    known = identities.find(value)
    origin = None if revises is None else _resolved(here, revises)
    if known is not None and origin is None:
        is_input = here.step is not None and any(here.step.has_input(item) for item in known)
        if not isinstance(value, str) or (is_input and known[-1].kind == kind):
            return value
    if origin is None and name is not None and kind in STORED:
        origin = identities.named(name)
    is_text = type(value) is str and is_copyable(value)
    if is_text:
        value = own_copy(cast("str", value))
    name = name or (origin.name if origin is not None else kind)
    if origin is not None:
        with implied_step(here, "revise", "Update") as (step, events):
            step.use(events, origin, "before", is_input=False)
            made = declare(events, here, value, name, kind, step=step, revises=origin, said=said)
    else:
        events = []
        made = declare(events, here, value, name, kind, step=here.step, said=said)
        emit(events)
    identities.bind(value, made, is_own=is_text)
    return value


def find(value: object) -> Variable | None:
    """The variable of a value in the current trace and operation; None if the value is not known."""
    here = scope.get()
    known = None if here is None else here.trace.identities.find(value)
    return None if known is None or here is None else choose(known, here.step)


def named(name: str) -> Variable | None:
    """The newest variable with a name in the current trace; None if this process knows no such variable."""
    here = scope.get()
    return None if here is None else here.trace.identities.named(name)


def bind(value: T, known: object) -> T:
    """Say that an object is a known variable, such as a copy that came out of a database.

    Args:
        value: the object.
        known: a known value, its variable, or its name.

    Returns:
        The object; of a text, a copy. Continue with the copy.
    """
    here = scope.get()
    if here is None:
        return value
    try:
        found = _resolved(here, known)
        is_text = isinstance(value, str) and type(value) is str and is_copyable(value)
        if is_text:
            value = cast("T", own_copy(cast("str", value)))
        here.trace.identities.bind(value, found, is_own=is_text)
    except Exception as error:
        report("bind", error)
    return value


def _recorded(fn: Callable[P, None]) -> Callable[P, None]:
    """A function that does nothing outside of traces and never raises an error."""

    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        if scope.get() is None:
            return
        try:
            fn(*args, **kwargs)
        except TypeError as error:
            report(fn.__name__, _wrong_call(fn, args, kwargs) or error)
        except Exception as error:
            report(fn.__name__, error)

    guarded.__name__, guarded.__doc__, guarded.__wrapped__ = fn.__name__, fn.__doc__, fn  # type: ignore[attr-defined]
    return guarded


def _wrong_call(fn: Callable[..., None], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> MistakeError | None:
    """The error of a call whose arguments do not fit the function; None if they fit."""
    from inspect import signature

    taken = signature(fn)
    try:
        taken.bind(*args, **kwargs)
    except TypeError as error:
        return MistakeError(f"{error}; it takes ({', '.join(taken.parameters)})")
    return None


@_recorded
def link(source: object, target: object, comment: str | None = None) -> None:
    """Say that the target was made from the source, and not from all inputs of its operation.

    Args:
        source: a known value, its variable, or its name.
        target: a known value, its variable, or its name; it must be younger than the source.
        comment: anything for people to read.
    """
    here = _here()
    first, second = _resolved(here, source), _resolved(here, target)
    maker = here.step
    while maker is not None and all(output is not second for output, _, _ in maker.outputs):
        maker = maker.parent
    if maker is not None:
        maker.link(first, second, comment)
        return
    with implied_step(here, "link", "Other") as (step, _):
        step.link(first, second, comment)


@_recorded
def deleted(unit: object) -> None:
    """Say that the unit is no longer in the memory.

    Args:
        unit: a known value, its variable, or its name.
    """
    here = _here()
    gone = _resolved(here, unit)
    with implied_step(here, "delete", "Deletion") as (step, events):
        if not step.has_input(gone):
            step.use(events, gone, "deleted")
        events.append(step.invalidated(gone))
        if gone.unit is not None:
            here.trace.stored_units.end(gone.unit)


@_recorded
def retrieved(query: object, candidates: Iterable[object], returned: Iterable[object]) -> None:
    """Record the candidates of a retrieval, best first, and the returned candidates.

    A returned candidate counts as read: continue with the objects in ``returned``. Inside an operation, the candidates
    belong to the operation; outside, a new operation is recorded. An invalid candidate, score or returned object is
    reported in the log, and the others are recorded.

    Args:
        query: the text that was searched for, a known value or a new one.
        candidates: known values, their variables or names; or pairs of a candidate and its score, a finite number.
        returned: the returned candidates. A new object for a candidate is given as a pair (object, candidate).
    """
    here = _here()
    considered = list(enumerate(_listed("candidates", candidates)))
    given = _listed("returned", returned)
    asked = _maybe(here, query)
    if asked is None and (query is None or not is_data(query) or (isinstance(query, CONTAINERS) and not query)):
        raise MistakeError(f"query must be what was asked for, such as a text, got {shown(query)}")
    with implied_step(here, "retrieve", "Retrieval") as (step, events):
        if asked is None or not step.has_input(asked):
            take(events, here, step, query, "query", "Query")
            asked = next(reversed(step.inputs))
        read_back: list[tuple[object, Variable, dict[str, Any] | None]] = []
        for item in given:
            try:
                read_back.append((*_known_pair(here, item), _inferred(here, item)))
            except MistakeError as mistake:
                report("returned of retrieved", mistake)
        ids = {origin.id for _, origin, _ in read_back}
        for rank, item in considered:
            try:
                unit, score = _scored(here, item)
            except MistakeError as mistake:
                report("candidate of retrieved", mistake)
            else:
                events.append(step.considered(asked, unit, rank, is_returned=unit.id in ids, score=score))
        for value, origin, said in read_back:
            read(events, here, step, value, origin, said=said)
    if here.step is None:
        searched(step, set())


def _here() -> Scope:
    here = scope.get()
    if here is None:
        raise RuntimeError("there is no trace")
    return here


def _maybe(here: Scope, value: object) -> Variable | None:
    """The variable of a value, a variable or a name: the variable itself, not an occurrence. None if unknown."""
    if isinstance(value, Variable):
        return value
    known = here.trace.identities.find(value)
    if known is not None:
        return known[0]
    found = here.trace.identities.named(value) if isinstance(value, str) else None
    if found is not None:
        return found
    alike = _alike(here, value)
    return None if alike is None else unit(alike)


def _alike(here: Scope, value: object) -> list[Variable] | None:
    return equal(here, value) if isinstance(value, str) and here.trace.identities.units else None


def _inferred(here: Scope, value: object) -> dict[str, Any] | None:
    """The attributes of an occurrence that was recognised by its text; None if it was recognised otherwise."""
    if not isinstance(value, str) or here.trace.identities.find(value) is not None:
        return None
    alike = None if here.trace.identities.named(value) is not None else _alike(here, value)
    return None if alike is None else mark(alike)


def _resolved(here: Scope, value: object) -> Variable:
    found = _maybe(here, value)
    if found is None:
        raise MistakeError(f"{shown(value)} is no known variable of this trace, nor the name of one")
    return found


def _listed(what: str, items: object) -> list[object]:
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise MistakeError(f"{what} must be a list, got {shown(items)}")
    return list(items)


def _scored(here: Scope, item: object) -> tuple[Variable, float | None]:
    """The variable of a candidate, and its score or None."""
    if not isinstance(item, tuple) or here.trace.identities.find(item) is not None:
        return _resolved(here, item), None
    if len(item) != 2:
        raise MistakeError(f"a candidate is a known value or a pair (known value, score), got a tuple of {len(item)}")
    unit, score = _resolved(here, item[0]), item[1]
    if score is None:
        return unit, None
    try:
        if isinstance(score, Real) and isfinite(score):
            return unit, float(score)
    except OverflowError:
        pass  # a whole number that is too large for a float is reported like other bad scores
    report("score of retrieved", MistakeError(f"a score must be a finite number, got {shown(score)}"))
    return unit, None


def _known_pair(here: Scope, item: object) -> tuple[object, Variable]:
    if isinstance(item, tuple) and len(item) == 2 and here.trace.identities.find(item) is None:
        return item[0], _resolved(here, item[1])
    return item, _resolved(here, item)
