"""Turns whatever goes wrong while stored data are read into one error that names the damaged data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from schema.errors import DamagedError

_SIGNS = (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, msgspec.MsgspecError)
"""Errors that code raises when data lack something, or have another form than the code wrote."""


@contextmanager
def reading_stored(what: str) -> Iterator[None]:
    """Read stored data.

    Args:
        what: the data, for the error: ``rows of Variable``, ``verdict <id>``.

    Raises:
        DamagedError: the data can't be read.
    """
    try:
        yield
    except _SIGNS as error:
        raise DamagedError(
            f"{what} can't be read ({type(error).__name__}): the store is damaged, or a newer version has written it"
        ) from error
