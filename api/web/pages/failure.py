"""One failure: what was asked and answered, where the right answer was lost, and the viewer's own verdict."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from api.web.pages import words
from api.web.pages.asking import MissingError
from api.web.pages.render import HEADERS, at
from api.web.pages.shown import PageRequest, Shown
from api.web.pages.signing import form_of
from attribution.spine.draw import svg
from attribution.spine.find import spines
from schema.control import Role
from schema.kinds import HUMAN_METHOD, ErrorType
from schema.models import Failure
from store.answers import Label

Found = Mapping[str, Any]

_BLAMELESS = {ErrorType.ANNOTATION.value, ErrorType.JUDGE.value}
_OTHER = "other"
_SMALL = 5_000
"""Elements of a trace that is worked through for what was not chosen whenever one of its failures is opened."""


@dataclass(frozen=True, slots=True)
class Run:
    """Steps of a path that follow each other, come of the same operation and hold the piece alike.

    Attributes:
        step: the last of them.
        count: how many they are.
        is_break: whether the piece was there before them, and is not in them.
    """

    step: Found
    count: int
    is_break: bool

    @property
    def state(self) -> str:
        """Whether they have the piece: ``held``, ``lost`` (here) or ``gone`` (before)."""
        if self.step["holds"]:
            return "held"
        return "lost" if self.is_break else "gone"


async def failure(asked: PageRequest) -> Shown:
    """A failure."""
    return await _shown(asked, {}, "")


async def record(asked: PageRequest) -> Shown | Response:
    """Take the viewer's verdict, and show the failure again."""
    form = await form_of(asked.request)
    kind = form.get("type", "")
    chosen = form.get("operation", "")
    blamed = form.get("other", "").strip() if chosen == _OTHER else chosen
    if not kind:
        return await _shown(asked, form, "Choose what went wrong, or say that you can't tell.")
    is_needed = kind in words.ERROR_TYPES and kind not in _BLAMELESS
    if is_needed and not blamed:
        return await _shown(asked, form, f"Choose the operation that made the {words.error_type(kind).lower()}, too.")
    verdict = {
        "failure": asked.id,
        "errorType": kind if kind in words.ERROR_TYPES else None,
        "operation": blamed if is_needed else None,
        "reason": form.get("reason", "").strip() or None,
    }
    done = (await asked.viewer.ask("record_verdict", project=asked.project, input=verdict))["recordVerdict"]
    if done["__typename"] == "NotFound" and verdict["operation"] is None:
        raise MissingError("failure")
    if done["__typename"] != "VerdictRecorded":
        return await _shown(asked, form, f"Your verdict was not saved: {done['message']}.")
    return RedirectResponse(at("projects", asked.project, "failures", asked.id, saved="1") + "#verdict", 303, HEADERS)


async def _shown(asked: PageRequest, form: Found, problem: str) -> Shown:
    found = await asked.viewer.ask_project("failure", asked.project, id=asked.id)
    one = found["project"]["failure"]
    if one is None:
        raise MissingError("failure")
    verdicts = one["verdicts"]
    own = next((verdict for verdict in verdicts if verdict["author"] == found["viewer"]["actor"]), None)
    first = word_on(verdicts)
    values = {
        "it": found["project"],
        "failure": one,
        "verdict": first,
        "others": [verdict for verdict in verdicts if verdict is not first],
        "own": own,
        "runs": {loss["piece"]: runs(loss["path"]) for loss in first["losses"]} if first else {},
        "quotes": _quotes(verdicts),
        "operations": _operations(verdicts),
        "types": words.ERROR_TYPES,
        "may_judge": Role(found["project"]["role"]).allows(Role.WRITER),
        "form": form or _form_of(own),
        "problem": problem,
        "is_saved": asked.said("saved") is not None and not problem,
        "spine": await _spine(asked, one),
        "why_not": await _why_not(asked, one),
    }
    return Shown("failure", values, 400 if problem else 200)


def _is_small(trace: Found | None) -> bool:
    return trace is not None and sum(trace["counts"].values()) <= _SMALL


async def _why_not(asked: PageRequest, one: Found) -> list[Found] | None:
    """What was there and was not chosen; None where it takes long, and nobody has asked for it."""
    if asked.said("why") is None and not _is_small(one["trace"]):
        return None
    found = (await asked.viewer.ask_project("why_not", asked.project, id=one["id"]))["project"]["failure"]
    if found is None:
        raise MissingError("failure")
    pieces: list[Found] = found["whyNot"]
    return pieces


async def _spine(asked: PageRequest, failure: Found) -> Markup | None:
    """The picture of the way from the evidence to the answer; None where there is nothing to draw."""
    store = asked.viewer.context.door(asked.project).store
    found = [one for one in await store.get(Label.FAILURE, [failure["id"]]) if isinstance(one, Failure)]
    drawn = (await spines(store, found)).get(failure["id"])
    if drawn is None or not drawn.boxes:
        return None
    return await asyncio.to_thread(svg, drawn, "The way from the evidence to the answer", standalone=False)


def word_on(verdicts: Iterable[Found]) -> Found | None:
    """The verdict that the page is about: the last of a method, which shows the way; else the last of all."""
    listed = list(verdicts)
    methods = [verdict for verdict in listed if verdict["method"] != HUMAN_METHOD]
    decided = [verdict for verdict in methods if verdict["errorType"]]
    return next((found[-1] for found in (decided, methods, listed) if found), None)


def runs(path: Iterable[Found]) -> list[Run]:
    """The steps of a path, those that are alike as one."""
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
    """What verdicts quote of each variable, by its id."""
    found: dict[str, list[str]] = {}
    for verdict in verdicts:
        for loss in verdict["losses"]:
            for step in loss["path"]:
                if step["variable"] and step["quote"]:
                    found.setdefault(step["variable"]["id"], []).append(step["quote"])
    return found


def _operations(verdicts: Iterable[Found]) -> list[Found]:
    """Operations that a verdict could blame: those that verdicts name, and those on the ways of the pieces."""
    named: list[Found | None] = []
    for verdict in verdicts:
        named += [verdict["operation"], *(one["operation"] for one in verdict["candidates"])]
        named += [loss["operation"] for loss in verdict["losses"]]
    for verdict in verdicts:
        named += [step["operation"] for loss in verdict["losses"] for step in loss["path"]]
    by_id = {one["id"]: one for one in named if one is not None}
    return list(by_id.values())[:12]


def _form_of(own: Found | None) -> dict[str, str]:
    """The form as the viewer's own verdict fills it in."""
    if own is None:
        return {}
    blamed = own["operation"]
    return {
        "type": own["errorType"] or "unknown",
        "operation": blamed["id"] if blamed else "",
        "reason": own["reason"] or "",
    }
