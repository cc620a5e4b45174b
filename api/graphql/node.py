"""What has an id: Relay's Node. Ids are those of the graph and the command line, unique over all projects."""

from typing import Any

import strawberry

ID = "Its id. It is the same in the graph database, on the command line and here."
PROJECT = "The name of the project that it belongs to."
TRACE = "The id of the trace that it belongs to."
EXTERNAL = "Its id in the source (the application or file that it came from)."
CATEGORY = "What the source calls this sort of thing."
COMMENT = "A comment from the source."
ATTRIBUTES = "Other properties from the source (the application or file that it came from), unchanged."
SEQUENCE = "Its place in the order of the trace, from 0. Use this to order things, not the times: clocks may differ."
LOCATION = "Where in the recorded program it was made, such as a file and line."


@strawberry.interface(description="Anything with an id. `Query.node` finds it by that id.")
class Node:
    id: strawberry.ID = strawberry.field(description=ID)


def is_model(model: type) -> Any:
    """For ``is_type_of``: the objects of a type are those of the domain model."""

    def is_type_of(obj: Any, info: Any) -> bool:
        return isinstance(obj, model)

    return is_type_of
