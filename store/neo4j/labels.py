"""The closed list of labels, properties and arrows with which templates of Cypher are filled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from store.answers import Direction, Label
from store.columns import DECLARED, Codec, Column
from store.texts import Fillings

_ENDS = {"source": "s.id", "target": "t.id"}
"""The ends of a derivation are nodes, which the texts call ``s`` and ``t``."""


def _read(column: Column, name: str) -> str:
    """How a property of ``name`` is read: times as microseconds, which are quicker to transfer."""
    place = f"{name}.{column.public_name}"
    if column.codec is Codec.TIME:
        return f"{place}.epochSeconds * 1000000 + {place}.microsecond"
    return place


def _fillings() -> Iterator[tuple[StrEnum, Mapping[str, str]]]:
    for label, declared in DECLARED.items():
        if label is Label.DERIVATION:
            yield label, {"properties": _derivation_properties()}
        else:
            yield label, {"label": label.value, "properties": ", ".join(_read(one, "n") for one in declared.columns)}
    ends = {"properties": _derivation_properties()}
    yield Direction.BACKWARD, {"from": "-", "to": "->", "order": "DESC", "here": "t", "there": "s"} | ends
    yield Direction.FORWARD, {"from": "<-", "to": "-", "order": "ASC", "here": "s", "there": "t"} | ends


def _derivation_properties() -> str:
    columns = DECLARED[Label.DERIVATION].columns
    return ", ".join(_ENDS.get(column.name) or _read(column, "d") for column in columns)


FILLINGS: Fillings = dict(_fillings())
"""What templates are filled with, by what they are about: a label, or the direction of a walk.

A walk goes from ``here`` to ``there``; the arrow between them is ``from``, then the relationship, then ``to``.
"""
