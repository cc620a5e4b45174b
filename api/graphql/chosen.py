"""The operation that a request chose from its document, with all that is needed to count its cost or to answer it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FragmentDefinitionNode,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    get_operation_ast,
)


@dataclass(frozen=True, slots=True)
class ChosenOperation:
    """One operation of a valid document.

    Attributes:
        schema: the types.
        text: the document's.
        document: its tree.
        operation: the operation that was chosen.
        variables: as they were sent.
    """

    schema: GraphQLSchema
    text: str
    document: DocumentNode
    operation: OperationDefinitionNode
    variables: Mapping[str, Any]

    @property
    def name(self) -> str | None:
        """The operation's name; None if a single operation has no name."""
        return self.operation.name.value if self.operation.name else None

    @property
    def type(self) -> OperationType:
        """Query, mutation or subscription."""
        return self.operation.operation

    @property
    def fragments(self) -> dict[str, FragmentDefinitionNode]:
        """The document's fragments by name."""
        return {node.name.value: node for node in self.document.definitions if isinstance(node, FragmentDefinitionNode)}


def chosen_operation(
    schema: GraphQLSchema, text: str, document: DocumentNode, name: str | None, variables: Mapping[str, Any] | None
) -> ChosenOperation | None:
    """The operation with a name, or the only one; None where the document has no such operation."""
    operation = get_operation_ast(document, name)
    return None if operation is None else ChosenOperation(schema, text, document, operation, variables or {})
