"""Reading requests: the one place that reads their JSON, over HTTP and over websockets.

A text that is no JSON of the right shape gets an error that names the place. So does one that no honest client sends
and that is expensive to go on with: values nested deeply, or very many of them. Strings are Unicode here: half of a
surrogate pair is refused, and so no name, id or text that comes through this door has one.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from schema.errors import InputError

MAX_DEPTH = 50
"""How deep lists and objects may be nested in the variables or extensions of a request."""

MAX_VALUES = 12_000
"""The most values in the variables and extensions of a request; each that a field takes is checked by itself."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_HALF = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")


class Request(msgspec.Struct, frozen=True, rename="camel"):
    """What is to be run, as GraphQL over HTTP and the payload of a ``subscribe`` say it.

    Attributes:
        query: the document; None where a trusted one is named in ``extensions``.
    """

    query: str | None = None
    variables: dict[str, Any] | None = None
    operation_name: str | None = None
    extensions: dict[str, Any] | None = None


class Subscribe(msgspec.Struct, frozen=True, tag="subscribe"):
    """A client asks over a websocket."""

    id: str
    payload: Request


class Complete(msgspec.Struct, frozen=True, tag="complete"):
    """A client wants no more of what it asked."""

    id: str


class ConnectionInit(msgspec.Struct, frozen=True, tag="connection_init"):
    """A client says who it is."""

    payload: dict[str, Any] | None = None


class Ping(msgspec.Struct, frozen=True, tag="ping"):
    """A client asks whether the server is there."""


class Pong(msgspec.Struct, frozen=True, tag="pong"):
    """A client says that it is there."""


Message = Subscribe | Complete | ConnectionInit | Ping | Pong


def read_request(body: bytes) -> Request:
    """The request in an HTTP body.

    Raises:
        InputError: it is none.
    """
    request: Request = _read(body, Request, "request")
    return request


def read_message(text: str) -> Message:
    """A message of ``graphql-transport-ws``.

    Raises:
        InputError: it is none.
    """
    message: Message = _read(text.encode("utf-8", "surrogatepass"), Message, "message")
    return message


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
    """Refuse very many values before they are made, which takes a hundred times as long as to count them."""
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
