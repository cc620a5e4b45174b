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
    """Strawberry's schema, whose errors are ours.

    Its own way is to log each error with its document and values, also those that are a client's mistakes.
    """

    def process_errors(self, errors: list[GraphQLError], execution_context: Any = None) -> None:
        """Make errors such as callers may see; those that nobody expected are logged on the way, without values."""
        errors[:] = public_errors(errors)


def make_schema(*extensions: type[SchemaExtension]) -> Schema:
    """The schema with what stands around each operation."""
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
