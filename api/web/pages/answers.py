"""The answers of a trace, newest first, and two buttons for each: it is right, or it is wrong and should be this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import RedirectResponse, Response

from api.web.pages.asking import check_done
from api.web.pages.narrowed import DAYS, Said, chips, recorded
from api.web.pages.render import HEADERS, at
from api.web.pages.shown import PageRequest, Shown
from api.web.pages.signing import form_of
from schema.control import Role

Found = Mapping[str, Any]

STATES = {"open": "not judged yet", "wrong": "wrong", "right": "right"}


async def answers(asked: PageRequest) -> Shown:
    """The answers of the trace that the address names, else of the newest trace."""
    named = asked.said("trace")
    said = {name: asked.said(name) for name in ("trace", "text", "state", *DAYS)}
    found = await _ask(asked, named, said)
    traces = sorted(found["traces"]["nodes"], key=lambda one: one["createdAt"] or "", reverse=True)
    if named is None and traces:
        found = await _ask(asked, traces[0]["id"], said)
    trace = found.get("trace")
    text, state = (said["text"] or "").casefold(), said["state"]
    told = {"text": said["text"] and f"“{said['text']}”", "state": state and STATES.get(state, state)}
    rows = [row for row in (_rows(trace) if trace else []) if _fits(row, text, state)]
    values = {
        "it": found,
        "traces": traces,
        "trace": trace,
        "rows": rows,
        "said": said,
        "chips": chips(asked.project, "answers", said, {name: one for name, one in told.items() if one}),
        "states": STATES,
        "more": trace["variables"]["pageInfo"]["endCursor"] if trace else None,
        "may_write": Role(found["role"]).allows(Role.WRITER),
    }
    return Shown("answers", values, 404 if named and trace is None else 200)


async def mark_wrong(asked: PageRequest) -> Response:
    """Record that an answer is wrong, start its attribution, and show the failure."""
    form = await form_of(asked.request)
    gold = [line.strip() for line in form.get("gold", "").splitlines() if line.strip()]
    done = await asked.viewer.do("record_failure", asked.project, input={"answer": asked.id, "goldAnswers": gold})
    check_done(done, "answer")
    failure = done["failure"]["id"]
    check_done(await asked.viewer.do("attribute", asked.project, input={"failures": [failure]}), "failure")
    return RedirectResponse(at("projects", asked.project, "failures", failure, begun="1"), 303, HEADERS)


async def mark_right(asked: PageRequest) -> Response:
    """Record that an answer is right, and show the answers of its trace again."""
    form = await form_of(asked.request)
    check_done(await asked.viewer.do("mark_right", asked.project, answer=asked.id), "answer")
    address = at("projects", asked.project, "answers", trace=form.get("trace") or None)
    return RedirectResponse(f"{address}#a-{asked.id}", 303, HEADERS)


async def _ask(asked: PageRequest, trace: str | None, said: Said) -> Found:
    variables = {
        "trace": trace or "",
        "named": trace is not None,
        "after": asked.said("after"),
        "recorded": recorded(said),
    }
    found: Found = (await asked.viewer.ask_project("answers", asked.project, **variables))["project"]
    return found


def _rows(trace: Found) -> list[dict[str, Any]]:
    """The answers, newest first, each with its question, its failure and whether it is judged."""
    failures = {one["answerId"]: one for one in trace["failures"]["nodes"]}
    rows = []
    for one in reversed(trace["variables"]["nodes"]):
        failure = failures.get(one["id"])
        state = "wrong" if failure or one["right"] is False else "right" if one["right"] else "open"
        rows.append({"answer": one, "questions": one["questions"], "failure": failure, "state": state})
    return rows


def _fits(row: Found, text: str, state: str | None) -> bool:
    words = " ".join([row["answer"]["preview"], *(one["preview"] for one in row["questions"])]).casefold()
    return text in words and state in {None, row["state"]}
