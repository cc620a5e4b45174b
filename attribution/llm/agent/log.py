"""The log of a trace: the operations in order, with inputs and outputs."""

from __future__ import annotations

from typing import Any

from attribution.llm.agent.rendering import HIDDEN, show_operation, show_variable
from attribution.llm.agent.view import FailureView
from attribution.llm.transport.conversation import byte_size
from attribution.llm.transport.data import as_data

_LONGEST_SHARE = 4
"""One value may use at most a quarter of the room."""


async def log_of(view: FailureView, room: int) -> tuple[list[dict[str, Any]], int]:
    """The newest operations that fit into the room, oldest first, and the number of left out older operations.

    A value is shown with the operation that made its variable, or that first used it if it came from outside. Of
    several equal values, the newest is shown. The end of a trace matters most, because the question is answered there.

    Args:
        view: the trace.
        room: maximal size of the log in a message, in bytes.
    """
    operations = list(view.graph.operations)
    first_use = _first_use(view)
    lines: list[dict[str, Any]] = []
    written: dict[str, str] = {}
    for number in range(len(operations) - 1, -1, -1):
        line, values = await _line(view, operations[number], first_use, written, room)
        size = byte_size(as_data(line))
        if size > room:
            return lines[::-1], number + 1
        written |= values
        room -= size
        lines.append(line)
    return lines[::-1], 0


def _first_use(view: FailureView) -> dict[str, str]:
    """For each variable from outside, the first operation that used it."""
    found: dict[str, str] = {}
    for operation_id in view.graph.operations:
        for variable_id in view.graph.used(operation_id):
            if view.graph.variables[variable_id].operation_id is None:
                found.setdefault(variable_id, operation_id)
    return found


async def _line(
    view: FailureView, operation_id: str, first_use: dict[str, str], written: dict[str, str], room: int
) -> tuple[dict[str, Any], dict[str, str]]:
    graph = view.graph
    used, made = graph.used(operation_id), graph.made(operation_id)
    new = [one for one in used if first_use.get(one) == operation_id]
    texts = await graph.texts([*new, *made])
    values: dict[str, str] = {}

    def whole(variable_id: str) -> dict[str, Any]:
        variable = graph.variables[variable_id]
        document = show_variable(view, variable_id, preview=0)
        same = written.get(variable.value_hash) or values.get(variable.value_hash)
        if not view.may_show(variable_id):
            document["value"] = HIDDEN
        elif same is not None:
            document["same_value_as"] = same
        else:
            values[variable.value_hash] = view.variable_alias(variable_id)
            document["value"] = _cut(texts[variable_id], max(room // _LONGEST_SHARE, 200))
        return document

    ended = [view.variable_alias(one) for one in view.ended(operation_id)]
    line = show_operation(view, operation_id, comment=True) | {
        "used": [whole(one) if one in new else view.variable_alias(one) for one in used],
        "made": [whole(one) for one in made],
    }
    return (line | {"ended": ended} if ended else line), values


def _cut(text: str, length: int) -> str:
    if len(text) <= length:
        return text
    half = length // 2
    return f"{text[:half]} […{len(text) - 2 * half:,} characters left out…] {text[-half:]}"
