"""What an id means for a command that wants a thing of another kind: a failure stands for its answer, and so on."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, TypeVar

from api.cli.errors import note
from api.cli.newest import last_answer, newest_failure
from api.cli.render.text import short
from attribution.verdicts.stored import by_id, every_failure
from schema.errors import NotFoundError
from schema.kinds import VariableKind
from schema.models import Attribution, Derivation, Element, Failure, Operation, Session, Trace, Variable
from store.contract.answers import Budget, Direction
from store.shared.resolving import ambiguous

if TYPE_CHECKING:
    from store.contract.protocol import GraphStore

E = TypeVar("E", Trace, Session, Operation, Variable, Failure)


_HOPS = (1, 2, 4, None)
"""The nearest things are looked for in a growing number of derivations; None is no bound."""


class Lead(IntEnum):
    """How far a thing may lead to another one.

    NOT: not at all, for what can't be taken back. SURE: only if one thing alone can be meant. NEAREST: also to the
    newest of several.
    """

    NOT = 0
    SURE = 1
    NEAREST = 2


class OtherKindError(NotFoundError):
    """An id belongs to something else than what is wanted."""

    def __init__(self, found: Element, wanted: type[Element]) -> None:
        super().__init__(found.id)
        self.found = found
        what = kind_of(found)
        place = "" if isinstance(found, Trace) else f" of the trace {short(trace_of(found))}"
        article = "an" if what[0] in "AEIOU" else "a"
        told = f"it means {article} {what}{place}. See: memtrace show {short(found.id)}"
        self.args = (f"{short(found.id)} is no {wanted.__name__.lower()}: {told}",)


def kind_of(found: Element) -> str:
    """What an element is, in a word."""
    return found.kind.value if isinstance(found, Variable | Operation) else type(found).__name__


def trace_of(found: Element) -> str:
    """The id of the trace to which an element belongs."""
    return found.id if isinstance(found, Trace) else found.trace_id


async def meant(store: GraphStore, found: Element, wanted: type[E], lead: Lead, reference: str) -> E:
    """The thing of the wanted kind to which an element leads; a note names it.

    Raises:
        OtherKindError: the element leads to none.
        AmbiguousError: the element leads to several.
    """
    if isinstance(found, wanted):
        return found
    others = [] if lead is Lead.NOT else await _led_to(store, found, wanted, lead)
    if not others:
        raise OtherKindError(found, wanted)
    if len(others) > 1:
        raise ambiguous(reference, others)
    one = others[0]
    assert isinstance(one, wanted)
    note(f"{short(found.id)} is of the kind {kind_of(found)}; meant is its {kind_of(one)} {short(one.id)}.")
    return one


async def _led_to(store: GraphStore, found: Element, wanted: type[Element], lead: Lead) -> list[Element]:
    if isinstance(found, Attribution):
        if wanted is Operation:
            return await _these(store, Operation, [found.operation_id])
        (about,) = await _these(store, Failure, [found.failure_id])
        return [about] if wanted is Failure else await _led_to(store, about, wanted, lead)
    if wanted is Trace:
        return [] if isinstance(found, Trace) else await _these(store, Trace, [found.trace_id])
    if wanted is Variable:
        return await _variables(store, found, lead)
    if wanted is Operation:
        if isinstance(found, Failure):
            return [one for answer in await _variables(store, found, lead) for one in await _makers(store, answer)]
        return await _makers(store, found) if isinstance(found, Variable) else []
    return await _failures(store, found, lead) if wanted is Failure else []


async def _variables(store: GraphStore, found: Element, lead: Lead) -> list[Element]:
    """The answer of a failure, what an operation made, the target of a derivation, the last answer of a trace."""
    if isinstance(found, Failure):
        return await _these(store, Variable, [found.answer_id or found.question_id])
    if isinstance(found, Derivation):
        return await _these(store, Variable, [found.target])
    if isinstance(found, Trace):
        last = await last_answer(store, found.id) if lead is Lead.NEAREST else None
        return [last] if last else []
    if isinstance(found, Operation):
        made = (await store.operation(found.id)).generated
        answers = [one for one in made if one.kind is VariableKind.ANSWER]
        return list(answers if len(answers) == 1 else made)
    return []


async def _makers(store: GraphStore, found: Element) -> list[Element]:
    return await _these(store, Operation, [found.operation_id]) if isinstance(found, Variable) else []


async def _failures(store: GraphStore, found: Element, lead: Lead) -> list[Element]:
    """The failures of the answers that an operation made; the newest failure of a trace."""
    if isinstance(found, Operation):
        made = {one.id for one in (await store.operation(found.id)).generated}
        return [one for one in await every_failure(store, found.trace_id) if one.answer_id in made]
    if isinstance(found, Trace) and lead is Lead.NEAREST:
        last = await newest_failure(store, found.id)
        return [last] if last else []
    return []


async def of_kind(store: GraphStore, found: Element, kind: str) -> list[Variable | Operation]:
    """The nearest things of a kind that led to a thing; if none did, the nearest that came from it.

    A trace stands for its last answer, a failure for its answer, and an operation for what it made.
    """
    roots = [
        one.id for one in ([found] if isinstance(found, Variable) else await _variables(store, found, Lead.NEAREST))
    ]
    is_variable = kind in set(VariableKind)
    for way in Direction if roots else ():
        for hops in _HOPS:
            walked = await store.closure(roots, way, Budget(hops), [kind] if is_variable else [])
            steps = [one for one in walked.operations if one.kind == kind]
            if near := (walked.variables if is_variable else steps):
                return list(near)
    return []


async def _these(store: GraphStore, model: type[Element], ids: list[str | None]) -> list[Element]:
    return list((await by_id(store, model, ids)).values())  # type: ignore[type-var]
