"""The page of one failure: question, answer, where the right answer was lost, and a form for the viewer's verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from starlette.responses import RedirectResponse, Response

from api.web.pages import judging, words
from api.web.pages.asking import MissingError, PageError
from api.web.pages.picture import picture
from api.web.pages.render import HEADERS, at
from api.web.pages.shown import PageRequest, Shown
from api.web.pages.signing import form_of
from api.web.pages.story import story_of
from schema.control import Role
from schema.kinds import HUMAN_METHOD

Found = Mapping[str, Any]

_TIMEOUT = 504
_SMALL = 5_000
"""Up to this many elements in the trace, the page works out at once what was there and not chosen."""


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive steps of a path with equal kind and operation, all with the piece or all without.

    Attributes:
        step: the last step.
        count: number of steps.
        is_break: whether the piece was in the step before, and is not in these.
    """

    step: Found
    count: int
    is_break: bool

    @property
    def state(self) -> str:
        """``held``: the steps have the piece; ``lost``: it was lost here; ``gone``: it was lost earlier."""
        if self.step["holds"]:
            return "held"
        return "lost" if self.is_break else "gone"


async def failure(asked: PageRequest) -> Shown | Response:
    """The page of a failure. The id of an answer or a question leads to the page of that variable, which names it."""
    try:
        return await _shown(asked, {}, "")
    except MissingError:
        found = await asked.viewer.ask_project("graph_of", asked.project, id=asked.id)
        if found["project"]["variable"] is None:
            raise
        address = at("projects", asked.project, "variables", asked.id)
        return RedirectResponse(address, 303, HEADERS)


async def record(asked: PageRequest) -> Shown | Response:
    """Record the viewer's verdict, and show the failure again."""
    form = await form_of(asked.request, judging.MOST_BYTES)
    verdict = judging.verdict_of(asked.id, form)
    if isinstance(verdict, judging.Refused):
        return await _shown(asked, form, verdict.problem)
    done = await asked.viewer.do("record_verdict", asked.project, input=verdict)
    if done["__typename"] == "NotFound" and verdict["operation"] is None:
        raise MissingError("failure")
    if done["__typename"] != "VerdictRecorded":
        return await _shown(asked, form, f"Your verdict was not saved. {words.refusal(done['message'])}")
    place = "" if form.get("from") == "top" else "#verdict"
    return RedirectResponse(at("projects", asked.project, "failures", asked.id, saved="1") + place, 303, HEADERS)


async def _shown(asked: PageRequest, form: Found, problem: str) -> Shown:
    found = await asked.viewer.ask_project("failure", asked.project, id=asked.id)
    values = await told(asked, found, form, problem)
    values["is_saved"] = asked.said("saved") is not None and not problem
    values["is_begun"] = asked.said("begun") is not None
    values["place"] = f"failures/{values['failure']['id']}"
    return Shown("failure", values, 400 if problem else 200)


async def told(
    asked: PageRequest, found: Found, form: Found, problem: str = "", more: Sequence[Found] = ()
) -> dict[str, Any]:
    """The values that the templates of all pages about one failure use.

    Args:
        asked: the request.
        found: the data of the document ``failure``.
        form: what the user typed; an empty form starts with the viewer's own verdict.
        problem: what is wrong with the form.
        more: operations to choose from, besides those of the failure.

    Raises:
        MissingError: the failure does not exist.
    """
    one = found["project"]["failure"]
    if one is None:
        raise MissingError("failure")
    verdicts, own = one["verdicts"], one["ownVerdict"]
    first = word_on(verdicts)
    shown = await picture(asked, one, first["id"] if first else None)
    why_not = await _why_not(asked, one)
    named = [own["operation"], *(one["operation"] for one in own["candidates"])] if own else []
    values = form or judging.form_of_verdict(own)
    operations = judging.operations(one, verdicts, [*more, *named])
    return {
        "it": found["project"],
        "failure": one,
        "comment": _comment(one),
        "verdict": first,
        "final": next((one for one in verdicts if one["isFinal"] and one is not first), None),
        "others": sorted((one for one in verdicts if one is not first), key=lambda one: not one["isFinal"]),
        "own": own,
        "runs": {loss["piece"]: runs(loss["path"]) for loss in first["losses"]} if first else {},
        "quotes": _quotes(verdicts),
        "changes": changes(one["verdictHistory"]["nodes"]),
        "operations": operations,
        "letters": judging.letters(one, operations),
        "texts": judging.texts(one, own, None if shown is None else shown.spine, values),
        "types": words.ERROR_TYPES,
        "may_judge": Role(found["project"]["role"]).allows(Role.WRITER),
        "form": values,
        "also_rows": judging.also_rows(values),
        "problem": problem,
        "is_saved": False,
        "picture": shown,
        "why_not": why_not,
        "story": story_of(one, first, why_not),
    }


