"""Expected errors of the interfaces; others are in ``schema.errors``."""

from __future__ import annotations

import math

from schema.errors import MemTraceError, NotFoundError, StoreError


class UnauthenticatedError(MemTraceError):
    """A request has no valid API key or token.

    Attributes:
        reason: why, for the log. The answer has the reason only if the secret is right, as with a revoked key.
    """

    def __init__(self, reason: str, told: str = "a valid API key or token is needed: Authorization: Bearer …") -> None:
        self.reason = reason
        super().__init__(told)


class IssuerError(StoreError):
    """The OIDC issuer can't be asked, so that tokens can't be verified and nobody can sign in."""


class UnknownProjectError(NotFoundError):
    """The principal knows no such project, whether or not it exists."""

    def __init__(self, project_id: str) -> None:
        super().__init__(project_id, "project")
        self.args = (f"there is no project {project_id[:200]!r} that you may reach",)


class ForbiddenError(MemTraceError):
    """The principal knows the project, but its role does not allow this."""

    def __init__(self, project_id: str, needed: str) -> None:
        self.project_id = project_id
        self.needed = needed
        super().__init__(f"this needs the role {needed} in project {project_id!r}")


class RateLimitedError(MemTraceError):
    """A principal or project asks for too much within a short time.

    Attributes:
        retry_after: seconds until the next request may come.
    """

    def __init__(self, retry_after: float, what: str = "too many requests") -> None:
        self.retry_after = retry_after
        super().__init__(f"{what}: try again in {max(1, math.ceil(retry_after))} s")


class TooLargeError(MemTraceError):
    """A body or a value is larger than allowed."""

    def __init__(self, what: str, limit: int, why: str = "") -> None:
        self.limit = limit
        super().__init__(f"{what} is larger than the limit of {limit:,} bytes{why}")


class TooLongError(MemTraceError):
    """Work for one answer took longer than its time limit.

    Args:
        seconds: the time limit.
        instead: what the caller can do.
    """

    def __init__(self, seconds: float, instead: str) -> None:
        super().__init__(f"this took longer than {seconds:g} s: {instead}")


class TooManyError(TooLargeError):
    """There are more elements than one answer may need.

    Args:
        what: the kind of element, in the plural.
        limit: the most elements.
        instead: what the caller can do.
    """

    def __init__(self, what: str, limit: int, instead: str) -> None:
        self.limit = limit
        MemTraceError.__init__(self, f"there are more than {limit:,} {what}: {instead}")
