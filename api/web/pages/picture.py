"""The picture of a failure: the spine as a drawing, and a list of the variables in each box."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from api.web.pages.recent import Recent
from api.web.pages.shown import PageRequest
from attribution.spine.draw import svg
from attribution.spine.find import spines
from attribution.spine.model import Box, Spine
from attribution.spine.words import states
from schema.models import Failure, Variable
from store.contract.answers import Label

BOX = "box-"
"""The prefix of the anchors of the boxes' lists, before the number of the box."""

_TITLE = "The way from the evidence to the answer"
_MEMBERS = 8


@dataclass(frozen=True, slots=True)
class Opened:
    """A box with its variables.

    Attributes:
        states: whether the box holds or lost what the answer needed, in words.
        members: the first variables of the box, as GraphQL returns them.
    """

    box: Box
    states: list[str]
    members: list[dict[str, Any]]

    @property
    def more(self) -> int:
        """The number of variables that are not in ``members``."""
        return len(self.box.variables) - len(self.members)


@dataclass(frozen=True, slots=True)
class Picture:
    """A spine, its drawing and its boxes."""

    spine: Spine
    drawing: Markup
    boxes: list[Opened]


_PICTURES: Recent[Picture | None] = Recent(128, 60)
"""Pictures of recently opened failures, so that saving a verdict or going back does not compute one again."""


async def picture(asked: PageRequest, failure: Mapping[str, Any], about: str | None) -> Picture | None:
    """The picture of the way from the evidence to the answer; None if there is nothing to show.

    Args:
        asked: the request.
        failure: the failure, as GraphQL returns it.
        about: the id of the verdict that the page explains; None without a verdict.
    """

    async def make() -> Picture | None:
        store = asked.viewer.context.door(asked.project).store
        found = [one for one in await store.get(Label.FAILURE, [failure["id"]]) if isinstance(one, Failure)]
        spine = (await spines(store, found, about={failure["id"]: about} if about else None)).get(failure["id"])
        if spine is None or not spine.boxes:
            return None
        wanted = [id_ for box in spine.boxes for id_ in box.variables[:_MEMBERS]]
        members = {one.id: one for one in await store.get(Label.VARIABLE, wanted) if isinstance(one, Variable)}
        drawing = await asyncio.to_thread(svg, spine, _TITLE, standalone=False, anchor=BOX)
        boxes = [
            Opened(
                box,
                [said.text for said in states(spine, box)],
                [_told(members[id_]) for id_ in box.variables[:_MEMBERS] if id_ in members],
            )
            for box in spine.boxes
        ]
        return Picture(spine, drawing, boxes)

    # A key of everything that a spine depends on; variables are only added and never changed.
    trace = failure["trace"] or {"id": "", "counts": {}}
    key = (
        (asked.viewer.context.platform.settings.store, asked.project, failure["id"], trace["id"], about),
        tuple(trace["counts"].values()),
        tuple(one["id"] for one in failure["evidence"]),
        tuple((one["id"], one["createdAt"], one["errorType"]) for one in failure["verdicts"]),
    )
    return await _PICTURES.get(key, make)


def _told(variable: Variable) -> dict[str, Any]:
    return {
        "id": variable.id,
        "name": variable.name,
        "externalId": variable.external_id,
        "version": variable.version,
        "kind": variable.kind.value,
        "preview": variable.preview,
    }
