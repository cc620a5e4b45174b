"""Builds OpenLineage events from JSON with the classes of the official client, which are generated from the schemas."""

from __future__ import annotations

import types
from enum import Enum
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import attr
from openlineage.client import event_v2
from openlineage.client.generated.column_lineage_dataset import ColumnLineageDatasetFacet
from openlineage.client.generated.dataset_version_dataset import DatasetVersionDatasetFacet
from openlineage.client.generated.error_message_run import ErrorMessageRunFacet
from openlineage.client.generated.parent_run import ParentRunFacet

_FACETS = {
    "version": DatasetVersionDatasetFacet,
    "columnLineage": ColumnLineageDatasetFacet,
    "errorMessage": ErrorMessageRunFacet,
    "parent": ParentRunFacet,
}


def checked(said: dict[str, Any]) -> event_v2.RunEvent:
    """Parse a run event.

    Raises:
        ValueError, TypeError: the event breaks the schemas; the message names the problem.
    """
    event = _built(event_v2.RunEvent, said, "event")
    assert isinstance(event, event_v2.RunEvent)
    return event


def _built(kind: Any, said: Any, place: str) -> Any:
    if isinstance(kind, type) and attr.has(kind):
        return _object(kind, said, place)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(said)
    origin, inside = get_origin(kind), get_args(kind)
    if origin in {Union, types.UnionType}:
        wanted = [one for one in inside if one is not type(None)]
        return _built(wanted[0], said, place)
    if origin is list:
        _is(list, said, place)
        return [_built(inside[0], one, f"{place}[{number}]") for number, one in enumerate(said)]
    if origin is dict:
        _is(dict, said, place)
        return {key: _built(_FACETS.get(key, inside[1]), one, f"{place}.{key}") for key, one in said.items()}
    if kind in {str, int, bool}:
        _is(kind, said, place)
    return said


def _object(kind: Any, said: Any, place: str) -> Any:
    _is(dict, said, place)
    hints, fields = _studied(kind)
    unknown = said.keys() - fields.keys()
    if unknown:
        raise ValueError(f"{place}: {sorted(unknown)} are no fields of {kind.__name__}")
    given = {
        fields[name].alias: _built(hints[name], value, f"{place}.{name}")
        for name, value in said.items()
        if fields[name].init
    }
    made = kind(**given)
    for name, value in said.items():  # the schemas' URLs
        if not fields[name].init and getattr(made, name) != value:
            raise ValueError(f"{place}.{name}: {value!r} is not {getattr(made, name)!r}")
    return made


@cache
def _studied(kind: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    return get_type_hints(kind), {one.name: one for one in attr.fields(kind)}


def _is(kind: type, said: Any, place: str) -> None:
    if not isinstance(said, kind):
        raise TypeError(f"{place}: {said!r} is no {kind.__name__}")
