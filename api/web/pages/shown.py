"""The input of a page's function (``PageRequest``) and its result (``Shown``)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from api.web.pages.asking import Viewer

_MOST = 2**31 - 1
"""The largest integer of GraphQL."""


_OTHERS: Mapping[str, tuple[str, ...]] = {
    "text": ("q", "query", "search", "words"),
    "type": ("errorType", "error_type", "error"),
    "before": ("a", "first", "baseline", "base", "left", "old", "from"),
    "after": ("b", "second", "candidate", "right", "new", "to"),
}
"""Other names of filters in addresses."""


@dataclass(frozen=True)
class PageRequest:
    """A request for a page by somebody who is signed in.

    Attributes:
        viewer: runs GraphQL documents as the user.
        request: the HTTP request.
    """

    viewer: Viewer
    request: Request

    @property
    def project(self) -> str:
        """The project in the address."""
        return str(self.request.path_params["project"])

    @property
    def id(self) -> str:
        """The id, name or external id in the address; see ``store.shared.resolving``."""
        return str(self.request.path_params["id"])

    @property
    def case(self) -> str:
        """The failure in the address of an annotation queue's page."""
        return str(self.request.path_params["case"])

    def said(self, name: str) -> str | None:
        """A value of the address's query, also by another name that people guess; None if it is missing or empty."""
        query = self.request.query_params
        return next((query[one] for one in (name, *_OTHERS.get(name, ())) if query.get(one)), None)

    def number(self, name: str) -> int:
        """A number of the address's query, 0 or more; 0 if it is missing or malformed."""
        text = self.said(name) or ""
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0

    def place(self, name: str, what: str = "step of the trace", least: int = 0) -> tuple[int | None, str | None]:
        """A number of the address's query, at least ``least``. If it is malformed: None, and an error message."""
        text = self.said(name)
        if text is None:
            return None, None
        if text.isascii() and text.isdigit() and len(text) <= 10 and least <= int(text) <= _MOST:
            return int(text), None
        return (
            None,
            f"“{text[:40]}”, which the address gives as {name}, is no {what}: it takes a whole number from {least}.",
        )


@dataclass(frozen=True)
class Shown:
    """The name of a template, and the values that it uses."""

    template: str
    values: dict[str, Any] = field(default_factory=dict)
    status: int = 200


Page = Callable[[PageRequest], Awaitable[Shown | Response]]
