"""The schema, and its text: ``python -m api.graphql.schema`` writes ``schema.graphql``, which is committed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import strawberry
from graphql import GraphQLError
from strawberry.extensions import SchemaExtension

from api.graphql.attribution import Attribution
from api.graphql.derivation import Derivation
from api.graphql.executor import Executor
from api.graphql.failure import Failure
from api.graphql.job import Job
from api.graphql.mutation import Mutation
from api.graphql.operation import Operation
from api.graphql.public_errors import public_errors
from api.graphql.query import Query
from api.graphql.scalars import config
from api.graphql.subscription import Subscription
from api.graphql.trace import Session, Trace
from api.graphql.variable import Variable

SDL = Path(__file__).with_name("schema.graphql")
_NODES = (Attribution, Derivation, Failure, Job, Operation, Session, Trace, Variable)


class Schema(strawberry.Schema):
    """Strawberry's schema, with the platform's own handling of errors.

    Strawberry would log each error with document and values, even for the client's mistakes.
    """

    def process_errors(self, errors: list[GraphQLError], execution_context: Any = None) -> None:
        """Replace errors by errors for clients. Unexpected errors are logged without values."""
        errors[:] = public_errors(errors)


def make_schema(*extensions: type[SchemaExtension]) -> Schema:
    """The schema, with the checks around each operation."""
    return Schema(
        query=Query,
        mutation=Mutation,
        subscription=Subscription,
        types=_NODES,
        extensions=extensions,
        execution_context_class=Executor,
        config=config(),
    )


@cache
def sdl() -> str:
    """The schema as text."""
    return make_schema().as_str() + "\n"


if __name__ == "__main__":
    SDL.write_text(sdl(), "utf-8")
