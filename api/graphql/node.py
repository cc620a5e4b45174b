"""What has an id: Relay's Node. Ids are those of the graph and the command line, unique over all projects."""

from __future__ import annotations

from typing import Any

import strawberry

ID = "The id: the same in the graph, on the command line and here."
PROJECT = "The project that it belongs to."
TRACE = "The id of the trace that it belongs to."
EXTERNAL = "The id in the source."
CATEGORY = "The source's own word for it."
COMMENT = "What the source says about it."
ATTRIBUTES = "What else the source says, as it says it."
SEQUENCE = "Its place in the trace, from 0; the order of things, which clocks don't tell."
LOCATION = "Where in the recorded program it was made."


@strawberry.interface(description="A thing with an id, which `node` finds.")
class Node:
    """Relay's Node."""

    id: strawberry.ID = strawberry.field(description=ID)


def is_model(model: type) -> Any:
    """For ``is_type_of``: the objects of a type are those of the domain model."""

    def is_type_of(obj: Any, info: Any) -> bool:
        return isinstance(obj, model)

    return is_type_of
