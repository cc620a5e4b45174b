"""What a reference means: the same answer from both engines, and through every door.

A reference is the whole id of something, the first 8 or more characters of one, or an id in the source. Sources may
call their things as they like, also like the ids of others: a whole id always means what has it, and never anything
that is only called so. Of all else a reference has to mean one thing only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from schema.errors import AmbiguousError, Candidate, NotFoundError
from schema.ids import ID_LENGTH, MIN_PREFIX
from schema.models import Derivation, Element, Operation, Session, Trace, Variable
from store.answers import Label

MOST_CANDIDATES = 5
"""How many are named where a reference may mean several."""

_WHOLE = re.compile(f"[0-9a-f]{{{ID_LENGTH}}}")
_PREFIX = re.compile(f"[0-9a-f]{{{MIN_PREFIX},{ID_LENGTH - 1}}}")


def check_reference(reference: str, label: Label | None) -> None:
    """Whether anything could be called so.

    Raises:
        NotFoundError: it is no Unicode text, and nothing that is stored has such an id.
    """
    try:
        reference.encode()
    except UnicodeEncodeError:
        raise NotFoundError(reference, label.value if label else "") from None


def is_whole_id(reference: str) -> bool:
    """Whether a reference could be a whole id."""
    return _WHOLE.fullmatch(reference) is not None


def is_prefix(reference: str) -> bool:
    """Whether a reference could be the beginning of an id."""
    return _PREFIX.fullmatch(reference) is not None


def in_place(found: Sequence[Element], reference: str, label: Label | None, trace_id: str | None) -> Element:
    """The element that has a whole id, where it is of the label and in the trace that are asked for.

    Raises:
        NotFoundError: it is of another label or trace.
    """
    for element in found:
        if label in {None, label_of(element)} and trace_id in {None, _trace_of(element)}:
            return element
    raise NotFoundError(reference, label.value if label else "")


def only_one(found: Sequence[Element], reference: str, label: Label | None) -> Element:
    """The element that was found by an id in the source or by the beginning of an id.

    Raises:
        NotFoundError: there is none.
        AmbiguousError: there are several.
    """
    distinct = list({element.id: element for element in found}.values())
    if not distinct:
        raise NotFoundError(reference, label.value if label else "")
    if len(distinct) > 1:
        raise ambiguous(reference, distinct)
    return distinct[0]


def ambiguous(reference: str, found: Sequence[Element]) -> AmbiguousError:
    """The error that names some of what a reference may mean."""
    described = [
        Candidate(one.id, label_of(one).value, _name_of(one), _trace_of(one)) for one in found[:MOST_CANDIDATES]
    ]
    return AmbiguousError(reference, [one.id for one in described], described)


def label_of(element: Element) -> Label:
    """The label of an element."""
    return Label(type(element).__name__)


def _trace_of(element: Element) -> str:
    return element.id if isinstance(element, Trace) else element.trace_id


def _name_of(element: Element) -> str:
    """What the source calls it; a failure's question is a value, and no name."""
    if isinstance(element, Trace | Session | Operation | Variable):
        return element.name or element.external_id
    return (element.external_id or "") if isinstance(element, Derivation) else ""
