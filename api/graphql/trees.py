"""Trees of documents, and their errors, without circles of references.

Tokens of graphql-core refer to their neighbours, and its rules to themselves. Thousands of objects of each document
would live until a full garbage collection, for which all requests wait. Without circles Python frees these objects at
once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from graphql import (
    ArgumentNode,
    ASTValidationRule,
    DocumentNode,
    FieldNode,
    GraphQLError,
    GraphQLSchema,
    Node,
    OperationDefinitionNode,
    Token,
    TokenKind,
    ValidationContext,
    VariableDefinitionNode,
    VariableNode,
    parse,
    validate,
)
from graphql.language.ast import QUERY_DOCUMENT_KEYS

from store.runtime.processor_share import ProcessorShare

_PLACED = (OperationDefinitionNode, VariableDefinitionNode, FieldNode, ArgumentNode, VariableNode)
"""Kinds of nodes that errors of execution refer to."""

_NO_TOKEN = Token(TokenKind.SOF, 0, 0, 0, 0)


def parse_document(text: str, max_tokens: int) -> DocumentNode:
    """The tree of a document.

    Args:
        text: the document.
        max_tokens: the most tokens.

    Raises:
        GraphQLSyntaxError: the text is not a document, or has more tokens.
    """
    document = parse(text, max_tokens=max_tokens)
    token = document.loc.start_token if document.loc else None
    while token is not None:
        # Errors name a place by the token's own numbers; only the parser needs neighbouring tokens.
        following, token.prev, token.next = token.next, None, None
        token = following
    return document


def drop_places(document: DocumentNode) -> None:
    """Drop the parts of a valid document that only validation needs: the tokens, and the places of most nodes.

    These are half of the objects of a tree.
    """
    nodes: list[Node] = [document]
    while nodes:
        node = nodes.pop()
        if node.loc is not None:
            if isinstance(node, _PLACED):
                node.loc.start_token = node.loc.end_token = _NO_TOKEN
            else:
                object.__setattr__(node, "loc", None)
        for key in QUERY_DOCUMENT_KEYS.get(node.kind, ()):
            below = getattr(node, key)
            if isinstance(below, Node):
                nodes.append(below)
            elif below:
                nodes.extend(below)


def errors_of(
    schema: GraphQLSchema,
    document: DocumentNode,
    rules: Sequence[type[ASTValidationRule]],
    most: int,
    hide_suggestions: bool,
    is_polite: bool = False,
) -> list[GraphQLError]:
    """The first errors of a document.

    Args:
        schema: the types.
        document: the tree.
        rules: the rules of validation.
        most: the most errors; a further error then says that there are more.
        hide_suggestions: whether errors must not suggest names of the schema.
        is_polite: whether to pause for other threads; see ``ProcessorShare``.
    """
    visitors: list[ASTValidationRule] = []
    share = ProcessorShare()

    class Polite(ASTValidationRule):
        """Pauses for other threads after each node."""

        def enter(self, *_: Any) -> None:
            share.step()

    def keeping(rule: type[ASTValidationRule]) -> Any:
        def make(context: ValidationContext) -> ASTValidationRule:
            visitors.append(cast("Any", rule)(context))
            return visitors[-1]

        return make

    made = [keeping(rule) for rule in (*rules, Polite)] if is_polite else [keeping(rule) for rule in rules]
    try:
        return validate(
            schema,
            document,
            made,
            most,
            hide_suggestions=hide_suggestions,
        )
    finally:
        for visitor in visitors:
            vars(visitor.context).clear()
            vars(visitor).clear()
