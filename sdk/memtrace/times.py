"""Times in the wire format: in UTC, with microseconds."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_TIME_PATTERN = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$"
_TIME = re.compile(_TIME_PATTERN, re.ASCII)


def _checked_time(value: object) -> object:
    if isinstance(value, datetime):
        return value
    if not isinstance(value, str) or not _TIME.match(value):
        raise ValueError("expected a time in UTC such as 2030-01-31T12:00:00.000000Z")
    return value


def _written_time(value: datetime) -> str:
    return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")


UtcTime = Annotated[
    datetime,
    BeforeValidator(_checked_time),
    PlainSerializer(_written_time, return_type=str),
    WithJsonSchema({"type": "string", "pattern": _TIME_PATTERN}),
]
