"""Trees of documents, and what is wrong with them, without circles of references.

graphql-core's tokens refer to their neighbours, and its rules to themselves, so that of each document thousands of
objects would live until the garbage collector looks through the whole process, which all requests wait for. Without
their circles they are freed as soon as nobody needs them.
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
"""Nodes that the errors of running a document are about."""

_NO_TOKEN = Token(TokenKind.SOF, 0, 0, 0, 0)


def parse_document(text: str, max_tokens: int) -> DocumentNode:
    """The tree of a document.

    Args:
        text: the document.
        max_tokens: at most so many.

    Raises:
        GraphQLSyntaxError: it is none, or has more.
    """
    document = parse(text, max_tokens=max_tokens)
    token = document.loc.start_token if document.loc else None
    while token is not None:
        # Places in the text are told by the tokens' own numbers; their neighbours are the parser's matter.
        following, token.prev, token.next = token.next, None, None
        token = following
    return document


def drop_places(document: DocumentNode) -> None:
    """Drop what only validation needs from a valid document: the tokens, and where most nodes stand in the text.

    This is half of the objects of a tree.
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
        rules: what must hold.
        most: so many errors, and then one that says that there are more.
        hide_suggestions: whether errors keep to themselves which names there are.
        is_polite: whether this thread pauses where others want the interpreter; see ``ProcessorShare``.
    """
    visitors: list[ASTValidationRule] = []
    share = ProcessorShare()

    class Polite(ASTValidationRule):
        """Lets others have the interpreter, node by node."""

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
