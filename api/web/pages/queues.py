"""The annotation queues of a project, and a form that makes a new one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import RedirectResponse, Response

from api.web.pages import words
from api.web.pages.asking import check_done
from api.web.pages.render import HEADERS, at
from api.web.pages.shown import PageRequest, Shown
from api.web.pages.signing import form_of
from attribution.review.annotation.queues import ANNOTATORS, CASES, RESERVATION_MINUTES
from schema.annotation import MAX_ANNOTATORS, MAX_CASES, MAX_RESERVATION_SECONDS
from schema.control import Role
from schema.people import MAX_NAME

_NUMBERS = {"count": "how many cases", "annotators": "how many people", "minutes": "how many minutes"}
_PLAIN = {
    "ordering": "random",
    "count": str(CASES),
    "annotators": str(ANNOTATORS),
    "minutes": str(RESERVATION_MINUTES),
}
_MOST = {
    "count": MAX_CASES,
    "annotators": MAX_ANNOTATORS,
    "minutes": MAX_RESERVATION_SECONDS // 60,
    "name": MAX_NAME,
}


async def queues(asked: PageRequest) -> Shown:
    """A page of queues, the newest first."""
    return await _shown(asked, {}, "")


async def create(asked: PageRequest) -> Shown | Response:
    """Make a queue, and show it."""
    form = await form_of(asked.request)
    numbers: dict[str, int] = {}
    for name, what in _NUMBERS.items():
        text = form.get(name, "").strip()
        if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= _MOST[name]):
            return await _shown(asked, form, f"Say {what}: a number from 1 to {_MOST[name]:,}.")
        numbers[name] = int(text)
    if form.get("ordering") not in words.ORDERS:
        return await _shown(asked, form, "Choose which failures come first.")
    wish = {
        "name": form.get("name", "").strip(),
        "ordering": form["ordering"],
        "count": numbers["count"],
        "annotators": numbers["annotators"],
        "reservationMinutes": numbers["minutes"],
        "people": [line.strip() for line in form.get("people", "").splitlines() if line.strip()],
    }
    done = await asked.viewer.do("create_queue", asked.project, input=wish)
    if done["__typename"] == "NotFound":
        check_done(done, "project")
    if done["__typename"] != "QueueChanged":
        return await _shown(asked, form, f"The queue was not made. {words.refusal(done['message'])}")
    return RedirectResponse(at("projects", asked.project, "queues", done["queue"]["id"]), 303, HEADERS)


async def _shown(asked: PageRequest, form: Mapping[str, str], problem: str) -> Shown:
    found = await asked.viewer.ask_project("queues", asked.project, after=asked.said("after"))
    one = found["project"]
    labels = {count["label"]: count["count"] for count in one["statistics"]["labels"]}
    values: dict[str, Any] = {
        "it": one,
        "rows": one["annotationQueues"]["nodes"],
        "more": one["annotationQueues"]["pageInfo"]["endCursor"],
        "is_first": asked.said("after") is None,
        "failures": labels.get("Failure", 0),
        "may_write": Role(one["role"]).allows(Role.WRITER),
        "form": {**_PLAIN, **form},
        "most": _MOST,
        "problem": problem,
    }
    return Shown("queues", values, 400 if problem else 200)
