"""Relay's Node: anything with an id.

Ids are the same in the graph and on the command line, and unique over all projects.
"""

from typing import Any

import strawberry

ID = "Its id. It is the same in the graph database, on the command line and here."
PROJECT = "The name of the project."
TRACE = "The id of the trace."
EXTERNAL = "Its id in the source (the recorded application or file)."
CATEGORY = "The category in the source's own words."
COMMENT = "A comment from the source."
ATTRIBUTES = "Other properties from the source (the recorded application or file), unchanged."
SEQUENCE = (
    "Its place in the order of the trace, from 0. Order elements by this number, not by times: clocks may differ."
)
LOCATION = "Where in the recorded program it was made, such as a file and line."


@strawberry.interface(description="Anything with an id. `Query.node` finds an element by its id.")
class Node:
    id: strawberry.ID = strawberry.field(description=ID)


def is_model(model: type) -> Any:
    """The ``is_type_of`` of a GraphQL type whose objects are instances of a domain model."""

    def is_type_of(obj: Any, info: Any) -> bool:
        return isinstance(obj, model)

    return is_type_of
