"""One annotation queue: progress by person, agreement, disputes, files of labels, and the next failure to judge."""

from __future__ import annotations

from typing import Any

from starlette.responses import RedirectResponse, Response

from api.http.dependencies import platform_of
from api.http.files import attachment
from api.http.windows import in_windows
from api.web.pages import words
from api.web.pages.asking import MissingError, check_done
from api.web.pages.render import HEADERS, at
from api.web.pages.shown import PageRequest, Shown
from api.web.pages.signing import form_of
from schema.control import Role

_MOST_LABELS = 1_000_000
"""The most bytes of an uploaded file of labels; larger files need the command line."""


async def queue(asked: PageRequest) -> Shown:
    """The page of a queue."""
    return await _shown(asked)


async def next_case(asked: PageRequest) -> Response:
    """Reserve the next failure for the viewer, and go to its page."""
    return await to_next(asked, asked.id)


async def undo(asked: PageRequest) -> Response:
    """Undo the viewer's last act in the queue, and go to that failure."""
    return await taken_back(asked, None)


async def taken_back(asked: PageRequest, failure_id: str | None) -> Response:
    """Undo what the viewer did with a failure of the queue, and go to its page; None means the last failure.

    Raises:
        PageError: there is nothing to undo.
    """
    done = await asked.viewer.do("undo_case", asked.project, queue=asked.id, failure=failure_id)
    check_done(done, "queue")
    return RedirectResponse(_case(asked, asked.id, done["failure"]["id"], back="1"), 303, HEADERS)


async def close(asked: PageRequest) -> Response:
    """Close a queue."""
    check_done(await asked.viewer.do("close_queue", asked.project, queue=asked.id), "queue")
    return RedirectResponse(at("projects", asked.project, "queues", asked.id), 303, HEADERS)


async def delete(asked: PageRequest) -> Response:
    """Delete a queue, and go to the list of queues."""
    check_done(await asked.viewer.do("delete_queue", asked.project, queue=asked.id), "queue")
    return RedirectResponse(at("projects", asked.project, "queues"), 303, HEADERS)


async def labels(asked: PageRequest) -> Response:
    """Download people's verdicts on the failures of the queue as a file of labels."""
    found = await _labels(asked)
    headers = attachment(f"{found['name']}.labels.jsonl") | {"Content-Type": "application/x-ndjson"}
    answer = Response(found["labels"].encode("utf-8", "replace"), headers=headers)
    return in_windows(answer, platform_of(asked.request).copies)


async def _labels(asked: PageRequest) -> dict[str, Any]:
    found: dict[str, Any] | None = (await asked.viewer.ask_project("queue_labels", asked.project, id=asked.id))[
        "project"
    ]["annotationQueue"]
    if found is None:
        raise MissingError("queue")
    return found


async def take_labels(asked: PageRequest) -> Shown:
    """Import labels from a file, and show the result."""
    form = await form_of(asked.request, _MOST_LABELS)
    await _labels(asked)
    text = form.get("labels", "")
    if not text.strip():
        return await _shown(asked, text, problem="Choose a file of labels, or paste its lines.")
    done = await asked.viewer.do("import_labels", asked.project, input={"content": text, "name": "labels"})
    if done["__typename"] == "NotFound":
        check_done(done, "queue")
    if done["__typename"] != "LabelsImported":
        return await _shown(asked, text, problem=f"Nothing was imported. {words.refusal(done['message'])}")
    return await _shown(asked, imported=done)


async def to_next(asked: PageRequest, queue_id: str) -> Response:
    """Reserve the next failure of a queue for the viewer, and go to its page; to the queue if no failure is left.

    Raises:
        PageError: the viewer may not get a failure of this queue.
    """
    done = await asked.viewer.do("next_case", asked.project, queue=queue_id)
    check_done(done, "queue")
    if done["failure"] is None:
        there = at("projects", asked.project, "queues", queue_id, end="1")
    else:
        there = _case(asked, queue_id, done["failure"]["id"])
    return RedirectResponse(there, 303, HEADERS)


def _case(asked: PageRequest, queue_id: str, failure_id: str, **query: str) -> str:
    return at("projects", asked.project, "queues", queue_id, "cases", failure_id, **query)


async def _shown(
    asked: PageRequest, text: str = "", *, problem: str = "", imported: dict[str, Any] | None = None
) -> Shown:
    role = asked.viewer.context.access.principal.grants.get(asked.project)
    if role is None:
        raise MissingError("project")
    is_admin = role.allows(Role.ADMIN)
    found = await asked.viewer.ask_project("queue", asked.project, id=asked.id, isAdmin=is_admin)
    one, person = found["project"]["annotationQueue"], found["viewer"]["person"]
    if one is None:
        raise MissingError("queue")
    mine = [case for case in one["mine"]["nodes"] if case["failure"]]
    values = {
        "it": found["project"],
        "queue": one,
        "person": person,
        "mine": mine,
        "now": next((case for case in mine if case["secondsLeft"]), None),
        "may_annotate": role.allows(Role.ANNOTATOR),
        "may_write": role.allows(Role.WRITER),
        "is_admin": is_admin,
        "can_undo": any(case["progress"] in {"done", "skipped"} for case in mine),
        "keyless": _keyless(one["people"], found["project"]["keys"]) if is_admin else [],
        "is_named": not one["people"] or person in one["people"],
        "is_end": asked.said("end") is not None,
        "text": text,
        "problem": problem,
        "imported": imported,
    }
    return Shown("queue", values, 400 if problem else 200)


def _keyless(people: list[str], keys: dict[str, Any]) -> list[str]:
    """Annotators of the queue without a key and without an invitation; empty if there are too many to compare."""
    if keys["pageInfo"]["hasNextPage"]:
        return []
    known = {key["person"] for key in keys["nodes"] if key["revokedAt"] is None}
    return [one for one in people if one not in known]
