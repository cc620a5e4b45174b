"""Lineage: the causal closure of variables, backward or forward, within bounds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import strawberry

from api.graphql import reads
from api.graphql.context import Info
from api.graphql.node import is_model
from api.graphql.refs import DerivationRef, OperationRef, VariableRef
from api.graphql.scalars import Direction, VariableKind
from schema.errors import InputError
from store.contract import answers

MAX_NODES = 10_000
MAX_HOPS = 100_000
_PATH = 100
"""The variables for which a path counts; the path between two variables may be longer."""

DirectionArgument = Annotated[
    Direction,
    strawberry.argument(
        description="backward: the causal past of the variables; forward: everything that depends on the variables."
    ),
]
MaxHops = Annotated[
    int | None,
    strawberry.argument(
        description="How many derivations the walk follows from a root, at most; null for no limit. One hop leads "
        "from variable to variable."
    ),
]
MaxNodes = Annotated[
    int,
    strawberry.argument(
        description=f"How many variables at most, the nearest first; 1 to {MAX_NODES}. If there are more, `frontier` "
        "says where to go on."
    ),
]
if TYPE_CHECKING:
    Kinds = Sequence[VariableKind]
else:
    Kinds = Annotated[
        list[VariableKind],
        strawberry.argument(
            description="Give only variables of these kinds; all kinds if empty. The walk still passes through "
            "variables of other kinds."
        ),
    ]
AsOf = Annotated[
    int | None,
    strawberry.argument(
        description="A place in the trace (a variable's `sequence`): later variables are left out, as though they had "
        "not happened yet."
    ),
]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The checked arguments of a lineage."""

    direction: answers.Direction
    budget: answers.Budget
    kinds: frozenset[str]


def bounds(
    info: Info,
    direction: answers.Direction,
    max_hops: int | None,
    max_nodes: int,
    kinds: Sequence[VariableKind],
    as_of: int | None,
) -> Bounds:
    """Check the arguments of a lineage.

    Raises:
        InputError: an argument is out of range.
    """
    if not 1 <= max_nodes <= MAX_NODES:
        raise InputError("maxNodes", "", f"{max_nodes} is not from 1 to {MAX_NODES}")
    if max_hops is not None and not 0 <= max_hops <= MAX_HOPS:
        raise InputError("maxHops", "", f"{max_hops} is not from 0 to {MAX_HOPS}")
    seconds = info.context.platform.settings.request_seconds / 2
    budget = answers.Budget(hops=max_hops, nodes=max_nodes, seconds=seconds, until=as_of)
    return Bounds(direction, budget, frozenset(kinds))


@strawberry.type(
    description="The causal closure of some variables, backward or forward, within the limits that you set."
)
class Lineage:
    """The fields of ``store.contract.answers.Closure``."""

    is_type_of = is_model(answers.Closure)

    roots: list[strawberry.ID] = strawberry.field(
        description="The ids of the variables that the walk began with. They are among `nodes`."
    )
    direction: Direction = strawberry.field(description="The direction of the walk.")
    truncated: bool = strawberry.field(description="Whether a limit stopped the walk before its end.")
    frontier: list[strawberry.ID] = strawberry.field(
        description="Where the walk stopped: ids of variables with neighbours that were not visited. Ask for their "
        "lineage to go on."
    )

    @strawberry.field(description="The variables, in the order of the trace.", metadata={"size": 1})
    def nodes(self: answers.Closure) -> list[VariableRef]:
        return self.variables

    @strawberry.field(description="The derivations between these variables, in order.", metadata={"size": 1})
    def edges(self: answers.Closure) -> list[DerivationRef]:
        return self.derivations

    operations: list[OperationRef] = strawberry.field(
        description="The operations that made `edges`, in order.", metadata={"size": 1}
    )


@strawberry.type(description="A chain of derivations from a variable to a variable in its causal past.")
class Path:
    """The fields of ``store.contract.answers.Path``."""

    is_type_of = is_model(answers.Path)

    variables: list[VariableRef] = strawberry.field(
        description="The variables, the dependent one first.", metadata={"size": _PATH}
    )
    derivations: list[DerivationRef] = strawberry.field(
        description="The derivations between them.", metadata={"size": _PATH}
    )


async def lineage_of(info: Info, project_id: str, roots: tuple[str, ...], asked: Bounds) -> answers.Closure:
    """The lineage of some variables of a project."""
    found = await info.context.load(project_id, reads.closures, roots, asked.direction, asked.budget, asked.kinds)
    if found is None:
        raise RuntimeError("every root has a closure")
    return found
