"""Signing in and out. A cookie that scripts can't read holds a key or token, which every request checks again."""

from __future__ import annotations

import asyncio
import re
from urllib.parse import parse_qs

import structlog
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from api.auth.browsers import COOKIE, MOST_COOKIE, SIGN_IN_COOKIE
from api.auth.invitations import accept_invitation
from api.auth.rate import RateLimit
from api.errors import RateLimitedError, TooLargeError, UnauthenticatedError
from api.http.dependencies import client_of, platform_of, request_id_of
from api.http.limits import SMALL_BYTES
from api.web.pages import words
from api.web.pages.asking import PageError
from api.web.pages.opening import Opening
from api.web.pages.render import HEADERS, render

_log = structlog.get_logger("memtrace.web")

_LOCAL = re.compile(r"/ui(?:[/?][!-\[\]-~]*)?")
"""Paths of our own pages. Browsers read a backslash as a slash, so the pattern excludes backslashes."""

_SIGN_IN_BYTES = 16 << 10
"""The most bytes of a form that anybody may send."""
_SIGN_IN_SECONDS = 600
"""How many seconds signing in at the issuer may take."""
_MOST_FIELDS = 100
CODES = "20/minute"
"""How many codes of invitations an address may send."""


def next_of(said: str | None) -> str:
    """The address to go to after signing in: always one of our own pages, whatever ``address`` says."""
    return said if said is not None and _LOCAL.fullmatch(said) else "/ui"


async def form_of(request: Request, most: int = SMALL_BYTES) -> dict[str, str]:
    """The fields of a form by name; if a name is repeated, its last value.

    Args:
        request: the request with the form.
        most: the greatest allowed size in bytes.

    Raises:
        PageError: the body is no form.
        TooLargeError: the body is larger than ``most``.
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
    """Make the browser delete the cookie."""
    answer.delete_cookie(COOKIE, secure=True, httponly=True, samesite="strict", path="/")
    return answer


def _enter(key: str, next_: str) -> Response:
    return _with_cookie(RedirectResponse(next_, 303, HEADERS), key)


def _with_cookie(answer: Response, key: str) -> Response:
    answer.set_cookie(COOKIE, key, secure=True, httponly=True, samesite="strict", path="/")
    return answer


class SigningPages:
    """The pages for users who are not signed in."""

    def __init__(self, version: str, opening: Opening | None) -> None:
        """Set the pages up.

        Args:
            version: the hash in the address of the static files.
            opening: signs one browser in; None turns this off.
        """
        self._codes = RateLimit(CODES)
        self._version = version
        self._opening = opening

    async def sign_in(self, request: Request) -> Response:
        """The form for a key."""
        return await self._form(request, next_of(request.query_params.get("next")))

    async def take_key(self, request: Request) -> Response:
        """Check a key, and sign its owner in."""
        form = await form_of(request, _SIGN_IN_BYTES)
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
            # The user of a form knows nothing of the Authorization header that such a message names.
            told = "This key opens nothing here." if "Authorization" in str(error) else f"{error}.".capitalize()
            return await self._form(request, next_, 401, told)
        except RateLimitedError as error:
            return await self._form(request, next_, 429, f"{error}.".capitalize())
        request.state.actor = principal.actor
        return _enter(key, next_)

    async def to_issuer(self, request: Request) -> Response:
        """Redirect to the OIDC issuer's page for signing in."""
        flow = platform_of(request).sign_in
        if flow is None:
            raise PageError(404, "This server has no other sign-in.")
        address, begun = await flow.begin(next_of(request.query_params.get("next")), client_of(request))
        answer = RedirectResponse(address, 303, HEADERS)
        # Not strict: browsers withhold strict cookies when the issuer's page leads back to ours.
        answer.set_cookie(
            SIGN_IN_COOKIE, begun.text(), _SIGN_IN_SECONDS, secure=True, httponly=True, samesite="lax", path="/"
        )
        return answer

    async def from_issuer(self, request: Request) -> Response:
        """Sign a user in who comes back from the issuer."""
        flow = platform_of(request).sign_in
        if flow is None:
            raise PageError(404, "This server has no other sign-in.")
        try:
            entered = await flow.finish(request.query_params, request.cookies.get(SIGN_IN_COOKIE), client_of(request))
        except UnauthenticatedError as error:
            _log.info("sign-in refused", reason=error.reason)
            # As above: most details of a bad answer are only for the log.
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
                # Browsers send the cookie only if one of our own pages led here, so the way goes over
                # such a page.
                here = {"here": next_of(entered.next)}
                answer = _with_cookie(await render("arrived", self._version, here), entered.token)
        answer.delete_cookie(SIGN_IN_COOKIE, secure=True, httponly=True, samesite="lax", path="/")
        return answer

    async def sign_out(self, request: Request) -> Response:
        """Delete the key and the drafts of forms that the browser keeps."""
        answer = leave(RedirectResponse("/ui/sign-in?out=1", 303, HEADERS))
        answer.headers["Clear-Site-Data"] = '"storage"'
        return answer

    async def open(self, request: Request) -> Response:
        """The page to which ``memtrace ui`` leads; its script posts the code after ``#``."""
        return await render("open", self._version, {})

    async def take_code(self, request: Request) -> Response:
        """Sign in the browser that has the code."""
        code = (await form_of(request, _SIGN_IN_BYTES)).get("code", "")
        opening = self._opening
        key = opening.take(code) if opening is not None else None
        if opening is None or key is None:
            told = "This way in was used already, or is too old. Sign in with a key, or run memtrace ui again."
            return await self._form(request, "/ui", 401, told)
        return _enter(key, opening.page)

    async def invitation(self, request: Request) -> Response:
        """The page of an invitation; its script takes the code from the part of the address after ``#``."""
        return await self._invitation(next_of(request.query_params.get("next")))

    async def accept(self, request: Request) -> Response:
        """Make the key of whoever has the code of an invitation, sign them in, and show the key once."""
        form = await form_of(request, _SIGN_IN_BYTES)
        next_, client = next_of(form.get("next")), client_of(request)
        platform = platform_of(request)
        if client is not None:
            await self._codes.hit(client)
        try:
            key, kept = await accept_invitation(platform.database, form.get("code", ""), request_id_of(request))
        except UnauthenticatedError as error:
            _log.info("invitation refused", reason=error.reason)
            return await self._invitation(next_, 401, words.sentence(str(error)))
        request.state.actor = f"key:{kept.id}"
        values = {"next": next_, "key": key, "kept": kept, "ends": kept.expires_at}
        return _with_cookie(await render("invited", self._version, values), key)

    async def _invitation(self, next_: str, status: int = 200, problem: str = "") -> Response:
        return await render("invitation", self._version, {"next": next_, "problem": problem}, status)

    async def _form(self, request: Request, next_: str, status: int = 200, problem: str = "") -> Response:
        platform = platform_of(request)
        tokens, flow = platform.settings.oidc_issuer is not None, platform.sign_in
        values = {
            "next": next_,
            "problem": problem,
            "tokens": tokens,
            "issuer": None if flow is None else flow.name,
            "is_out": "out" in request.query_params and not problem,
            # The sign-in took too long, or a link of somebody else led here.
            "is_sent": next_ != "/ui" and not problem,
        }
        return await render("sign_in", self._version, values, status)
