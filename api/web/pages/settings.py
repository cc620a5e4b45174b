"""Settings of a project: its keys, and how long traces are kept."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from api.auth.invitations import MOST_DAYS as MOST_DAYS_OF_INVITATION
from api.web.pages import words
from api.web.pages.asking import MissingError, check_done
from api.web.pages.render import HEADERS, at
from api.web.pages.shown import PageRequest, Shown
from api.web.pages.signing import form_of
from schema.control import MOST_DAYS, MOST_TRACES, Role

_MOST_KEY_DAYS = 3650
_DAYS = 7
_INVITED = (Role.ANNOTATOR, Role.READER, Role.WRITER)
_ROLES = {
    Role.READER: "may look at everything",
    Role.ANNOTATOR: "may also judge in queues",
    Role.WRITER: "may also judge and import",
    Role.ADMIN: "may do everything",
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


async def invite(asked: PageRequest) -> Shown:
    """Make an invitation, and show its address once."""
    form = await form_of(asked.request)
    person, days = form.get("person", "").strip(), _number(form.get("days", ""), MOST_DAYS_OF_INVITATION)
    if not person:
        return await _shown(asked, form, "Nobody was invited. Say who is invited.", part="invite")
    if form.get("role") not in _INVITED:
        return await _shown(asked, form, "Nobody was invited. Choose what they may do.", part="invite")
    if not isinstance(days, int):
        told = f"Say for how many days: a whole number from 1 to {MOST_DAYS_OF_INVITATION}."
        return await _shown(asked, form, f"Nobody was invited. {told}", part="invite")
    ends = (datetime.now(UTC) + timedelta(days=days)).isoformat()
    wish = {"person": person, "role": form["role"], "expiresAt": ends}
    done = await asked.viewer.do("create_invitation", asked.project, **wish)
    if done["__typename"] == "NotFound":
        check_done(done, "project")
    if done["__typename"] != "InvitationCreated":
        return await _shown(asked, form, f"Nobody was invited. {words.refusal(done['message'])}", part="invite")
    queue = form.get("queue", "")
    there = at("projects", asked.project, "queues", queue) if queue else at("projects", asked.project)
    # Browsers name the address by which they reach this server, also through a proxy; and what follows "#" is sent to
    # no server, so that the code is in no log and no referrer.
    origin = asked.request.headers.get("origin") or str(asked.request.base_url).rstrip("/")
    address = f"{origin}/ui/invitation?{urlencode({'next': there})}#{done['code']}"
    return await _shown(asked, invited=done | {"address": address})


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


def _form(form: Mapping[str, str] | None, sent: str, part: str) -> Mapping[str, str]:
    """The form as it was sent, if it is the form of this part of the page."""
    return form if form and sent == part else {}


async def _shown(
    asked: PageRequest,
    form: Mapping[str, str] | None = None,
    problem: str = "",
    part: str = "keys",
    made: Mapping[str, Any] | None = None,
    invited: Mapping[str, Any] | None = None,
) -> Shown:
    role = asked.viewer.context.access.principal.grants.get(asked.project)
    if role is None:
        raise MissingError("project")
    is_admin = role.allows(Role.ADMIN)
    found = await asked.viewer.ask_project("settings", asked.project, after=asked.said("after"), isAdmin=is_admin)
    one = found["project"]
    shown = _form(form, part, "retention") or one["retention"] or {}
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
        "form": _form(form, part, "keys"),
        "kept": {name: shown.get(name) for name in ("days", "traces")},
        "problem": problem,
        "part": part,
        "made": made,
        "invited": invited,
        "invited_roles": _INVITED,
        "invitation": {
            "person": asked.said("person"),
            "role": Role.ANNOTATOR,
            "queue": asked.said("queue"),
            "days": _DAYS,
            **_form(form, part, "invite"),
        },
        "queues": [one for one in one["annotationQueues"]["nodes"] if not one["closedAt"]] if is_admin else [],
        "said": asked.said("said"),
        "most": {
            "days": MOST_DAYS,
            "traces": MOST_TRACES,
            "key_days": _MOST_KEY_DAYS,
            "invitation_days": MOST_DAYS_OF_INVITATION,
        },
    }
    return Shown("settings", values, 400 if problem else 200)
