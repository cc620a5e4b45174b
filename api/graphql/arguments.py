"""Arguments, checked before anything runs.

If only the field refused its argument, every parent that must not be null would become null: a page that is too large
would cost the answer a whole project. Here the whole request is refused, and the error names the argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from graphql import (
    ArgumentNode,
    FieldNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLField,
    GraphQLInt,
    GraphQLInterfaceType,
    GraphQLObjectType,
    InlineFragmentNode,
    IntValueNode,
    SelectionSetNode,
    StringValueNode,
    VariableNode,
    get_named_type,
)
from graphql.execution.values import get_variable_values

from api.graphql.chosen import ChosenOperation
from api.graphql.cost import settings_of
from api.graphql.pages import MAX_PAGE, decode_cursor, list_name, page_size
from schema.errors import InputError

CODE = "BAD_INPUT"

_ERRORS = 5
_FIRST = "first"
_AFTER = "after"


def check_arguments(chosen: ChosenOperation, hide_suggestions: bool) -> list[GraphQLError]:
    """What is wrong with an operation's variables, and with the sizes and cursors of its pages.

    Args:
        chosen: of a valid document.
        hide_suggestions: whether errors must not suggest names of the schema.
    """
    definitions = chosen.operation.variable_definitions or ()
    values = get_variable_values(chosen.schema, definitions, dict(chosen.variables), _ERRORS, hide_suggestions)
    if isinstance(values, list):
        for error in values:
            error.extensions = {"code": CODE}
        return values
    errors = []
    for parent, name, argument, field in _arguments(chosen):
        try:
            _check(argument, field, list_name(parent, name), values.coerced)
        except InputError as error:
            problem = InputError(name, error.source, error.problem)
            errors.append(GraphQLError(str(problem), argument, extensions={"code": CODE, "field": name}))
            if len(errors) == _ERRORS:
                break
    return errors


def _check(node: ArgumentNode, field: GraphQLField, of: str, variables: Mapping[str, Any]) -> None:
    """Refuse a size or a cursor of a page of a list.

    Raises:
        InputError: the size or the cursor is not valid.
    """
    value = _value(node, variables)
    if node.name.value == _FIRST and isinstance(value, int) and get_named_type(field.args[_FIRST].type) is GraphQLInt:
        page_size(value, settings_of(field).get("most", MAX_PAGE))
    elif node.name.value == _AFTER and isinstance(value, str) and _FIRST in field.args:
        decode_cursor(value, of)


def _value(node: ArgumentNode, variables: Mapping[str, Any]) -> Any:
    match node.value:
        case VariableNode(name=name):
            return variables.get(name.value)
        case IntValueNode(value=number):
            return int(number)
        case StringValueNode(value=text):
            return text
    return None


def _arguments(chosen: ChosenOperation) -> Iterator[tuple[str, str, ArgumentNode, GraphQLField]]:
    """The arguments of all selected fields (a fragment's fields once), with the field and the name of its type."""
    fragments = chosen.fragments
    left: list[tuple[SelectionSetNode, Any]] = [
        (chosen.operation.selection_set, chosen.schema.get_root_type(chosen.type))
    ]
    while left:
        selections, parent = left.pop()
        for node in selections.selections:
            if isinstance(node, InlineFragmentNode):
                condition = node.type_condition
                left.append((node.selection_set, chosen.schema.get_type(condition.name.value) if condition else parent))
            elif isinstance(node, FragmentSpreadNode):
                fragment = fragments.pop(node.name.value, None)
                if fragment is not None:
                    inner = chosen.schema.get_type(fragment.type_condition.name.value)
                    left.append((fragment.selection_set, inner))
            elif isinstance(node, FieldNode) and isinstance(parent, GraphQLObjectType | GraphQLInterfaceType):
                field = parent.fields.get(node.name.value)
                if field is None:  # a field of introspection
                    continue
                for argument in node.arguments or ():
                    yield parent.name, node.name.value, argument, field
                if node.selection_set is not None:
                    left.append((node.selection_set, get_named_type(field.type)))
