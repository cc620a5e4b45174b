"""Reading requests: the one place that reads their JSON, over HTTP and over websockets.

A text that is not JSON of the right shape gets an error that names the place. Deeply nested values and very many values
get such an error too: they are expensive, and no honest client sends them. Strings must be Unicode: half of a surrogate
pair is refused, so that no name, id or text from GraphQL has one.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from schema.errors import InputError

MAX_DEPTH = 50
"""How deep lists and objects may be nested in the variables or extensions of a request."""

MAX_VALUES = 12_000
"""The most values in the variables and extensions of a request. Each value of a field is checked separately."""

EARLY_CHARACTERS = 20_000
"""The most characters of a message on a websocket before the server knows who asks: enough for the longest token."""

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""A JSON string. An unclosed string ends with the text, so no character is looked at twice."""
_HALF = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")


class Request(msgspec.Struct, frozen=True, rename="camel"):
    """A request in GraphQL over HTTP, or the payload of a ``subscribe`` message.

    Attributes:
        query: the document; None if ``extensions`` names a trusted document.
    """

    query: str | None = None
    variables: dict[str, Any] | None = None
    operation_name: str | None = None
    extensions: dict[str, Any] | None = None


class Subscribe(msgspec.Struct, frozen=True, tag="subscribe"):
    """Message of a client: run an operation."""

    id: str
    payload: Request


class _EarlySubscribe(msgspec.Struct, frozen=True, tag="subscribe"):
    """A ``subscribe`` of a client that has not said who it is; its payload is not read."""


class Complete(msgspec.Struct, frozen=True, tag="complete"):
    """Message of a client: end an operation."""

    id: str


class ConnectionInit(msgspec.Struct, frozen=True, tag="connection_init"):
    """Message of a client: begin, with a token."""

    payload: dict[str, Any] | None = None


class Ping(msgspec.Struct, frozen=True, tag="ping"):
    """Message of a client: ask for a sign of life."""


class Pong(msgspec.Struct, frozen=True, tag="pong"):
    """Message of a client: answer to ``Ping``."""


Message = Subscribe | Complete | ConnectionInit | Ping | Pong
_EarlyMessage = _EarlySubscribe | Complete | ConnectionInit | Ping | Pong


def read_request(body: bytes) -> Request:
    """The request in an HTTP body.

    Raises:
        InputError: the text is not one.
    """
    request: Request = _read(body, Request, "request")
    return request


def read_message(text: str) -> Message:
    """A message of ``graphql-transport-ws``.

    Raises:
        InputError: the text is not one.
    """
    message: Message = _read(text.encode("utf-8", "surrogatepass"), Message, "message")
    return message


def read_early_message(text: str) -> Message:
    """A message of a client that has not said who it is. The payload of a ``subscribe`` is left out, unread.

    Raises:
        InputError: the text is no message, or has more than ``EARLY_CHARACTERS``.
    """
    if len(text) > EARLY_CHARACTERS:
        raise InputError("message", "", f"it has more than {EARLY_CHARACTERS:,} characters before connection_ack")
    message = _read(text.encode("utf-8", "surrogatepass"), _EarlyMessage, "message")
    found: Message = Subscribe("", Request()) if isinstance(message, _EarlySubscribe) else message
    return found


def _read(text: bytes, of: Any, source: str) -> Any:
    is_large = text.count(b"[") + text.count(b"{") > MAX_DEPTH or text.count(b",") >= MAX_VALUES
    if is_large:
        _refuse_many(text, source)
    try:
        found = msgspec.json.decode(text, type=of)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at ")
        raise InputError(source, place.strip("`"), problem) from None
    except (msgspec.DecodeError, UnicodeError) as error:
        hint = "; half of a surrogate pair is no text" if _HALF.search(text) else ""
        raise InputError(source, "", f"this is not JSON: {error}{hint}") from None
    except RecursionError:
        raise _too_deep(source) from None
    if is_large:
        _refuse_deep(found.payload if isinstance(found, Subscribe | ConnectionInit) else found, source)
    return found


def _refuse_many(text: bytes, source: str) -> None:
    """Refuse very many values before parsing: parsing takes a hundred times as long as counting."""
    without_strings = _STRING.sub(b"", text)
    if sum(map(without_strings.count, (b"[", b"{", b","))) > MAX_VALUES:
        raise InputError(source, "", f"it has more than {MAX_VALUES:,} values in its variables and extensions")


def _refuse_deep(found: Any, source: str) -> None:
    level = [found.variables, found.extensions] if isinstance(found, Request) else [found]
    for _ in range(MAX_DEPTH + 1):
        holders = [one for one in level if isinstance(one, dict | list)]
        if not holders:
            return
        level = [child for one in holders for child in (one.values() if isinstance(one, dict) else one)]
    raise _too_deep(source)


def _too_deep(source: str) -> InputError:
    return InputError(source, "", f"its values are nested more than {MAX_DEPTH} deep")
