"""The fields of GraphQL's ``Failure`` that ``attribution.verdicts.failure_columns`` declares."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import strawberry

from api.graphql.context import Info
from api.graphql.cost import LONG
from api.graphql.scalars import JSON
from attribution.verdicts.failure_columns import FAILURE_COLUMNS, FailureColumn, FailureRow, failure_rows, is_stored
from schema.models import Failure
from store.contract.protocol import GraphStore

T = TypeVar("T")

_TYPES: dict[str, Any] = {
    "id": strawberry.ID,
    "question_id": strawberry.ID,
    "answer_id": strawberry.ID | None,
    "expected_id": strawberry.ID | None,
    "evidence_ids": list[strawberry.ID],
    "gold_answers": list[str],
    "attributes": JSON,
}
"""GraphQL's types of columns whose Python type says less."""

_LONG = {"question", "prediction", "gold_answers"}


def with_failure_columns(type_: type[T]) -> type[T]:
    """Adds a field for each column of a failure to a class; ``strawberry.type`` then finds them."""
    own = dict(type_.__annotations__)
    type_.__annotations__ = {column.name: _TYPES.get(column.name, column.type) for column in FAILURE_COLUMNS} | own
    for column in FAILURE_COLUMNS:
        setattr(type_, column.name, _field(column))
    return type_


def _field(column: FailureColumn) -> Any:
    if is_stored(column):
        return strawberry.field(description=column.description, metadata=LONG if column.name in _LONG else {})
    return strawberry.field(_resolver(column), description=column.description, metadata={"cost": 3})


def _resolver(column: FailureColumn) -> Callable[..., Any]:
    async def read(self: Failure, info: Info) -> Any:
        row = await info.context.load(self.project_id, _rows, self)
        return None if row is None else column.read(row)

    read.__annotations__["return"] = _TYPES.get(column.name, column.type)
    return read


async def _rows(store: GraphStore, failures: Sequence[Failure]) -> dict[Failure, FailureRow]:
    return {row.failure: row for row in await failure_rows(store, failures)}
