"""What stands around each operation: who asks, how large it is, what it may cost, and how long it may take."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from graphql import GraphQLError
from strawberry.extensions import SchemaExtension
from strawberry.types.graphql import OperationType

from api.graphql.context import Context
from api.graphql.documents import Documents
from api.graphql.limits import LimitError
from api.graphql.trusted import TrustedDocuments


class Guard(SchemaExtension):
    """Checks an operation before, and bounds it while it runs."""

    def __init__(self, documents: Documents, seconds: float, trusted: TrustedDocuments) -> None:
        self._documents = documents
        self._seconds = seconds
        self._trusted = trusted

    async def on_operation(self) -> AsyncIterator[None]:
        """Give each operation a context of its own; over a websocket, look again who asks."""
        context: Context = self.execution_context.context
        self.execution_context.context = await context.for_operation()
        yield

    async def on_parse(self) -> AsyncIterator[None]:
        """Refuse what is too large before it is validated."""
        query = self.execution_context.query or ""
        if len(query) > self._documents.limits.characters:
            raise LimitError("characters", self._documents.limits.characters)
        if not self._trusted.allows(query):
            raise GraphQLError("only trusted documents may run here", extensions={"code": "UNTRUSTED"})
        if query:
            self.execution_context.graphql_document = self._documents.parse(query)
        yield

    async def on_validate(self) -> AsyncIterator[None]:
        """Validate, and count what a valid document may cost."""
        context = self.execution_context
        if context.graphql_document is not None:
            schema = context.schema._schema
            errors = self._documents.validate(schema, context.query or "", context.graphql_document)
            context.pre_execution_errors = errors or self._documents.check_cost(
                schema, context.graphql_document, context.operation_name, context.variables
            )
        yield

    async def on_execute(self) -> AsyncIterator[None]:
        """End what takes too long; subscriptions may take as long as they like."""
        if self.execution_context.operation_type is OperationType.SUBSCRIPTION:
            yield
            return
        try:
            async with asyncio.timeout(self._seconds):
                yield
        except TimeoutError:
            raise GraphQLError(
                f"the operation took longer than {self._seconds:g} s", extensions={"code": "TIMEOUT"}
            ) from None
