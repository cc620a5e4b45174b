"""The Cypher texts.

The server plans a text anew, for up to a second of a processor, for each combination of types and sizes of its
parameters: lists of 1, of 10 and of 100 ids are three combinations. The server does not look into maps. So all
parameters of a text are sent as one map, ``given``: ``$ids`` in a file is sent as ``$given.ids``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache

from store.contract.answers import Direction, FailureKey, FailureOrder, Label
from store.shared.columns import DECLARED, Codec, Column
from store.shared.texts import Fillings, texts_of


class Sorting(StrEnum):
    """The orders of failures; a minus marks descending orders."""

    TIME = "time"
    TIME_DOWN = "-time"
    CONFIDENCE = "confidence"
    CONFIDENCE_DOWN = "-confidence"
    ERROR_TYPE = "errorType"
    ERROR_TYPE_DOWN = "-errorType"
    OPERATION = "operation"
    OPERATION_DOWN = "-operation"

    @classmethod
    def of(cls, order: FailureOrder) -> Sorting:
        """The member for an order."""
        return cls(f"{'-' if order.descending else ''}{order.by}")


_SORTED = {
    FailureKey.TIME: ("createdAt", "createdAt"),
    FailureKey.CONFIDENCE: ("confidence", "confidence"),
    FailureKey.ERROR_TYPE: ("errorType", "errorType"),
    FailureKey.OPERATION: ("operationKey", "operationName"),
}
"""For each key: the property in the index, and the property with the whole text (the index has only its beginning)."""
_UP = {"order": "ASC", "reaches": ">=", "beyond": ">", "before": "<", "first": "min"}
_DOWN = {"order": "DESC", "reaches": "<=", "beyond": "<", "before": ">", "first": "max"}

_ENDS = {"source": "s.id", "target": "t.id"}
"""The ids of a derivation's ends; the texts call the end nodes ``s`` and ``t``."""


def _read(column: Column, name: str) -> str:
    """The expression that reads a property of ``name``: times as microseconds, which are quicker to transfer.

    Neo4j rounds ``epochSeconds`` of times before 1970 up, but ``epochMillis`` down.
    """
    place = f"{name}.{column.public_name}"
    if column.codec is Codec.TIME:
        return f"{place}.epochMillis * 1000 + {place}.microsecond % 1000"
    return place


def _fillings() -> Iterator[tuple[StrEnum, Mapping[str, str]]]:
    for label, declared in DECLARED.items():
        if label is Label.DERIVATION:
            yield label, {"properties": _derivation_properties()}
        else:
            yield label, {"label": label.value, "properties": ", ".join(_read(one, "n") for one in declared.columns)}
    for by, (key, name) in _SORTED.items():
        for descending, words in ((False, _UP), (True, _DOWN)):
            yield Sorting.of(FailureOrder(by, descending)), {"key": key, "name": name} | words
    ends = {"properties": _derivation_properties()}
    yield Direction.BACKWARD, {"from": "-", "to": "->", "order": "DESC", "here": "t", "there": "s"} | ends
    yield Direction.FORWARD, {"from": "<-", "to": "-", "order": "ASC", "here": "s", "there": "t"} | ends


def _derivation_properties() -> str:
    columns = DECLARED[Label.DERIVATION].columns
    return ", ".join(_ENDS.get(column.name) or _read(column, "d") for column in columns)


FILLINGS: Fillings = dict(_fillings())
"""The texts of placeholders, by the subject of a template: a label, the direction of a walk, or an order of failures.

A walk goes from ``here`` to ``there``, along an arrow written as ``from``, the relationship, and ``to``. In an order,
``beyond`` compares a later key with an earlier key, ``before`` an earlier key with a later key.
"""


_PARAMETER = re.compile(r"\$(?=[a-z])")

cypher = texts_of(__name__, ".cypher", FILLINGS)


@cache
def sent(name: str, about: StrEnum | None = None) -> str:
    """A text for the server, with all parameters in the map ``given``."""
    return _PARAMETER.sub("$given.", cypher(name, about))
