"""The meaning of references, in both engines and all interfaces.

A reference is the whole id of an element, the first 8 or more characters of an id, or an external id (the id in the
source). External ids may look like ids: a whole id always means the element with the id, and never an external id. Any
other reference has to fit exactly one element. People may also write the name of a variable or a trace; interfaces look
names up only if no id fits (``by_name``, ``trace_by_name``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from schema.errors import AmbiguousError, Candidate, NotFoundError
from schema.ids import ID_LENGTH, MIN_PREFIX
from schema.models import Derivation, Element, Failure, Operation, Session, Trace, Variable
from schema.words import words
from store.contract.answers import Label
from store.shared.paging import every

if TYPE_CHECKING:
    from store.contract.protocol import GraphStore

MOST_CANDIDATES = 5
"""How many elements an ``AmbiguousError`` names."""

_PAGE = 1_000

_WHOLE = re.compile(f"[0-9a-f]{{{ID_LENGTH}}}")
_VERSIONED = re.compile(r"(.+)@([0-9]{1,9})", re.DOTALL)
_PREFIX = re.compile(f"[0-9a-f]{{{MIN_PREFIX},{ID_LENGTH - 1}}}")


def check_reference(reference: str, label: Label | None) -> None:
    """Check that a reference is valid Unicode, as all stored ids are.

    Raises:
        NotFoundError: the reference is not valid Unicode.
    """
    try:
        reference.encode()
    except UnicodeEncodeError:
        raise NotFoundError(reference, label.value if label else "") from None


def is_whole_id(reference: str) -> bool:
    """Whether a reference has the form of a whole id."""
    return _WHOLE.fullmatch(reference) is not None


def is_prefix(reference: str) -> bool:
    """Whether a reference has the form of the beginning of an id."""
    return _PREFIX.fullmatch(reference) is not None


def in_place(found: Sequence[Element], reference: str, label: Label | None, trace_id: str | None) -> Element:
    """The element found by a whole id, if its label and trace are the requested ones (None allows any).

    Raises:
        NotFoundError: the element is of another label or trace.
    """
    for element in found:
        if label in {None, label_of(element)} and trace_id in {None, _trace_of(element)}:
            return element
    raise NotFoundError(reference, label.value if label else "")


def only_one(found: Sequence[Element], reference: str, label: Label | None) -> Element:
    """The only element found by an external id or by the beginning of an id.

    Raises:
        NotFoundError: no element was found.
        AmbiguousError: several elements were found.
    """
    distinct = list({element.id: element for element in found}.values())
    if not distinct:
        raise NotFoundError(reference, label.value if label else "")
    if len(distinct) > 1:
        raise ambiguous(reference, distinct)
    return distinct[0]


def ambiguous(reference: str, found: Sequence[Element]) -> AmbiguousError:
    """The error for a reference that fits several elements, which names some of the elements."""
    described = [
        Candidate(one.id, label_of(one).value, _name_of(one), _trace_of(one)) for one in found[:MOST_CANDIDATES]
    ]
    return AmbiguousError(reference, [one.id for one in described], described)


async def by_name(store: GraphStore, reference: str, trace_id: str | None = None) -> Variable:
    """The only recorded variable with a name, or with ``name@version``.

    Raises:
        NotFoundError: no variable has the name, or the name has no letter and no digit.
        AmbiguousError: several variables have the name, such as versions of one memory unit.
    """
    check_reference(reference, Label.VARIABLE)
    found = await store.named(reference, None, trace_id, MOST_CANDIDATES + 1) if words(reference) else []
    versioned = _VERSIONED.fullmatch(reference)
    if not found and versioned is not None and words(versioned[1]):
        found = await store.named(versioned[1], int(versioned[2]), trace_id, MOST_CANDIDATES + 1)
    if len(found) > 1:
        shown = [
            Candidate(one.id, Label.VARIABLE.value, f"{one.name}@{one.version}", one.trace_id)
            for one in found[:MOST_CANDIDATES]
        ]
        raise AmbiguousError(reference, [one.id for one in shown], shown, "name the version, the trace or the whole id")
    if not found:
        raise NotFoundError(reference, Label.VARIABLE.value)
    return found[0]


async def trace_by_name(store: GraphStore, reference: str) -> Trace:
    """The only trace with a name.

    Raises:
        NotFoundError: no trace has the name.
        AmbiguousError: several traces have the name.
    """
    check_reference(reference, Label.TRACE)
    found = [one async for one in every(lambda after: store.traces(_PAGE, after)) if one.name == reference]
    return cast(Trace, only_one(found, reference, Label.TRACE))


def label_of(element: Element) -> Label:
    """The label of an element."""
    return Label(type(element).__name__)


def _trace_of(element: Element) -> str:
    return element.id if isinstance(element, Trace) else element.trace_id


def _name_of(element: Element) -> str:
    """The name or external id of an element in its source, or a failure's question; empty for attributions."""
    if isinstance(element, Trace | Session | Operation | Variable):
        return element.name or element.external_id
    if isinstance(element, Failure):
        return element.question
    return (element.external_id or "") if isinstance(element, Derivation) else ""
