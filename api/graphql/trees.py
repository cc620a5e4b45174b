"""Trees of documents, and what is wrong with them, without circles of references.

graphql-core's tokens refer to their neighbours, and its rules to themselves, so that of each document thousands of
objects would live until the garbage collector looks through the whole process, which all requests wait for. Without
their circles they are freed as soon as nobody needs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from graphql import (
    ASTValidationRule,
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    ValidationContext,
    parse,
    validate,
)

from schema.processor_share import ProcessorShare


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
