"""Settings of a project: its keys, and how long traces are kept."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from starlette.responses import RedirectResponse, Response

from api.web.pages import words
from api.web.pages.asking import MissingError, check_done
from api.web.pages.render import HEADERS, at
from api.web.pages.shown import PageRequest, Shown
from api.web.pages.signing import form_of
from schema.control import MOST_DAYS, MOST_TRACES, Role

_MOST_KEY_DAYS = 3650
_ROLES = {
    Role.READER: "may look at everything",
    Role.WRITER: "may also give verdicts, import and start jobs",
    Role.ADMIN: "may do everything, keys and deletion too",
}


async def settings(asked: PageRequest) -> Shown:
    """The settings that the viewer may see."""
    return await _shown(asked)


async def create_key(asked: PageRequest) -> Shown:
    """Make a key, and show it once."""
    form = await form_of(asked.request)
    days = _number(form.get("days", ""), _MOST_KEY_DAYS)
    if form.get("role") not in set(Role):
        return await _shown(asked, form, "No key was made. Choose what the key may do.")
    if isinstance(days, str):
        return await _shown(asked, form, f"No key was made. Say after how many days it expires: {days}.")
    ends = None if days is None else (datetime.now(UTC) + timedelta(days=days)).isoformat()
    done = await asked.viewer.do(
        "create_key",
        asked.project,
        name=form.get("name", "").strip(),
        role=form["role"],
        person=form.get("person", "").strip() or None,
        expiresAt=ends,
    )
    if done["__typename"] == "NotFound":
        check_done(done, "project")
    if done["__typename"] != "KeyCreated":
        return await _shown(asked, form, f"No key was made. {words.refusal(done['message'])}")
    return await _shown(asked, made=done)


async def revoke_key(asked: PageRequest) -> Response:
    """Revoke a key."""
    check_done(await asked.viewer.do("revoke_key", asked.project, id=asked.id), "key")
    return RedirectResponse(at("projects", asked.project, "settings", said="revoked") + "#keys", 303, HEADERS)


async def set_retention(asked: PageRequest) -> Shown | Response:
    """Set how long traces are kept."""
    form = await form_of(asked.request)
    wanted = {}
    for name, most in (("days", MOST_DAYS), ("traces", MOST_TRACES)):
        number = _number(form.get(name, ""), most)
        if isinstance(number, str):
            return await _shown(asked, form, f"Nothing was changed. Say how many {name}: {number}.", part="retention")
        wanted[name] = number
    done = await asked.viewer.do("set_retention", asked.project, **wanted)
    if done["__typename"] == "NotFound":
        check_done(done, "project")
    if done["__typename"] != "RetentionChanged":
        told = f"Nothing was changed. {words.refusal(done['message'])}"
        return await _shown(asked, form, told, part="retention")
    return RedirectResponse(at("projects", asked.project, "settings", said="kept") + "#retention", 303, HEADERS)


def _number(text: str, most: int) -> int | str | None:
    """The number in a field, or an error message; None if the field is empty."""
    said = text.strip()
    if not said:
        return None
    if said.isascii() and said.isdigit() and len(said) < 12 and 1 <= int(said) <= most:
        return int(said)
    return f"a whole number from 1 to {most:,}, or nothing"


async def _shown(
    asked: PageRequest,
    form: Mapping[str, str] | None = None,
    problem: str = "",
    part: str = "keys",
    made: Mapping[str, Any] | None = None,
) -> Shown:
    role = asked.viewer.context.access.principal.grants.get(asked.project)
    if role is None:
        raise MissingError("project")
    is_admin = role.allows(Role.ADMIN)
    found = await asked.viewer.ask_project("settings", asked.project, after=asked.said("after"), isAdmin=is_admin)
    one = found["project"]
    shown = form if form and part == "retention" else one["retention"] or {}
    keys: dict[str, Any] = one["keys"] if is_admin else {"nodes": [], "pageInfo": {"endCursor": None}}
    values = {
        "it": one,
        "is_admin": is_admin,
        "keys": keys["nodes"],
        "now": datetime.now(UTC).isoformat(),
        "more": keys["pageInfo"]["endCursor"],
        "is_first": asked.said("after") is None,
        "own": asked.viewer.context.access.principal.actor.removeprefix("key:"),
        "roles": _ROLES,
        "form": form or {},
        "kept": {name: shown.get(name) for name in ("days", "traces")},
        "problem": problem,
        "part": part,
        "made": made,
        "said": asked.said("said"),
        "most": {"days": MOST_DAYS, "traces": MOST_TRACES, "key_days": _MOST_KEY_DAYS},
    }
    return Shown("settings", values, 400 if problem else 200)
