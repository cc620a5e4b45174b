"""Signing in and out: a key or token is kept in a cookie that no script can read, and looked at with each request."""

from __future__ import annotations

import asyncio
import re
from urllib.parse import parse_qs

import structlog
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from api.auth.browsers import COOKIE, MOST_COOKIE, SIGN_IN_COOKIE
from api.errors import RateLimitedError, TooLargeError, UnauthenticatedError
from api.http.dependencies import client_of, platform_of
from api.web.pages import words
from api.web.pages.asking import PageError
from api.web.pages.opening import Opening
from api.web.pages.render import HEADERS, render

_log = structlog.get_logger("memtrace.web")

_LOCAL = re.compile(r"/ui(?:[/?][!-\[\]-~]*)?")
"""Addresses of our own pages; a backslash is read as a slash by browsers, so there is none."""

_MOST_FORM = 200_000
_SIGN_IN_SECONDS = 600
"""How long one may take at the issuer."""
_MOST_FIELDS = 100


def next_of(said: str | None) -> str:
    """Where to go after signing in: one of our own pages, whatever an address says."""
    return said if said is not None and _LOCAL.fullmatch(said) else "/ui"


async def form_of(request: Request, most: int = _MOST_FORM) -> dict[str, str]:
    """The fields of a form, each by its name; of several of one name the last.

    Args:
        request: with the form.
        most: bytes that it may have.

    Raises:
        PageError: it is no form.
        TooLargeError: it is larger than any form of ours.
    """
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise PageError(415, "This is not the form of a page.")
    body = bytearray()
    async for block in request.stream():
        body += block
        if len(body) > most:
            raise TooLargeError("the form", most)
    try:
        fields = await asyncio.to_thread(
            parse_qs, body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="replace"
        )
    except ValueError:
        raise PageError(400, "This is not the form of a page.") from None
    return {name: values[-1] for name, values in fields.items()}


def leave(answer: Response) -> Response:
    """Let a browser forget the cookie."""
    answer.delete_cookie(COOKIE, secure=True, httponly=True, samesite="strict", path="/")
    return answer


def _enter(key: str, next_: str) -> Response:
    return _with_cookie(RedirectResponse(next_, 303, HEADERS), key)


def _with_cookie(answer: Response, key: str) -> Response:
    answer.set_cookie(COOKIE, key, secure=True, httponly=True, samesite="strict", path="/")
    return answer


class Door:
    """The pages that are there for who is not signed in."""

    def __init__(self, version: str, opening: Opening | None) -> None:
        """Ask nobody yet.

        Args:
            version: of the files that pages load.
            opening: signs one browser in; None is for nobody.
        """
        self._version = version
        self._opening = opening

    async def sign_in(self, request: Request) -> Response:
        """The form for a key."""
        return await self._form(request, next_of(request.query_params.get("next")))

    async def take_key(self, request: Request) -> Response:
        """Look at a key, and let in who has a good one."""
        form = await form_of(request)
        next_, key = next_of(form.get("next")), form.get("key", "").strip()
        if not key:
            return await self._form(request, next_, 400, "Type the key first.")
        if len(key) > MOST_COOKIE or not (key.isascii() and key.isprintable()) or set(key) & set(' ",;\\'):
            return await self._form(
                request, next_, 400, "This is no key: a key is one line of letters, digits, _ and -."
            )
        platform = platform_of(request)
        try:
            principal = await platform.verifier.verify(f"Bearer {key}", client_of(request))
        except UnauthenticatedError as error:
            # In the answer to a form there is no header to speak of.
            told = "This key opens nothing here." if "Authorization" in str(error) else f"{error}.".capitalize()
            return await self._form(request, next_, 401, told)
        except RateLimitedError as error:
            return await self._form(request, next_, 429, f"{error}.".capitalize())
        request.state.actor = principal.actor
        return _enter(key, next_)

    async def to_issuer(self, request: Request) -> Response:
        """To the OIDC issuer, to sign in there."""
        flow = platform_of(request).sign_in
        if flow is None:
            raise PageError(404, "This server has no other sign-in.")
        address, begun = await flow.begin(next_of(request.query_params.get("next")))
        answer = RedirectResponse(address, 303, HEADERS)
        # Not strict: browsers bring a strict cookie along only from pages of our own.
        answer.set_cookie(
            SIGN_IN_COOKIE, begun.text(), _SIGN_IN_SECONDS, secure=True, httponly=True, samesite="lax", path="/"
        )
        return answer

    async def from_issuer(self, request: Request) -> Response:
        """Let in who comes back from the issuer."""
        flow = platform_of(request).sign_in
        if flow is None:
            raise PageError(404, "This server has no other sign-in.")
        try:
            entered = await flow.finish(request.query_params, request.cookies.get(SIGN_IN_COOKIE), client_of(request))
        except UnauthenticatedError as error:
            _log.info("sign-in refused", reason=error.reason)
            # As above: most of what may be wrong with an answer is for the log alone.
            told = (
                "What the issuer said could not be used: start again." if "Authorization" in str(error) else str(error)
            )
            answer: Response = await self._form(request, "/ui", 401, words.sentence(told))
        else:
            request.state.actor = entered.principal.actor
            if len(entered.token) > MOST_COOKIE:
                told = (
                    f"The issuer's token has {len(entered.token):,} characters, and a cookie has room for "
                    f"{MOST_COOKIE:,}. Let it name fewer groups, or sign in with a key."
                )
                answer = await self._form(request, "/ui", 400, told)
            else:
                # The cookie comes along from a page of ours alone, so there must be one on the way.
                here = {"here": next_of(entered.next)}
                answer = _with_cookie(await render("arrived", self._version, here), entered.token)
        answer.delete_cookie(SIGN_IN_COOKIE, secure=True, httponly=True, samesite="lax", path="/")
        return answer

    async def sign_out(self, request: Request) -> Response:
        """Forget the key, and what the browser has kept of half-written forms."""
        answer = leave(RedirectResponse("/ui/sign-in?out=1", 303, HEADERS))
        answer.headers["Clear-Site-Data"] = '"storage"'
        return answer

    async def open(self, request: Request) -> Response:
        """The page that ``memtrace ui`` leads to; its script posts the code that stands after ``#``."""
        return await render("open", self._version, {})

    async def take_code(self, request: Request) -> Response:
        """Let in the one browser that has the code."""
        code = (await form_of(request)).get("code", "")
        key = self._opening.take(code) if self._opening is not None else None
        if key is None:
            told = "This way in was used already, or is too old. Sign in with a key, or run memtrace ui again."
            return await self._form(request, "/ui", 401, told)
        return _enter(key, "/ui")

    async def _form(self, request: Request, next_: str, status: int = 200, problem: str = "") -> Response:
        platform = platform_of(request)
        tokens, flow = platform.settings.oidc_issuer is not None, platform.sign_in
        values = {
            "next": next_,
            "problem": problem,
            "tokens": tokens,
            "issuer": None if flow is None else flow.name,
            "is_out": "out" in request.query_params and not problem,
            # Who was sent here from another page has been away for too long, or has followed somebody's link.
            "is_sent": next_ != "/ui" and not problem,
        }
        return await render("sign_in", self._version, values, status)
