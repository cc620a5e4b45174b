"""The checks around each operation: principal, size, cost and time."""

import asyncio
from collections.abc import AsyncIterator

from graphql import DocumentNode, GraphQLError
from strawberry.extensions import SchemaExtension
from strawberry.types.graphql import OperationType

from api.graphql.answering import Answering
from api.graphql.arguments import check_arguments
from api.graphql.chosen import ChosenOperation, chosen_operation
from api.graphql.context import Context
from api.graphql.documents import Documents
from api.graphql.limits import LimitError
from api.graphql.trusted import TrustedDocuments


class Guard(SchemaExtension):
    """Checks an operation before it runs, and bounds its time."""

    def __init__(self, documents: Documents, seconds: float, trusted: TrustedDocuments, answering: Answering) -> None:
        self._documents = documents
        self._answering = answering
        self._seconds = seconds
        self._trusted = trusted
        self._errors: list[GraphQLError] = []
        self._chosen: ChosenOperation | None = None
        self._is_over_websocket = False

    async def on_operation(self) -> AsyncIterator[None]:
        """Give each operation a context of its own; over a websocket, check the principal again."""
        context: Context = self.execution_context.context
        self._is_over_websocket = context.connection_params is not None
        self.execution_context.context = own = await context.for_operation()
        try:
            yield
        finally:
            own.close()

    async def on_parse(self) -> AsyncIterator[None]:
        """Parse and validate the document; refuse a document that is too large."""
        context = self.execution_context
        query = context.query or ""
        if len(query) > self._documents.limits.characters:
            raise LimitError("characters", self._documents.limits.characters)
        if not self._trusted.allows(query):
            raise GraphQLError("only trusted documents may run here", extensions={"code": "UNTRUSTED"})
        if query:
            context.graphql_document, self._errors = await self._documents.read(context.schema._schema, query)
        yield

    async def on_validate(self) -> AsyncIterator[None]:
        """Report the document's errors, and count the cost of a valid document."""
        context = self.execution_context
        if context.operation_type is OperationType.SUBSCRIPTION and not self._is_over_websocket:
            context.pre_execution_errors = [
                GraphQLError("a subscription needs a websocket", extensions={"code": "BAD_INPUT"})
            ]
        elif context.graphql_document is not None:
            context.pre_execution_errors = self._errors or await self._check(context.graphql_document)
        yield

    async def on_execute(self) -> AsyncIterator[None]:
        """Give cached answers about the schema, wait for a turn, and end an operation that takes too long.

        Subscriptions have no time limit.
        """
        context = self.execution_context
        if context.operation_type is OperationType.SUBSCRIPTION:
            yield
            return
        assert self._chosen is not None
        try:
            async with asyncio.timeout(self._seconds):
                context.result = await self._documents.answer_of_schema(self._chosen)
                async with self._answering.turn(context.context.access.principal.actor, self._chosen.text):
                    yield
        except TimeoutError:
            problem = f"the operation took longer than {self._seconds:g} s"
            if self.execution_context.operation_type is OperationType.MUTATION:
                problem += "; a change that had begun is carried through: look whether it was before you ask again"
            raise GraphQLError(problem, extensions={"code": "TIMEOUT"}) from None

    async def _check(self, document: DocumentNode) -> list[GraphQLError]:
        """Why the chosen operation of a valid document may not run; None if it may."""
        context = self.execution_context
        self._chosen = chosen = chosen_operation(
            context.schema._schema, context.query or "", document, context.operation_name, context.variables
        )
        if chosen is None:
            return []
        context.context.is_large = self._documents.is_large(chosen)
        errors = check_arguments(chosen, self._documents.hide_suggestions)
        return errors or await self._documents.check_cost(chosen)
