"""A failure in an annotation queue: a person judges it without other verdicts, or decides a disagreement."""

from __future__ import annotations

from typing import Any

from starlette.responses import RedirectResponse, Response

from api.web.pages import judging, words
from api.web.pages.asking import MissingError, check_done
from api.web.pages.failure import Found, told
from api.web.pages.queue import taken_back, to_next
from api.web.pages.render import HEADERS, at
from api.web.pages.shown import PageRequest, Shown
from api.web.pages.signing import form_of
from schema.control import Role


async def failure(asked: PageRequest) -> Shown:
    """The failure, as the page for annotators."""
    return await _shown(asked, {}, "")


async def submit(asked: PageRequest) -> Shown | Response:
    """Submit the viewer's verdict, and go to the next failure of the queue."""
    form = await form_of(asked.request, judging.MOST_BYTES)
    verdict = judging.verdict_of(asked.case, form)
    if isinstance(verdict, judging.Refused):
        return await _shown(asked, form, verdict.problem)
    done = await asked.viewer.do("submit_case", asked.project, queue=asked.id, input=verdict)
    if done["__typename"] == "NotFound" and verdict["operation"] is None:
        raise MissingError("case")
    if done["__typename"] != "CaseSubmitted":
        return await _shown(asked, form, f"Your verdict was not taken. {words.refusal(done['message'])}")
    return await to_next(asked, asked.id)


async def skip(asked: PageRequest) -> Response:
    """Skip the failure, and go to the next one."""
    check_done(await asked.viewer.do("skip_case", asked.project, queue=asked.id, failure=asked.case), "case")
    return await to_next(asked, asked.id)


async def undo(asked: PageRequest) -> Response:
    """Undo what the viewer did with this failure, and show it again."""
    return await taken_back(asked, asked.case)


async def dispute(asked: PageRequest) -> Shown:
    """A failure on which annotators disagree."""
    return await _dispute(asked, {}, "")


async def decide(asked: PageRequest) -> Shown | Response:
    """Record the final word, and go back to the queue."""
    form = await form_of(asked.request, judging.MOST_BYTES)
    verdict = judging.verdict_of(asked.case, form)
    if isinstance(verdict, judging.Refused):
        return await _dispute(asked, form, verdict.problem)
    done = await asked.viewer.do("adjudicate", asked.project, queue=asked.id, input=verdict)
    if done["__typename"] == "NotFound" and verdict["operation"] is None:
        raise MissingError("case")
    if done["__typename"] != "Adjudicated":
        return await _dispute(asked, form, f"Your decision was not saved. {words.refusal(done['message'])}")
    return RedirectResponse(at("projects", asked.project, "queues", asked.id) + "#disputes", 303, HEADERS)


async def _found(asked: PageRequest, *, in_dispute: bool = False) -> tuple[Found, Found]:
    """The data of the page, and the queue in it."""
    about = {"queue": asked.id, "case": asked.case, "inQueue": True, "inDispute": in_dispute}
    found = await asked.viewer.ask_project("failure", asked.project, id=asked.case, **about)
    queue = found["project"]["annotationQueue"]
    if queue is None:
        raise MissingError("case")
    return found, queue


async def _shown(asked: PageRequest, form: Found, problem: str) -> Shown:
    found, queue = await _found(asked)
    mine = queue["assignment"]
    if not form and mine and mine["draft"]:
        # A draft that a server has refused.
        form = judging.form_of_draft(mine["draft"])
    if not form and mine and mine["progress"] == "reserved":
        form = _form_before_undo(found)
    values = await told(asked, found, form, problem)
    people = {one["person"]: one for one in queue["progress"]["people"]}
    did = people.get(found["viewer"]["person"], {"done": 0, "skipped": 0})
    values |= {
        "queue": queue,
        "mine": mine,
        "done": did["done"],
        "can_undo": did["done"] + did["skipped"] > 0,
        "place": f"queues/{queue['id']}/cases/{values['failure']['id']}",
        "is_back": asked.said("back") is not None and not problem,
        "may_judge": Role(found["project"]["role"]).allows(Role.ANNOTATOR) and _is_open(queue, mine),
        "graph": values["failure"]["answerId"] or values["failure"]["questionId"],
    }
    return Shown("queue_failure", values, 400 if problem else 200)


async def _dispute(asked: PageRequest, form: Found, problem: str) -> Shown:
    found, queue = await _found(asked, in_dispute=True)
    disputed: dict[str, Any] | None = queue["dispute"]
    if disputed is None:
        raise MissingError("dispute")
    final = disputed["adjudicated"]
    said = [*disputed["sides"], *([final] if final else [])]
    named = [one["operation"] for one in said] + [also["operation"] for one in said for also in one["candidates"]]
    # The form is for the final word, so it does not start with the viewer's own verdict as an annotator.
    values = await told(asked, found, form or judging.form_of_verdict(final) or {"type": ""}, problem, named)
    mine = queue["assignment"]
    is_annotator = mine is not None and mine["progress"] == "done"
    values |= {
        "queue": queue,
        "dispute": disputed,
        "final": final,
        "place": f"queues/{queue['id']}/disputes/{values['failure']['id']}",
        "has_judged": is_annotator and not Role(found["project"]["role"]).allows(Role.ADMIN),
    }
    return Shown("dispute", values, 400 if problem else 200)


def _form_before_undo(found: Found) -> dict[str, str]:
    """The form as the viewer had submitted it before the undo."""
    failure, person = found["project"]["failure"], found["viewer"]["person"]
    if failure is None or failure["ownVerdict"]:
        return {}
    history = failure["verdictHistory"]["nodes"]
    own = [one["verdict"] for one in history if one["changedBy"] == person and one["verdict"]]
    return judging.form_of_verdict(own[-1] if own else None)


def _is_open(queue: Found, mine: Found | None) -> bool:
    return queue["closedAt"] is None and mine is not None and mine["progress"] in {"reserved", "done"}
