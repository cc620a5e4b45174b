"""Errors for clients: expected errors with a code, unexpected errors without details."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import structlog
from graphql import GraphQLError
from strawberry.exceptions import MissingQueryError
from strawberry.schema.exceptions import CannotGetOperationTypeError, InvalidOperationTypeError

from api.errors import ForbiddenError, RateLimitedError, TooLargeError, TooLongError, UnauthenticatedError
from api.logs import error_fields
from schema.errors import (
    AmbiguousError,
    ConflictError,
    DiskFullError,
    InputError,
    MemTraceError,
    NotFoundError,
    StoreError,
)

_CODES: tuple[tuple[type[Exception], str], ...] = (
    (NotFoundError, "NOT_FOUND"),
    (UnauthenticatedError, "UNAUTHENTICATED"),
    (ForbiddenError, "FORBIDDEN"),
    (RateLimitedError, "RATE_LIMITED"),
    (TooLargeError, "TOO_LARGE"),
    (TooLongError, "TIMEOUT"),
    (AmbiguousError, "AMBIGUOUS"),
    (ConflictError, "CONFLICT"),
    (InputError, "BAD_INPUT"),
)

_SAID = (MissingQueryError, CannotGetOperationTypeError, InvalidOperationTypeError)
"""Strawberry's messages about requests that name no operation, in words for the sender."""

_log = structlog.get_logger("memtrace.graphql")


def public_error(error: Exception) -> GraphQLError:
    """An error for clients: an expected error with a code, an unexpected error without details."""
    original = error.original_error if isinstance(error, GraphQLError) and error.original_error else error
    if isinstance(original, GraphQLError):
        # An error with a path was handled at its field. It is here again because a parent must not be null.
        return error if isinstance(error, GraphQLError) and error.path else original
    for kind, code in _CODES:
        if isinstance(original, kind):
            extensions: dict[str, Any] = {"code": code}
            if isinstance(original, AmbiguousError):
                extensions["candidates"] = original.candidates
            return GraphQLError(str(original), extensions=extensions)
    if isinstance(original, StoreError):
        _log.error("the store can't be used", error=str(original))
        if isinstance(original, DiskFullError):
            return GraphQLError("the store is full: nothing can be written", extensions={"code": "UNAVAILABLE"})
        return GraphQLError("the store can't be used at the moment", extensions={"code": "UNAVAILABLE"})
    if isinstance(original, MemTraceError):
        return GraphQLError(str(original), extensions={"code": "FAILED"})
    _log.error("unexpected error", **error_fields(original))
    return GraphQLError("an unexpected error: the log says more", extensions={"code": "INTERNAL"})


def public_errors(errors: Sequence[GraphQLError]) -> list[GraphQLError]:
    """The errors of an answer, for clients.

    Errors of fields went through ``public_error`` before, and errors of the document are meant for its sender. An error
    without a place in the document came from around the execution.
    """
    seen = [public_error(error) if _is_from_outside(error) else error for error in errors]
    for error in (*errors, *seen):
        _forget_frames(error)
    return seen


def _forget_frames(error: BaseException | None) -> None:
    """Drop the traceback of an error that was logged.

    The frames hold the request with its body, and the request holds the error: they would stay until the garbage
    collector looks through the whole process.
    """
    while error is not None:
        error.__traceback__ = None
        if isinstance(error, GraphQLError):
            _forget_frames(error.original_error)
        error = error.__cause__ or error.__context__


def _is_from_outside(error: GraphQLError) -> bool:
    original = error.original_error
    has_place = error.nodes or error.path or error.source
    return original is not None and not has_place and not isinstance(original, (GraphQLError, *_SAID))
