"""The schema is committed, and is its own manual."""

from __future__ import annotations

import sys

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLUnionType,
    is_introspection_type,
    is_specified_scalar_type,
)

from api.graphql.schema import SDL, make_schema, sdl


def test_committed_schema_is_current() -> None:
    assert SDL.read_text("utf-8") == sdl(), "run `python -m api.graphql.schema`; name what breaks in the changelog"


def test_everything_is_described() -> None:
    silent = []
    for name, type_ in make_schema()._schema.type_map.items():
        if is_introspection_type(type_) or is_specified_scalar_type(type_):
            continue
        if not type_.description:
            silent.append(name)
        if isinstance(type_, GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType):
            for field_name, field in type_.fields.items():
                if not field.description:
                    silent.append(f"{name}.{field_name}")
                silent += [
                    f"{name}.{field_name}({argument_name})"
                    for argument_name, argument in getattr(field, "args", {}).items()
                    if not argument.description
                ]
        else:
            assert isinstance(type_, GraphQLEnumType | GraphQLUnionType) or type_.name in {"DateTime", "JSON", "BigInt"}
    assert not silent


def test_enums_are_the_public_words() -> None:
    from schema.kinds import ErrorType, OperationKind, VariableKind

    types = make_schema()._schema.type_map
    for kind in (ErrorType, OperationKind, VariableKind):
        enum = types[kind.__name__]
        assert isinstance(enum, GraphQLEnumType)
        assert set(enum.values) == {member.value for member in kind}


def test_fields_have_the_names_of_the_graph() -> None:
    from schema import models

    types = make_schema()._schema.type_map
    for model in (models.Trace, models.Session, models.Operation, models.Variable, models.Derivation, models.Failure):
        type_ = types[model.__name__]
        assert isinstance(type_, GraphQLObjectType)
        names = {models.camel_case(name) for name in model.__dataclass_fields__}
        assert names <= set(type_.fields)


def test_annotations_of_types_are_no_texts() -> None:
    texts = set()
    for type_ in make_schema()._schema.type_map.values():
        origin = getattr(type_.extensions.get("strawberry-definition"), "origin", None)
        if origin is not None and origin.__module__.startswith("api.graphql."):
            module = sys.modules[origin.__module__]
            texts |= {origin.__module__} if "annotations" in vars(module) else set()
    assert not texts, "without `from __future__ import annotations` the server starts faster; see api.graphql"
