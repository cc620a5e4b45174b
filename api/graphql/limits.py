"""Bounds of a document that are checked before it is validated, because validation itself can be made to take long.

One walk counts fields, aliases, spreads and directives, where a fragment counts once, and the depth with all fragments
expanded. Cost needs the types and is counted later (``api.graphql.cost``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
)

CODE = "LIMIT"


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one document.

    Attributes:
        characters: length of its text.
        tokens: words and punctuation.
        depth: fields inside fields.
        aliases: fields with an alias.
        fields: fields and spreads in the text.
        repeats: number of fields with the same name in a selection. Validation compares each two, in quadratic time.
        operations: operations and fragments.
        cost: see ``api.graphql.cost``.
    """

    characters: int
    tokens: int
    depth: int
    aliases: int
    fields: int
    repeats: int
    operations: int
    cost: int


class LimitError(GraphQLError):
    """A document is beyond a bound."""

    def __init__(self, what: str, limit: int) -> None:
        super().__init__(f"the document has more than {limit:,} {what}", extensions={"code": CODE, "limit": limit})


def check_document(document: DocumentNode, limits: Limits) -> None:
    """Refuse a document beyond the bounds.

    Raises:
        GraphQLError: a bound is exceeded, or fragments contain each other.
    """
    if len(document.definitions) > limits.operations:
        raise LimitError("operations and fragments", limits.operations)
    fragments = {
        node.name.value: node.selection_set for node in document.definitions if isinstance(node, FragmentDefinitionNode)
    }
    counter = _Counter(fragments, limits)
    for node in document.definitions:
        if isinstance(node, OperationDefinitionNode | FragmentDefinitionNode):
            counter.count(node.selection_set)
            if counter.depth(node.selection_set, ()) > limits.depth:
                raise LimitError("levels of fields", limits.depth)


class _Counter:
    def __init__(self, fragments: dict[str, SelectionSetNode], limits: Limits) -> None:
        self._fragments = fragments
        self._limits = limits
        self._depths: dict[str, int] = {}
        self._fields = 0
        self._aliases = 0

    def count(self, selections: SelectionSetNode) -> None:
        """Count the fields, aliases and spreads of the text, where a fragment counts once."""
        for level in _levels(selections):
            names: Counter[str] = Counter()
            for node in level:
                self._fields += 1 + len(node.directives or ())
                if isinstance(node, FieldNode):
                    self._aliases += node.alias is not None
                    names[(node.alias or node.name).value] += 1
            if names and max(names.values()) > self._limits.repeats:
                raise LimitError("fields of one name in one place", self._limits.repeats)
        if self._fields > self._limits.fields:
            raise LimitError("fields", self._limits.fields)
        if self._aliases > self._limits.aliases:
            raise LimitError("aliases", self._limits.aliases)

    def depth(self, selections: SelectionSetNode, inside: tuple[str, ...]) -> int:
        """Levels of fields, with fragments expanded. Each fragment is walked once."""
        deepest = 0
        for node in selections.selections:
            if isinstance(node, FieldNode):
                below = 1 + (self.depth(node.selection_set, inside) if node.selection_set else 0)
            elif isinstance(node, InlineFragmentNode):
                below = self.depth(node.selection_set, inside)
            elif isinstance(node, FragmentSpreadNode):
                below = self._depth_of_fragment(node.name.value, inside)
            else:
                below = 0
            deepest = max(deepest, below)
        return deepest

    def _depth_of_fragment(self, name: str, inside: tuple[str, ...]) -> int:
        if name in inside:
            raise GraphQLError(f"the fragment {name} contains itself", extensions={"code": CODE})
        if name not in self._depths:
            selections = self._fragments.get(name)
            # Validation reports a missing fragment.
            self._depths[name] = self.depth(selections, (*inside, name)) if selections else 0
        return self._depths[name]


def _levels(selections: SelectionSetNode) -> Iterator[list[FieldNode | InlineFragmentNode | FragmentSpreadNode]]:
    """The selections that share a level: fields of inline fragments are on the level of the fragment's parent."""
    things = [selections]
    while things:
        level: list[FieldNode | InlineFragmentNode | FragmentSpreadNode] = []
        same = [things.pop()]
        while same:
            for node in same.pop().selections:
                if isinstance(node, FieldNode | InlineFragmentNode | FragmentSpreadNode):
                    level.append(node)
                if isinstance(node, InlineFragmentNode):
                    same.append(node.selection_set)
                elif isinstance(node, FieldNode) and node.selection_set is not None:
                    things.append(node.selection_set)
        yield level
