"""Documents on their way in: parsed, bounded, validated, counted. Small valid ones are remembered.

To parse and validate the largest takes a tenth of a second, so that is done aside, and no other request waits for it.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from graphql import (
    ASTValidationRule,
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    OperationType,
    get_operation_ast,
    specified_rules,
)

from api.graphql.aside import Aside
from api.graphql.cost import document_cost, field_count
from api.graphql.introspection import Introspection, asked_of_schema
from api.graphql.limits import CODE, LimitError, Limits, check_document
from api.graphql.trees import errors_of, parse_document

_ERRORS = 5
_REMEMBERED = 500
_SMALL = 4000
"""Characters of a document that is remembered; its tree takes some hundred times as many bytes."""

_OF_SCHEMA = re.compile(r"__(?:schema|type)\b")
_SCHEMA_FIELD = 3
"""What a field of an answer about the schema costs, leaves too: each is worked out by itself."""

LARGE = 1000
"""Fields that the server's loop completes within 50 ms on a busy machine; answers with more are completed beside it."""

_BESIDE = 1000
"""What may be asked of the schema beside other fields, whose execution answers it on the loop."""

_BEYOND_WORDS = 10**12
"""No cost is told more exactly."""


class Documents:
    """All documents of one server."""

    def __init__(self, limits: Limits, rules: Sequence[type[ASTValidationRule]] = ()) -> None:
        """Nothing is remembered yet.

        Args:
            limits: bounds of each document.
            rules: what must hold of a document besides the specification's rules.
        """
        self.limits = limits
        self._rules = (*specified_rules, *rules)
        self._valid: OrderedDict[str, DocumentNode] = OrderedDict()
        self._thread = Aside("documents")
        self.introspection = Introspection()

    def parse(self, text: str) -> DocumentNode:
        """The tree of a document.

        Raises:
            GraphQLError: it is none, or beyond a bound.
        """
        return self._known(text) or self._parse(text)

    def validate(self, schema: GraphQLSchema, text: str, document: DocumentNode) -> list[GraphQLError]:
        """The first errors of a document; none where it is valid."""
        if text in self._valid:
            return []
        errors = errors_of(schema, document, self._rules, _ERRORS)
        if not errors:
            self._remember(text, document)
        return errors

    async def read(self, schema: GraphQLSchema, text: str) -> tuple[DocumentNode, list[GraphQLError]]:
        """The tree of a document and its first errors, made aside where it is not known yet.

        Raises:
            GraphQLError: see ``parse``.
        """
        known = self._known(text)
        if known is not None:
            return known, []
        document, errors = await self._thread.run(partial(self._read, schema, text))
        if not errors:
            self._remember(text, document)
        return document, errors

    async def check_cost(
        self,
        schema: GraphQLSchema,
        text: str,
        document: DocumentNode,
        name: str | None,
        variables: Mapping[str, Any] | None,
    ) -> list[GraphQLError]:
        """Why a valid document may not run: it could cost too much.

        Args:
            schema: the types.
            text: the document's.
            document: holds the operation.
            name: of the operation.
            variables: as they were sent.
        """
        operation = get_operation_ast(document, name)
        if operation is None:
            return []
        if operation.operation is not OperationType.QUERY:
            fields = field_count(schema, document, operation, variables)
            if fields > LARGE:
                kind = operation.operation.value
                message = f"the answer to a {kind} may have {LARGE:,} fields, and {fields:,} are asked for: query them"
                return [GraphQLError(message, extensions={"code": CODE, "limit": LARGE})]
        most = self.limits.cost
        cost = document_cost(schema, document, operation, variables)
        if cost <= most and _OF_SCHEMA.search(text) and self.introspection.known(text, name, variables) is None:
            asked = asked_of_schema(document, operation)
            fields = await self.introspection.cost(schema, document, asked, variables, most // _SCHEMA_FIELD)
            of_schema = fields * _SCHEMA_FIELD
            if of_schema > _BESIDE and not asked.is_all:
                message = "ask for the schema in a document of its own: beside other fields it may be asked for little"
                return [GraphQLError(message, extensions={"code": CODE, "cost": of_schema, "limit": _BESIDE})]
            cost += of_schema
        if cost <= most:
            return []
        cost = min(cost, _BEYOND_WORDS)
        message = f"the document may cost {cost:,} or more, and {most:,} is the most: ask for less, or smaller pages"
        return [GraphQLError(message, extensions={"code": CODE, "cost": cost, "limit": most})]

    def is_large(
        self, schema: GraphQLSchema, document: DocumentNode, name: str | None, variables: Mapping[str, Any] | None
    ) -> bool:
        """Whether a valid document's answer may have more than ``LARGE`` fields."""
        operation = get_operation_ast(document, name)
        return operation is not None and field_count(schema, document, operation, variables) > LARGE

    async def answer_of_schema(
        self,
        schema: GraphQLSchema,
        text: str,
        document: DocumentNode,
        name: str | None,
        variables: Mapping[str, Any] | None,
    ) -> ExecutionResult | None:
        """The answer to an operation that asks for nothing but the schema; None for any other. See ``check_cost``."""
        if not _OF_SCHEMA.search(text):
            return None
        known = self.introspection.known(text, name, variables)
        if known is not None:
            return known
        operation = get_operation_ast(document, name)
        if operation is None:
            return None
        asked = asked_of_schema(document, operation)
        if not asked.fields or not asked.is_all:
            return None
        return await self.introspection.answer(schema, text, document, name, variables)

    def _read(self, schema: GraphQLSchema, text: str) -> tuple[DocumentNode, list[GraphQLError]]:
        document = self._parse(text)
        return document, errors_of(schema, document, self._rules, _ERRORS)

    def _parse(self, text: str) -> DocumentNode:
        try:
            document = parse_document(text, self.limits.tokens)
        except GraphQLSyntaxError as error:
            if "tokens" in error.message:
                raise LimitError("tokens", self.limits.tokens) from None
            raise
        check_document(document, self.limits)
        return document

    def _known(self, text: str) -> DocumentNode | None:
        known = self._valid.get(text)
        if known is not None:
            self._valid.move_to_end(text)
        return known

    def _remember(self, text: str, document: DocumentNode) -> None:
        if len(text) <= _SMALL:
            self._valid[text] = document
            if len(self._valid) > _REMEMBERED:
                self._valid.popitem(last=False)
