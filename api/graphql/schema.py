"""The schema, and its text: ``python -m api.graphql.schema`` writes ``schema.graphql``, which is committed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import strawberry
from strawberry.extensions import SchemaExtension

from api.graphql.attribution import Attribution
from api.graphql.derivation import Derivation
from api.graphql.executor import Executor
from api.graphql.failure import Failure
from api.graphql.job import Job
from api.graphql.mutation import Mutation
from api.graphql.operation import Operation
from api.graphql.query import Query
from api.graphql.scalars import config
from api.graphql.subscription import Subscription
from api.graphql.trace import Session, Trace
from api.graphql.variable import Variable

SDL = Path(__file__).with_name("schema.graphql")
_NODES = (Attribution, Derivation, Failure, Job, Operation, Session, Trace, Variable)


def make_schema(*extensions: type[SchemaExtension]) -> strawberry.Schema:
    """The schema with what stands around each operation."""
    return strawberry.Schema(
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