def _comment(one: Found) -> str | None:
    """What the reporter of the failure wrote about it; None for viewers who are still to judge it in a queue."""
    said = (one["attributes"] or {}).get("comment")
    return said if isinstance(said, str) and said.strip() and not one["isWithheld"] else None


def _is_small(trace: Found | None) -> bool:
    return trace is not None and sum(trace["counts"].values()) <= _SMALL


async def _why_not(asked: PageRequest, one: Found) -> list[Found] | Literal["too large", "too long"] | None:
    """The candidates that were not chosen; None for a large trace, unless the viewer asked for them."""
    if one["isWithheld"] or (asked.said("why") is None and not _is_small(one["trace"])):
        return None
    try:
        found = (await asked.viewer.ask_project("why_not", asked.project, id=one["id"]))["project"]["failure"]
    except PageError as error:
        if error.is_of("whyNot"):
            return "too large"
        if error.status == _TIMEOUT and error.field == "whyNot":
            return "too long"
        raise
    if found is None:
        raise MissingError("failure")
    pieces: list[Found] = found["whyNot"]
    return pieces


def changes(history: Iterable[Found]) -> list[dict[str, Any]]:
    """The history of people's verdicts, newest first.

    Each change has ``was``, the same person's verdict before it, and ``verdict``, the new one; None means no verdict.
    """
    before: dict[str, Found | None] = {}
    found = []
    for one in history:
        verdict = one["attributionId"]
        found.append({**one, "was": before.get(verdict)})
        if one["undoneAt"] is None:
            before[verdict] = one["verdict"]
    return found[::-1]


def word_on(verdicts: Iterable[Found]) -> Found | None:
    """The verdict that the page explains: the newest of a method, because it has a path; else the newest of all.

    Verdicts on earlier gold answers are used only if there is no other verdict.
    """
    every = list(verdicts)
    listed = [verdict for verdict in every if not verdict["onEarlierGold"]] or every
    methods = [verdict for verdict in listed if verdict["method"] != HUMAN_METHOD]
    decided = [verdict for verdict in methods if verdict["errorType"]]
    return next((found[-1] for found in (decided, methods, listed) if found), None)


def runs(path: Iterable[Found]) -> list[Run]:
    """The steps of a path, with equal neighbours merged into one run."""
    found: list[Run] = []
    had = False
    for step in path:
        before = found[-1] if found else None
        alike = before is not None and _key(before.step) == _key(step)
        if before is not None and alike:
            found[-1] = Run(step, before.count + 1, before.is_break)
        else:
            found.append(Run(step, 1, had and not step["holds"]))
            had = bool(step["holds"])
    return found


def _key(step: Found) -> tuple[Any, ...]:
    variable, operation = step["variable"] or {}, step["operation"] or {}
    return bool(step["holds"]), variable.get("kind"), operation.get("name"), operation.get("kind")


def _quotes(verdicts: Iterable[Found]) -> dict[str, list[str]]:
    """The quotes of each variable in all verdicts, by the variable's id."""
    found: dict[str, list[str]] = {}
    for verdict in verdicts:
        for loss in verdict["losses"]:
            for step in loss["path"]:
                if step["variable"] and step["quote"]:
                    found.setdefault(step["variable"]["id"], []).append(step["quote"])
    return found
