"""Where a field is that a document looks for in the wrong place."""

from __future__ import annotations

import re
from difflib import get_close_matches

from graphql import GraphQLObjectType, GraphQLSchema, get_named_type

_UNKNOWN = re.compile(r"Cannot query field '(\w+)' on type '(\w+)'\.")
_PROJECT = "project"
_NODES = "nodes"
_LIKE = 0.8


def with_hint(schema: GraphQLSchema, message: str) -> str:
    """The message of an error, with the place of the field, if the field is one step further down."""
    found = _UNKNOWN.fullmatch(message)
    where = schema.type_map.get(found[2]) if found else None
    if found is None or not isinstance(where, GraphQLObjectType):
        return message
    name = found[1]
    for step in (_NODES, _PROJECT):
        inner = _below(where, step)
        if inner is None:
            continue
        if name in inner.fields:
            return f"{message} It is further down: {{ {step} {{ {name} }} }}"
        if near := get_close_matches(name, inner.fields, 1, _LIKE):
            return f"{message} Further down there is: {{ {step} {{ {near[0]} }} }}"
    if where is schema.mutation_type:  # all of them: a single one that is written alike may do the opposite
        return f"{message} There are: {', '.join(sorted(where.fields))}"
    if where is schema.query_type:
        return f"{message} What a project holds is in: {{ {_PROJECT} {{ ... }} }}"
    return message


def _below(where: GraphQLObjectType, field: str) -> GraphQLObjectType | None:
    """The type of a field, if it is one with fields."""
    if field not in where.fields:
        return None
    inner = get_named_type(where.fields[field].type)
    return inner if isinstance(inner, GraphQLObjectType) else None
