"""Background jobs: their progress, how to stop them, and a job that attributes the failures of a filter."""

from __future__ import annotations

from typing import Any

from starlette.responses import RedirectResponse, Response

from api.web.pages.asking import MissingError, PageError, check_done
from api.web.pages.failures import FILTERS, WAYS, filter_of
from api.web.pages.render import HEADERS, at
from api.web.pages.shown import PageRequest, Shown
from api.web.pages.signing import form_of
from attribution.verdicts.verdict import Method
from schema.control import JobState, Role

_MOST = 10_000
"""The most failures that a filtered job may have; jobs on a whole project or trace have no bound."""


async def jobs(asked: PageRequest) -> Shown:
    """The jobs, newest first."""
    found = (await asked.viewer.ask_project("jobs", asked.project, after=asked.said("after")))["project"]
    page = found["jobs"]
    more = page["pageInfo"]["endCursor"]
    return Shown("jobs", {"it": found, "rows": page["nodes"], "more": more, "is_first": asked.said("after") is None})


async def job(asked: PageRequest) -> Shown:
    """One job."""
    found = (await asked.viewer.ask_project("job", asked.project, id=asked.id))["project"]
    one = found["job"]
    if one is None:
        raise MissingError("job")
    values = {
        "it": found,
        "job": one,
        "is_over": JobState(one["state"]).is_final,
        "may_stop": Role(found["role"]).allows(Role.WRITER),
        "kinds": (one["result"] or {}).get("errorTypes", {}) if one["kind"] == "attribute" else {},
    }
    return Shown("job", values)


async def attribute(asked: PageRequest) -> Response:
    """Start a job that attributes the failures of a filter, and show the job."""
    form = await form_of(asked.request)
    said = {name: form.get(name) or None for name in FILTERS}
    method = form.get("how") or Method.FLOW
    if method not in WAYS:
        raise PageError(400, "Choose how the causes are to be found.")
    wanted: dict[str, Any] = {"method": str(method)}
    if any(value for name, value in said.items() if name != "trace"):
        wanted["failures"] = await _matching(asked, said)
    elif said["trace"]:
        wanted["trace"] = said["trace"]
    done = await asked.viewer.do("attribute", asked.project, input=wanted)
    check_done(done, "trace" if said["trace"] else "project")
    return RedirectResponse(at("projects", asked.project, "jobs", done["job"]["id"]), 303, HEADERS)


async def stop(asked: PageRequest) -> Response:
    """Stop a job."""
    check_done(await asked.viewer.do("stop_job", asked.project, id=asked.id), "job")
    return RedirectResponse(at("projects", asked.project, "jobs", asked.id), 303, HEADERS)


async def _matching(asked: PageRequest, said: dict[str, str | None]) -> list[str]:
    """The ids of the failures that the filter selects."""
    found: list[str] = []
    after = None
    while True:
        page = (
            await asked.viewer.ask_project(
                "failure_ids", asked.project, after=after, trace=said["trace"], filter=filter_of(said)
            )
        )["project"]["failures"]
        found += [one["id"] for one in page["nodes"]]
        if len(found) > _MOST:
            raise PageError(400, f"More than {_MOST:,} failures match. Choose less, or show all and start with these.")
        after = page["pageInfo"]["endCursor"]
        if after is None:
            break
    if not found:
        raise PageError(400, "No failure matches any more, so there is nothing to do.")
    return found
