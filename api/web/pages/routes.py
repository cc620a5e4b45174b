"""The addresses of all pages, and the errors that they share. A new page is a function and a line in ``PAGES``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import urlencode, urlsplit

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute

from api.auth.browsers import BACK, COOKIE, is_same_origin
from api.auth.keys import PREFIX
from api.errors import ForbiddenError, IssuerError, RateLimitedError, TooLargeError, UnauthenticatedError
from api.graphql.schema import Schema
from api.http.dependencies import platform_of, request_id_of
from api.logs import error_fields
from api.turns import Turns
from api.web.assets import NamedRoute
from api.web.pages import (
    about,
    answers,
    blame,
    compare,
    failure,
    failures,
    graph,
    guessed,
    impact,
    jobs,
    memory,
    operation,
    overview,
    queue,
    queue_failure,
    queues,
    search,
    settings,
    trace,
    value,
    variable,
)
from api.web.pages.asking import PageError, Viewer, viewer_of
from api.web.pages.opening import Opening
from api.web.pages.render import HEADERS, assets, render
from api.web.pages.shown import Page, PageRequest, Shown
from api.web.pages.signing import SigningPages, next_of
from schema.errors import (
    AmbiguousError,
    CorruptValueError,
    DamagedError,
    InputError,
    MemTraceError,
    NotFoundError,
    StoreError,
)

_log = structlog.get_logger("memtrace.web")

_PROJECT = "/ui/projects/{project}"
PAGES: list[tuple[str, str, Page]] = [
    ("GET", "/ui", about.home),
    ("GET", "/ui/help", about.guide),
    ("GET", "/ui/me", about.me),
    ("GET", _PROJECT, overview.overview),
    ("GET", f"{_PROJECT}/answers", answers.answers),
    ("POST", f"{_PROJECT}/answers/{{id}}/wrong", answers.mark_wrong),
    ("POST", f"{_PROJECT}/answers/{{id}}/right", answers.mark_right),
    ("GET", f"{_PROJECT}/blame", blame.blame),
    ("GET", f"{_PROJECT}/compare", compare.compare),
    ("GET", f"{_PROJECT}/failures", failures.failures),
    ("GET", f"{_PROJECT}/failures/saved", failures.saved),
    ("GET", f"{_PROJECT}/failures/{{id}}", failure.failure),
    ("POST", f"{_PROJECT}/failures/{{id}}/verdict", failure.record),
    ("GET", f"{_PROJECT}/queues", queues.queues),
    ("POST", f"{_PROJECT}/queues/new", queues.create),
    ("GET", f"{_PROJECT}/queues/{{id}}", queue.queue),
    ("POST", f"{_PROJECT}/queues/{{id}}/next", queue.next_case),
    ("POST", f"{_PROJECT}/queues/{{id}}/undo", queue.undo),
    ("POST", f"{_PROJECT}/queues/{{id}}/close", queue.close),
    ("POST", f"{_PROJECT}/queues/{{id}}/delete", queue.delete),
    ("GET", f"{_PROJECT}/queues/{{id}}/labels", queue.labels),
    ("POST", f"{_PROJECT}/queues/{{id}}/import", queue.take_labels),
    ("GET", f"{_PROJECT}/queues/{{id}}/cases/{{case}}", queue_failure.failure),
    ("POST", f"{_PROJECT}/queues/{{id}}/cases/{{case}}/verdict", queue_failure.submit),
    ("POST", f"{_PROJECT}/queues/{{id}}/cases/{{case}}/skip", queue_failure.skip),
    ("POST", f"{_PROJECT}/queues/{{id}}/cases/{{case}}/undo", queue_failure.undo),
    ("GET", f"{_PROJECT}/queues/{{id}}/disputes/{{case}}", queue_failure.dispute),
    ("POST", f"{_PROJECT}/queues/{{id}}/disputes/{{case}}/verdict", queue_failure.decide),
    ("GET", f"{_PROJECT}/search", search.search),
    ("GET", f"{_PROJECT}/settings", settings.settings),
    ("POST", f"{_PROJECT}/settings/retention", settings.set_retention),
    ("POST", f"{_PROJECT}/keys/new", settings.create_key),
    ("POST", f"{_PROJECT}/invitations/new", settings.invite),
    ("POST", f"{_PROJECT}/keys/{{id}}/revoke", settings.revoke_key),
    ("GET", f"{_PROJECT}/jobs", jobs.jobs),
    ("POST", f"{_PROJECT}/jobs/attribute", jobs.attribute),
    ("GET", f"{_PROJECT}/jobs/{{id}}", jobs.job),
    ("POST", f"{_PROJECT}/jobs/{{id}}/stop", jobs.stop),
    ("GET", f"{_PROJECT}/traces/{{id}}", trace.trace),
    ("GET", f"{_PROJECT}/traces/{{id}}/memory", memory.memory),
    ("GET", f"{_PROJECT}/operations/{{id}}", operation.operation),
    ("GET", f"{_PROJECT}/variables/{{id}}", variable.variable),
    ("GET", f"{_PROJECT}/variables/{{id}}/value", value.value),
    ("GET", f"{_PROJECT}/variables/{{id}}/impact", impact.impact),
    ("GET", f"{_PROJECT}/variables/{{id}}/graph", graph.graph),
    ("GET", f"{_PROJECT}/variables/{{id}}/graph/data", graph.graph_data),
]
"""The method, the address and the function of each page."""

_STATUS: tuple[tuple[type[Exception], int], ...] = (
    (NotFoundError, 404),
    (ForbiddenError, 403),
    (AmbiguousError, 400),
    (TooLargeError, 413),
    (RateLimitedError, 429),
    (InputError, 400),
    (CorruptValueError, 500),
    (DamagedError, 500),
    (StoreError, 503),
    (TimeoutError, 504),
)
_TOLD = {
    500: "Something went wrong in the server. Its log has more.",
    503: "The store can't be reached at the moment. Try again in a while.",
    504: "This took longer than the server allows.",
}
_ISSUER_AWAY = (
    "Who you are can't be asked at the moment: the server that signs people in does not answer as it should. Try again "
    "in a while, or sign in with a key."
)

Handler = Callable[[Request], Awaitable[Response]]

_AT_ONCE = 4
"""How many copies of one page are made for one person at the same time; further requests wait."""


def page_routes(schema: Schema, opening: Opening | None = None) -> list[BaseRoute]:
    """The routes of all pages and of their static files.

    Args:
        schema: runs the documents of the pages.
        opening: signs one browser in; see ``memtrace ui``.
    """
    files = assets()
    turns = Turns(_AT_ONCE)
    signing = SigningPages(files.version, opening)

    def route(method: str, path: str, handler: Handler) -> BaseRoute:
        return NamedRoute(path, _guarded(handler, files.version), methods=[method])

    def led(page: Page) -> Handler:
        """A handler of addresses that no page has: words that people guess lead to pages."""
        made = _made(page, schema, files.version, turns)

        async def handle(request: Request) -> Response:
            return await (made if guessed.is_guess(request.path_params["rest"]) else _nothing)(request)

        return handle

    return [
        route("GET", "/", _to_pages),
        files.route("/ui/assets"),
        route("GET", "/ui/sign-in", signing.sign_in),
        route("POST", "/ui/sign-in", signing.take_key),
        route("GET", "/ui/sign-in/issuer", signing.to_issuer),
        route("GET", BACK, signing.from_issuer),
        route("POST", "/ui/sign-out", signing.sign_out),
        route("GET", "/ui/invitation", signing.invitation),
        route("POST", "/ui/invitation", signing.accept),
        route("GET", "/ui/open", signing.open),
        route("POST", "/ui/open", signing.take_code),
        *(route(method, path, _made(page, schema, files.version, turns)) for method, path, page in PAGES),
        route("GET", f"{_PROJECT}/{{rest:path}}", led(guessed.of_project)),
        route("GET", "/ui/{rest:path}", led(guessed.of_any)),
        *(route("GET", f"/{page}{more}", _to_pages_below) for page in guessed.PAGES for more in ("", "/{rest:path}")),
    ]


def _made(page: Page, schema: Schema, version: str, turns: Turns) -> Handler:
    """Makes a request handler of a page's function.

    Args:
        page: the function.
        schema: runs the page's documents.
        version: the hash in the address of the static files.
        turns: bounds how many copies of a page are made for one person at the same time. A page asks several
            documents, and holds the answer of the first, which may have megabytes, until the page is rendered.
    """

    async def handle(request: Request) -> Response:
        viewer = await viewer_of(request, schema)
        async with turns.turn((viewer.context.access.principal.actor, page)):
            made = await page(PageRequest(viewer, request))
            return await shown(made, viewer, request) if isinstance(made, Shown) else made

    async def shown(made: Shown, viewer: Viewer, request: Request) -> Response:
        projects = viewer.projects
        frame = {
            # A viewer who may see only one project gets its navigation on all pages.
            "project": request.path_params.get("project") or (projects[0] if len(projects) == 1 else None),
            "projects": projects,
            "actor": viewer.context.access.principal.actor,
            "section": made.template,
        }
        return await render(made.template, version, frame | made.values, made.status)

    return handle


def _guarded(handler: Handler, version: str) -> Handler:
    """A handler that turns errors into pages and refuses forms from other sites."""

    async def handle(request: Request) -> Response:
        if request.method == "POST" and not is_same_origin(request):
            return await _problem(
                request, version, 403, "This was sent from a page of another site. Nothing was changed."
            )
        try:
            return await handler(request)
        except UnauthenticatedError:
            return await _sign_in(request, version)
        except PageError as error:
            return await _problem(request, version, error.status, str(error))
        except (MemTraceError, TimeoutError) as error:
            status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
            if status >= 500:
                _log.error("page failed", path=request.scope["path"], **error_fields(error))
            told = _ISSUER_AWAY if isinstance(error, IssuerError) else _TOLD.get(status, f"{error}.")
            return await _problem(request, version, status, told)
        except (ClientDisconnect, HTTPException):
            raise
        except Exception as error:
            # Logged without the traceback, as in api.http.middleware, because a traceback would show values.
            _log.error("unexpected error", path=request.scope["path"], **error_fields(error))
            return await _problem(request, version, 500, _TOLD[500])

    return handle


async def _sign_in(request: Request, version: str) -> Response:
    """To the sign-in form, and back to this page afterwards."""
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    if request.method == "POST":
        # The address of a form is not a page, so the way back leads to the page above it.
        here = here.rpartition("/")[0]
    elif COOKIE not in request.cookies and request.headers.get("sec-fetch-site") == "cross-site":
        # Browsers withhold the cookie if a link of another site led here. From our own page they send the cookie.
        return await render("arrived", version, {"here": here})
    elif _is_of_issuer(request):
        # Tokens are valid for minutes, but the issuer remembers the user, who needn't type anything again.
        return RedirectResponse(f"/ui/sign-in/issuer?{urlencode({'next': here})}", 303, HEADERS)
    return RedirectResponse(f"/ui/sign-in?{urlencode({'next': here})}", 303, HEADERS)


def _is_of_issuer(request: Request) -> bool:
    """Whether a request opens a page with a token of the issuer that has expired."""
    shown = request.cookies.get(COOKIE, "")
    is_opened = request.headers.get("sec-fetch-mode") == "navigate"
    return is_opened and bool(shown) and not shown.startswith(PREFIX) and platform_of(request).sign_in is not None


async def _problem(request: Request, version: str, status: int, told: str) -> Response:
    values = {"told": told, "code": status, "request_id": request_id_of(request), "back": _page_of(request)}
    return await render("problem", version, values, status)


def _page_of(request: Request) -> str | None:
    """The page with the form that was sent; None if no form was sent, or if no header names the page."""
    if request.method != "POST":
        return None
    said = urlsplit(request.headers.get("referer", ""))
    if said.netloc != request.headers.get("host"):
        return None
    here = next_of(said.path + (f"?{said.query}" if said.query else ""))
    return here if here.startswith(f"{said.path}") else None


async def _to_pages(_: Request) -> Response:
    return RedirectResponse("/ui", 303, HEADERS)


async def _to_pages_below(request: Request) -> Response:
    """From ``/failures`` to ``/ui/failures``."""
    query = request.url.query
    return RedirectResponse(f"/ui{request.url.path}{'?' if query else ''}{query}", 303, HEADERS)


async def _nothing(_: Request) -> Response:
    raise PageError(404, "There is no such page.")
