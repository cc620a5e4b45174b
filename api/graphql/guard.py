"""The checks around each operation: who asks, how large it is, what it may cost, and how long it may take."""

import asyncio
from collections.abc import AsyncIterator

from graphql import DocumentNode, GraphQLError
from strawberry.extensions import SchemaExtension
from strawberry.types.graphql import OperationType

from api.graphql.arguments import check_arguments
from api.graphql.chosen import ChosenOperation, chosen_operation
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
        self._errors: list[GraphQLError] = []
        self._chosen: ChosenOperation | None = None
        self._is_over_websocket = False

    async def on_operation(self) -> AsyncIterator[None]:
        """Give each operation a context of its own; over a websocket, look again who asks."""
        context: Context = self.execution_context.context
        self._is_over_websocket = context.connection_params is not None
        self.execution_context.context = own = await context.for_operation()
        try:
            yield
        finally:
            own.close()

    async def on_parse(self) -> AsyncIterator[None]:
        """Refuse what is too large, parse the rest, and see what is wrong with it."""
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
        """Tell what is wrong with the document, and count what a valid one may cost."""
        context = self.execution_context
        if context.operation_type is OperationType.SUBSCRIPTION and not self._is_over_websocket:
            context.pre_execution_errors = [
                GraphQLError("a subscription needs a websocket", extensions={"code": "BAD_INPUT"})
            ]
        elif context.graphql_document is not None:
            context.pre_execution_errors = self._errors or await self._check(context.graphql_document)
        yield

    async def on_execute(self) -> AsyncIterator[None]:
        """Answer what is known, and end what takes too long; subscriptions may take as long as they like."""
        context = self.execution_context
        if context.operation_type is OperationType.SUBSCRIPTION:
            yield
            return
        assert self._chosen is not None
        try:
            async with asyncio.timeout(self._seconds):
                context.result = await self._documents.answer_of_schema(self._chosen)
                yield
        except TimeoutError:
            problem = f"the operation took longer than {self._seconds:g} s"
            if self.execution_context.operation_type is OperationType.MUTATION:
                problem += "; a change that had begun is carried through: look whether it was before you ask again"
            raise GraphQLError(problem, extensions={"code": "TIMEOUT"}) from None

    async def _check(self, document: DocumentNode) -> list[GraphQLError]:
        """Why the operation that is chosen of a valid document may not run."""
        context = self.execution_context
        self._chosen = chosen = chosen_operation(
            context.schema._schema, context.query or "", document, context.operation_name, context.variables
        )
        if chosen is None:
            return []
        context.context.is_large = self._documents.is_large(chosen)
        errors = check_arguments(chosen, self._documents.hide_suggestions)
        return errors or await self._documents.check_cost(chosen)
