"""Where a field is that a document looks for in the wrong place."""

from __future__ import annotations

import re
from difflib import get_close_matches

from graphql import GraphQLObjectType, GraphQLSchema, get_named_type

_UNKNOWN = re.compile(r"Cannot query field '(\w+)' on type '(\w+)'\.(?: Did you mean .*)?")
_PROJECT = "project"
_NODES = "nodes"
_TRACE = "trace"
_TOLD = dict.fromkeys(("duration", "seconds", "latency", "elapsed"), "startedAt and endedAt say it.")
_LIKE = 0.8


_UNKNOWN_ARGUMENT = re.compile(r"Unknown argument '(\w+)' on field '(\w+)\.(\w+)'\.(?: Did you mean .*)?")
_SAME = {
    "type": "kind",
    "inputs": "used",
    "input": "used",
    "outputs": "generated",
    "output": "generated",
    "text": "preview",
    "content": "preview",
    "answer": "prediction",
    "gold": "goldAnswers",
    "expected": "goldAnswers",
    "memories": "memory",
    "units": "memory",
    "stats": "statistics",
    "counts": "statistics",
    "runs": "traces",
    "questions": "answers",
    "errors": "failures",
    "timestamp": "createdAt",
    "date": "createdAt",
    "time": "createdAt",
    "verdict": "verdicts",
    "users": "keys",
    "history": "versions",
    "limit": "first",
    "top": "first",
    "count": "first",
    "pageSize": "first",
    "offset": "after",
    "cursor": "after",
    "traceId": "trace",
    "query": "text",
    "where": "filter",
}
"""Names of fields and arguments that people guess, each with its name in this schema."""


def with_hint(schema: GraphQLSchema, message: str) -> str:
    """The message of an error, with what the field or argument is called here, or with the place where it is."""
    if argument := _UNKNOWN_ARGUMENT.match(message):
        return _with_argument(schema, message, argument)
    found = _UNKNOWN.fullmatch(message)
    where = schema.type_map.get(found[2]) if found else None
    if found is None or not isinstance(where, GraphQLObjectType):
        return message
    plain = message.partition(" Did you mean")[0]
    if sure := _surely(where, found[1]):
        return f"{plain} {sure}"
    if plain != message:
        return message
    likely = _likely(schema, where, found[1])
    return f"{message} {likely}" if likely else message


def _surely(where: GraphQLObjectType, name: str) -> str | None:
    """What a field is called here, or where it is; None if there is no such field."""
    if _SAME.get(name) in where.fields:
        return f"It is called {_SAME[name]} here."
    if name in _TOLD and where.name == "Operation":
        return _TOLD[name]
    verdicts = _below(where, "verdicts")
    if verdicts is not None and name in verdicts.fields:
        return f"Verdicts have it: {{ verdicts {{ {name} }} }}"
    for step in (_NODES, _PROJECT):
        inner = _below(where, step)
        meant = name if inner is not None and name in inner.fields else _SAME.get(name, "")
        if inner is not None and meant in inner.fields:
            return f"It is further down: {{ {step} {{ {meant}{_listed(inner, meant)} }} }}"
    trace = _below(where, _TRACE) if where.name == "Project" else None
    if trace is not None and name in trace.fields:
        return f'It is further down: {{ trace(reference: "ID") {{ {name}{_listed(trace, name)} }} }}'
    return None


def _likely(schema: GraphQLSchema, where: GraphQLObjectType, name: str) -> str | None:
    """A field further down that is written alike, or what there is in its place."""
    for step in (_NODES, _PROJECT):
        inner = _below(where, step)
        if inner is not None and (near := get_close_matches(name, inner.fields, 1, _LIKE)):
            return f"Further down there is: {{ {step} {{ {near[0]} }} }}"
    if where is schema.mutation_type:  # all of them: a single one that is written alike may do the opposite
        return f"There are: {', '.join(sorted(where.fields))}"
    if where is schema.query_type and _SAME.get(name) == "memory":
        return (
            'What says a word: { project { search(text: "WORD", kinds: [MemoryUnit]) { ... } } }; what a trace keeps: '
            '{ project { trace(reference: "ID") { memory { units { ... } } } } }'
        )
    return f"What a project holds is in: {{ {_PROJECT} {{ ... }} }}" if where is schema.query_type else None


def _below(where: GraphQLObjectType, field: str) -> GraphQLObjectType | None:
    """The type of a field, if it is one with fields."""
    if field not in where.fields:
        return None
    inner = get_named_type(where.fields[field].type)
    return inner if isinstance(inner, GraphQLObjectType) else None


def _listed(where: GraphQLObjectType, field: str) -> str:
    """How a field that lists things is read further; empty for any other field."""
    inner = _below(where, field)
    return " { nodes { ... } }" if inner is not None and _NODES in inner.fields else ""


def _with_argument(schema: GraphQLSchema, message: str, found: re.Match[str]) -> str:
    """The message of an unknown argument, with the arguments that the field has."""
    where = schema.type_map.get(found[2])
    field = where.fields.get(found[3]) if isinstance(where, GraphQLObjectType) else None
    if field is None or "Did you mean" in message:
        return message
    meant = _SAME.get(found[1])
    if meant in field.args:
        return f"{message} It is called {meant} here."
    return f"{message} It has {', '.join(field.args)}." if field.args else f"{message} It has none."
