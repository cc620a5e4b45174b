"""Documents on their way in: parsed, bounded, validated, counted. Small valid ones are remembered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from graphql import (
    ASTValidationRule,
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    GraphQLSyntaxError,
    get_operation_ast,
    parse,
    specified_rules,
    validate,
)

from api.graphql.cost import document_cost
from api.graphql.limits import CODE, LimitError, Limits, check_document

_ERRORS = 5
_REMEMBERED = 500
_SMALL = 4000
"""Characters of a document that is remembered; its tree takes some hundred times as many bytes."""


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

    def parse(self, text: str) -> DocumentNode:
        """The tree of a document.

        Raises:
            GraphQLError: it is none, or beyond a bound.
        """
        known = self._valid.get(text)
        if known is not None:
            self._valid.move_to_end(text)
            return known
        try:
            document = parse(text, max_tokens=self.limits.tokens)
        except GraphQLSyntaxError as error:
            if "tokens" in error.message:
                raise LimitError("tokens", self.limits.tokens) from None
            raise
        check_document(document, self.limits)
        return document

    def validate(self, schema: GraphQLSchema, text: str, document: DocumentNode) -> list[GraphQLError]:
        """The first errors of a document; none where it is valid."""
        if text in self._valid:
            return []
        errors = validate(schema, document, self._rules, max_errors=_ERRORS, hide_suggestions=True)
        if not errors and len(text) <= _SMALL:
            self._valid[text] = document
            if len(self._valid) > _REMEMBERED:
                self._valid.popitem(last=False)
        return errors

    def check_cost(
        self, schema: GraphQLSchema, document: DocumentNode, name: str | None, variables: Mapping[str, Any] | None
    ) -> list[GraphQLError]:
        """Why a valid document may not run: it could cost too much."""
        operation = get_operation_ast(document, name)
        if operation is None:
            return []
        cost = document_cost(schema, document, operation, variables)
        if cost <= self.limits.cost:
            return []
        message = f"the document may cost {cost:,}, and {self.limits.cost:,} is the most: ask for smaller pages"
        return [GraphQLError(message, extensions={"code": CODE, "cost": cost, "limit": self.limits.cost})]
