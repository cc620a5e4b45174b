"""One websocket of ``graphql-transport-ws``: reads its messages, and reports errors as the protocol demands.

The protocol has two words for what goes wrong: an operation that does not begin ends with ``error`` and the reasons,
and a client that does not speak the protocol is sent away with a code. Strawberry's own handler ends some of the first
with ``complete`` and no word, and breaks off at some of the second.
"""

from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import Any, Protocol, cast

from graphql import GraphQLError
from starlette.websockets import WebSocketDisconnect, WebSocketState
from strawberry.asgi import ASGIWebSocketAdapter
from strawberry.http.exceptions import NonTextMessageReceived, WebSocketDisconnected
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import BaseGraphQLTransportWSHandler, Operation
from strawberry.subscriptions.protocols.graphql_transport_ws.types import ConnectionInitMessage, SubscribeMessagePayload
from strawberry.types.execution import PreExecutionError
from strawberry.utils.aio import aclosing

from api.graphql.context import Context
from api.graphql.limits import CODE
from api.graphql.public_errors import public_error
from api.graphql.requests import Complete, ConnectionInit, Message, Ping, Subscribe, read_message
from api.graphql.trusted import TrustedDocuments
from schema.errors import InputError

_REASON_BYTES = 123
"""What a closing frame has room for."""


_FORBIDDEN = 4403


class SocketRefusedError(Exception):
    """The client is not let in; the message says why, in words that it may read."""


class Adapter(ASGIWebSocketAdapter):
    """The websocket's side of the server: messages in and out."""

    async def iter_json(self, *, ignore_parsing_errors: bool = False) -> AsyncGenerator[object, None]:
        """The messages as they arrive; instead of a malformed one, the error that says what is wrong with it."""
        try:
            while self.ws.application_state != WebSocketState.DISCONNECTED:
                text = await self.ws.receive_text()
                try:
                    yield read_message(text)
                except InputError as error:
                    yield error
        except KeyError:
            raise NonTextMessageReceived from None
        except WebSocketDisconnect:
            pass

    async def send_json(self, message: Mapping[str, object]) -> None:
        """Send a message, unless the socket is closed by now."""
        if self.ws.application_state == WebSocketState.DISCONNECTED:
            raise WebSocketDisconnected
        await super().send_json(message)

    async def close(self, code: int, reason: str) -> None:
        """Close with a code; a reason that is too long for a closing frame is cut."""
        await super().close(code, reason.encode()[:_REASON_BYTES].decode(errors="ignore"))


class Handler(BaseGraphQLTransportWSHandler[Context, None]):
    """The protocol's side."""

    async def handle_message(self, message: Any) -> None:
        """Do what a message asks, as ``Adapter.iter_json`` gave it."""
        await self._handle(message)

    async def handle_connection_init(self, message: ConnectionInitMessage) -> None:
        """Let in who may ask; others are told why they are not."""
        try:
            await super().handle_connection_init(message)
        except SocketRefusedError as error:
            await self.websocket.close(code=_FORBIDDEN, reason=str(error))

    async def run_operation(self, operation: Operation[Context, None]) -> None:
        """Run one operation to its end: each of its results, then ``complete``; or ``error``, where it can't be run."""
        try:
            results = await self.schema.stream(
                operation.query,
                variable_values=operation.variables,
                context_value=self.context,
                operation_name=operation.operation_name,
            )
            async with aclosing(results):
                async for result in results:
                    if isinstance(result, PreExecutionError):
                        await operation.send_initial_errors(result.errors or [])
                        return
                    await operation.send_next(result)  # type: ignore[arg-type]  # frames of @defer are not switched on
            await operation.send_operation_message({"id": operation.id, "type": "complete"})
        except WebSocketDisconnected:
            self.operations.pop(operation.id, None)
        except Exception as error:
            # What kept it from running is reported in the protocol's form; unexpected errors are masked.
            with suppress(WebSocketDisconnected):
                await operation.send_initial_errors([public_error(error)])

    async def _handle(self, message: Message | InputError) -> None:
        match message:
            case InputError():
                await self.handle_invalid_message(str(message))
            case ConnectionInit():
                await self.handle_connection_init({"type": "connection_init", "payload": message.payload or {}})
            case Ping():
                await self.handle_ping({"type": "ping"})
            case Complete():
                await self.handle_complete({"type": "complete", "id": message.id})
            case Subscribe():
                await self._subscribe(message)

    async def _subscribe(self, message: Subscribe) -> None:
        asked = message.payload
        query = asked.query
        if query is None and self.connection_acknowledged and message.id not in self.operations:
            try:
                query = self._find(asked.extensions)
            except InputError as error:
                await self.send_message({"id": message.id, "type": "error", "payload": [public_error(error).formatted]})
                return
        most = self.max_subscriptions_per_connection
        is_new = message.id not in self.operations  # else it is a mistake that ends the connection
        if self.connection_acknowledged and is_new and most is not None and len(self.operations) >= most:
            reason = GraphQLError(
                f"a websocket carries at most {most} operations at a time", extensions={"code": CODE, "limit": most}
            )
            await self.send_message({"id": message.id, "type": "error", "payload": [reason.formatted]})
            return
        payload: SubscribeMessagePayload = {
            "query": query or "",
            "variables": asked.variables,
            "operationName": asked.operation_name,
        }
        await self.handle_subscribe({"id": message.id, "type": "subscribe", "payload": payload})

    def _find(self, extensions: dict[str, Any] | None) -> str | None:
        return cast("_View", self.view).trusted.find(extensions)


class _View(Protocol):
    @property
    def trusted(self) -> TrustedDocuments: ...
