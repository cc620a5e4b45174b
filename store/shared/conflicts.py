"""Compares elements of a batch with stored elements of the same ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace

from schema.errors import ConflictError
from schema.models import Element, Trace, camel_case
from store.contract.answers import Label

_CHANGEABLE: dict[Label, frozenset[str] | None] = {
    Label.TRACE: frozenset({"attributes"}),
    Label.SESSION: frozenset({"sequence"}),
    Label.OPERATION: frozenset({"sequence"}),
    Label.VARIABLE: frozenset({"sequence", "right"}),
    Label.DERIVATION: frozenset({"sequence"}),
    Label.FAILURE: frozenset({"attributes", "origin", "evidence_ids", "gold_answers"}),
    Label.ATTRIBUTION: None,
}
"""The fields that a later write may change, by label; None if a later write replaces the whole element."""


def first_difference(stored: Element, new: Element, ignore: frozenset[str]) -> str | None:
    """The name of the first field in which two elements of one model differ; None if no field differs."""
    if stored == new:
        return None
    for item in fields(stored):
        if item.name not in ignore and getattr(stored, item.name) != getattr(new, item.name):
            return item.name
    return None


def check(label: Label, stored: Mapping[str, Element], new: Iterable[Element]) -> None:
    """Compare new elements with the stored elements of the same ids.

    Args:
        label: of all the elements.
        stored: stored elements by id; further ids are ignored.
        new: elements that are about to be written.

    Raises:
        ConflictError: a stored element differs in a field that a write may not change; the error names the property.
    """
    ignore = _CHANGEABLE[label]
    if ignore is None or not stored:
        return
    for element in new:
        before = stored.get(element.id)
        if before is None:
            continue
        if isinstance(before, Trace) and isinstance(element, Trace) and before.name is None:
            before = replace(before, name=element.name)  # a trace may get its name after its first write
        name = first_difference(before, element, ignore)
        if name is not None:
            raise ConflictError(label.value, _external_id(element), camel_case(name))


def _external_id(element: Element) -> str:
    return getattr(element, "external_id", None) or element.id
