"""What a document may cost: how many elements it could make the store read. Sizes of nested pages multiply.

A field that returns an object costs 1, or its ``cost``. The selection on a list's items is multiplied by the length
that the list may have: the value of the argument that ``size`` names, or ``size`` itself; 10 if the field has none.
A leaf costs a twentieth. A leaf that may be a long text (``LONG``) or any JSON costs a half. A list of leaves costs as
much as 10 leaves. In addition, each hop of a lineage costs 1, and so does each stretch of ``per`` characters of a
value's window.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphql import (
    FieldNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    InlineFragmentNode,
    IntValueNode,
    SelectionSetNode,
    ValueNode,
    VariableNode,
    get_named_type,
)

from api.graphql.chosen import ChosenOperation

UNIT = 20
"""Costs are counted in twentieths."""

LONG: Mapping[str, Any] = {"leaf": UNIT // 2}
"""The metadata of a leaf that may be hundreds of characters long."""

_LIST = 10
_PAGED = "first"
_HOPS = "maxHops"
_ANY_HOPS = 100


def document_cost(chosen: ChosenOperation) -> int:
    """The cost of a GraphQL operation: the number of elements that it could make the store read, as described above."""
    return -(-_counted(_Counter, chosen) // UNIT)


def field_count(chosen: ChosenOperation) -> int:
    """The most fields that an answer may have, leaves included: the work that remains once the store has answered."""
    return _counted(_FieldCounter, chosen)


def _counted(counter: type[_Counter], chosen: ChosenOperation) -> int:
    defaults = {
        definition.variable.name.value: _literal(definition.default_value, {})
        for definition in chosen.operation.variable_definitions or ()
        if definition.default_value is not None
    }
    root = chosen.schema.get_root_type(chosen.type)
    return counter(chosen, {**defaults, **chosen.variables}).selections(chosen.operation.selection_set, root)


class _Counter:
    _thing = UNIT
    """The cost of an element of a list, without the fields selected of the element."""

    def __init__(self, chosen: ChosenOperation, variables: Mapping[str, Any]) -> None:
        self._schema = chosen.schema
        self._fragments = chosen.fragments
        self._variables = variables
        self._costs: dict[str, int] = {}

    def selections(self, node: SelectionSetNode, parent: Any) -> int:
        """The cost of all fields selected of one element."""
        total = 0
        for selection in node.selections:
            if isinstance(selection, FieldNode):
                total += self._field(selection, parent)
            elif isinstance(selection, InlineFragmentNode):
                condition = selection.type_condition
                inner = self._schema.get_type(condition.name.value) if condition else parent
                total += self.selections(selection.selection_set, inner)
            elif isinstance(selection, FragmentSpreadNode):
                total += self._fragment(selection.name.value)
        return total

    def _fragment(self, name: str) -> int:
        if name not in self._costs:
            fragment = self._fragments[name]
            self._costs[name] = self.selections(
                fragment.selection_set, self._schema.get_type(fragment.type_condition.name.value)
            )
        return self._costs[name]

    def _field(self, node: FieldNode, parent: Any) -> int:
        name = node.name.value
        if name.startswith("__") or not isinstance(parent, GraphQLObjectType | GraphQLInterfaceType):
            return 0
        field = parent.fields[name]
        settings = settings_of(field)
        cost = self._own(node, field, settings)
        if node.selection_set is None:
            return cost
        inner = self.selections(node.selection_set, get_named_type(field.type))
        return cost + self._size(node, field, settings) * (self._thing + inner)

    def _own(self, node: FieldNode, field: GraphQLField, settings: Mapping[str, Any]) -> int:
        """The cost of a field itself, without its selected fields."""
        if node.selection_set is None and "cost" not in settings:
            return _leaf_cost(field, settings)
        cost = int(settings.get("cost", 1))
        if "per" in settings:
            name_of_length, unit = settings["per"]
            length = self._argument(node, field, name_of_length)
            cost += max(0, length) // unit if isinstance(length, int) else _ANY_HOPS
        if _HOPS in field.args:
            hops = self._argument(node, field, _HOPS)
            cost += hops if isinstance(hops, int) and hops >= 0 else _ANY_HOPS
        return UNIT * cost

    def _size(self, node: FieldNode, field: GraphQLField, settings: Mapping[str, Any]) -> int:
        size = settings.get("size", _PAGED if _PAGED in field.args else None)
        if isinstance(size, str):
            given = self._argument(node, field, size)
            return max(given, 1) if isinstance(given, int) and not isinstance(given, bool) else _LIST
        if size is not None:
            return int(size)
        return _LIST if _is_list(field.type) else 1

    def _argument(self, node: FieldNode, field: GraphQLField, name: str) -> Any:
        for argument in node.arguments or ():
            if argument.name.value == name:
                return _literal(argument.value, self._variables)
        return field.args[name].default_value


class _FieldCounter(_Counter):
    _thing = 0

    def _own(self, node: FieldNode, field: GraphQLField, settings: Mapping[str, Any]) -> int:
        return 1


def settings_of(field: GraphQLField) -> Mapping[str, Any]:
    """The metadata of a field of the schema, by which its cost is counted and its arguments are checked."""
    definition = field.extensions.get("strawberry-definition")
    return getattr(definition, "metadata", None) or {}


def _leaf_cost(field: GraphQLField, settings: Mapping[str, Any]) -> int:
    is_any_json = getattr(get_named_type(field.type), "name", None) == "JSON"
    cost = int(settings.get("leaf", LONG["leaf"] if is_any_json else 1))
    return cost * _LIST if _is_list(field.type) else cost


def _is_list(type_: Any) -> bool:
    while isinstance(type_, GraphQLNonNull):
        type_ = type_.of_type
    return isinstance(type_, GraphQLList)


def _literal(node: ValueNode, variables: Mapping[str, Any]) -> Any:
    if isinstance(node, VariableNode):
        given = variables.get(node.name.value)
        # GraphQL takes 500.0 for a whole number.
        return int(given) if isinstance(given, float) and given.is_integer() else given
    return int(node.value) if isinstance(node, IntValueNode) else None
