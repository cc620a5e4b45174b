"""Shows operations and variables to a model: as JSON of a bounded size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from attribution.llm.agent.view import FailureView
from schema.models import format_time

T = TypeVar("T")

PREVIEW = 160
_NAME = 80
_COMMENT = 300
HIDDEN = "(not shown: it would tell the right answer)"


def clip(text: str | None, length: int) -> str | None:
    """The beginning of a text, and the number of missing characters."""
    if text is None or len(text) <= length:
        return text
    return f"{text[:length]}… (+{len(text) - length:,} characters)"


def listed(items: Sequence[T], most: int, show: Callable[[T], Any], start: int = 0) -> dict[str, Any]:
    """At most this many items, and the number of items if some are left out."""
    shown = items[start : start + most]
    document: dict[str, Any] = {"items": [show(item) for item in shown]}
    if len(shown) < len(items):
        document |= {"start": start, "of": len(items)}
    return document


def show_operation(view: FailureView, operation_id: str, *, comment: bool = False) -> dict[str, Any]:
    """An operation in a line."""
    operation = view.graph.operations[operation_id]
    document: dict[str, Any] = {
        "operation": view.operation_alias(operation_id),
        "kind": operation.kind,
        "name": clip(operation.name, _NAME),
    }
    if comment and operation.comment:
        document["comment"] = clip(operation.comment, _COMMENT)
    if operation.status not in {"ok", "unknown"}:
        document["status"] = operation.status
    return document


def show_variable(view: FailureView, variable_id: str, preview: int = PREVIEW) -> dict[str, Any]:
    """A variable in a line, with the start of its value."""
    variable = view.graph.variables[variable_id]
    document: dict[str, Any] = {
        "variable": view.variable_alias(variable_id),
        "kind": variable.kind,
        "name": clip(variable.name, _NAME),
        "version": variable.version,
        "bytes": variable.size,
    }
    if variable.created_at is not None:
        document["time"] = format_time(variable.created_at)[:19]
    if preview:
        document["preview"] = clip(variable.preview, preview) if view.may_show(variable_id) else HIDDEN
    return document
