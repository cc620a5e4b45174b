"""GraphQL over HTTP and over websockets (``graphql-transport-ws``)."""

from collections import Counter
from datetime import timedelta
from functools import partial
from typing import Any

import msgspec
from cross_web import HTTPException
from fastapi import APIRouter
from starlette.exceptions import HTTPException as Refusal
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.websockets import WebSocket
from strawberry.fastapi import GraphQLRouter
from strawberry.http import GraphQLRequestData
from strawberry.subscriptions import GRAPHQL_TRANSPORT_WS_PROTOCOL

from api.auth.access import Access
from api.auth.browsers import authorization_of
from api.errors import RateLimitedError, UnauthenticatedError
from api.graphql.answering import Answering
from api.graphql.context import Context
from api.graphql.documents import Documents
from api.graphql.guard import Guard
from api.graphql.limits import Limits
from api.graphql.requests import read_request
from api.graphql.schema import Schema, make_schema
from api.graphql.socket import Adapter, Handler, SocketRefusedError
from api.graphql.trusted import TrustedDocuments
from api.http.dependencies import access_of, asker_of, client_of, platform_of
from api.http.windows import in_windows
from api.settings import Settings

_INIT_WAIT = timedelta(seconds=10)
_SOCKETS = 50
"""Open websockets of one principal, at most."""


def guarded_schema(settings: Settings, trusted: TrustedDocuments) -> Schema:
    """The schema, with all checks and bounds of operations.

    Args:
        settings: the server's.
        trusted: documents that may run; see ``TrustedDocuments``.
    """
    documents = Documents(limits_of(settings), settings.introspection)
    guard: Any = partial(Guard, documents, settings.request_seconds, trusted, Answering())
    return make_schema(guard)


def graphql_router(settings: Settings, schema: Schema, trusted: TrustedDocuments) -> APIRouter:
    """The route ``/graphql``; see ``guarded_schema``."""
    return Router(
        schema,
        path="/graphql",
        trusted=trusted,
        graphql_ide=None,  # api.web.explorer serves our own page
        allow_queries_via_get=False,
        context_getter=_context,
        subscription_protocols=[GRAPHQL_TRANSPORT_WS_PROTOCOL],
        connection_init_wait_timeout=_INIT_WAIT,
        max_subscriptions_per_connection=settings.graphql_subscriptions,
        allowed_origins=settings.cors_origins,
    )


def limits_of(settings: Settings) -> Limits:
    """The bounds of documents. Some bounds have no setting: they bound the work of validation."""
    return Limits(
        characters=50_000,
        tokens=settings.graphql_tokens,
        depth=settings.graphql_depth,
        aliases=settings.graphql_aliases,
        fields=500,
        repeats=5,
        operations=50,
        cost=settings.graphql_cost,
    )


async def _context(connection: HTTPConnection) -> Context:
    """The context of a request.

    A websocket has no principal until its first message, since browsers can't send it a header.
    """
    platform, client = platform_of(connection), client_of(connection)
    if connection.scope["type"] == "websocket":
        return Context(platform, None, authorization_of(connection), client, is_sent=True)
    access = await access_of(connection)
    return Context(platform, access, asker_of(connection).authorization, client, is_sent=True)


class Router(GraphQLRouter[Context, None]):
    """Strawberry's router with our errors, documents and websockets."""

    websocket_adapter_class = Adapter
    graphql_transport_ws_handler_class = Handler

    def __init__(self, *args: Any, trusted: TrustedDocuments, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.trusted = trusted
        self._sockets: Counter[str] = Counter()

    def encode_json(self, data: object) -> str:
        """A message of a websocket as text."""
        return msgspec.json.encode(data).decode()

    def create_response(self, response_data: Any, sub_response: Response) -> Response:
        """The response with an answer. The lists of the answer are JSON already, so encoding only copies them."""
        response = Response(
            msgspec.json.encode(response_data), sub_response.status_code or 200, media_type="application/json"
        )
        response.headers.raw.extend(sub_response.headers.raw)
        return response

    async def run(self, request: Any, context: Any = None, root_value: Any = None) -> Any:
        """Answer a request, or serve a websocket until it is closed."""
        try:
            answer = await super().run(request, context, root_value)
            return in_windows(answer, context.platform.copies) if isinstance(answer, Response) else answer
        except HTTPException as error:
            raise Refusal(error.status_code, error.reason) from error
        finally:
            if isinstance(request, WebSocket) and context.is_known:
                self._sockets[context.access.principal.actor] -= 1

    async def parse_http_body(self, request: Any) -> GraphQLRequestData:
        """Read a request. A trusted document that the request names is put in its place."""
        if request.method == "GET":
            raise HTTPException(400, "queries are not allowed when using GET: send them with POST")
        if "application/json" not in (request.content_type or ""):
            raise HTTPException(400, "Unsupported content type: application/json is needed")
        asked = read_request(await request.get_body())
        query = self.trusted.find(asked.extensions) if asked.query is None else asked.query
        return GraphQLRequestData(query, asked.variables, asked.operation_name, asked.extensions)

    async def on_ws_connect(self, context: Context) -> dict[str, object] | None:
        """Find the principal of a websocket: by the header, the cookie or the first message's token."""
        said = context.connection_params.get("authorization") if isinstance(context.connection_params, dict) else None
        context.token = said if isinstance(said, str) else context.token
        try:
            principal = await context.platform.verifier.verify(context.token, context.client)
        except (UnauthenticatedError, RateLimitedError) as error:
            raise SocketRefusedError(str(error)) from None
        if self._sockets[principal.actor] >= _SOCKETS:
            raise SocketRefusedError(f"{_SOCKETS} websockets of one principal are open: close some")
        self._sockets[principal.actor] += 1
        context.access = Access(context.platform.database, principal)
        return None
