"""One trace: its sessions, its operations and its memory units, page by page."""

from __future__ import annotations

from api.web.pages.asking import MissingError
from api.web.pages.shown import PageRequest, Shown
from schema.kinds import OperationKind, Status


async def trace(asked: PageRequest) -> Shown:
    """A trace."""
    shows_units = asked.said("show") == "units"
    kind, status = asked.said("kind"), asked.said("status")
    found = await asked.viewer.ask_project(
        "trace",
        asked.project,
        id=asked.id,
        after=asked.said("after"),
        kinds=[kind] if kind in set(OperationKind) else [],
        status=status if status in set(Status) else None,
        operations=not shows_units,
        units=shows_units,
    )
    one = found["project"]["trace"]
    if one is None:
        raise MissingError("trace")
    values = {
        "it": found["project"],
        "trace": one,
        "shows_units": shows_units,
        "kind": kind,
        "status": status,
        "kinds": list(OperationKind),
        "statuses": list(Status),
        "is_first": asked.said("after") is None,
    }
    return Shown("trace", values)
