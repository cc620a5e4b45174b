"""One websocket of ``graphql-transport-ws``: reads its messages, and reports errors as the protocol demands.

The protocol knows two kinds of errors: an operation that can't begin ends with an ``error`` message and its reasons,
and the connection of a client that breaks the protocol is closed with a code. Strawberry's own handler ends some of
these operations with ``complete`` and no reason, and raises for some of these clients.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, suppress
from typing import Any, Protocol, cast

from graphql import GraphQLError
from starlette.websockets import WebSocketDisconnect, WebSocketState
from strawberry.asgi import ASGIWebSocketAdapter
from strawberry.http.exceptions import NonTextMessageReceived, WebSocketDisconnected
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import BaseGraphQLTransportWSHandler, Operation
from strawberry.subscriptions.protocols.graphql_transport_ws.types import ConnectionInitMessage, SubscribeMessagePayload
from strawberry.types.execution import PreExecutionError
from strawberry.utils.aio import aclosing

from api.graphql.answering import until_sent
from api.graphql.context import Context
from api.graphql.limits import CODE
from api.graphql.public_errors import public_error
from api.graphql.requests import Complete, ConnectionInit, Message, Ping, Subscribe, read_early_message, read_message
from api.graphql.trusted import TrustedDocuments
from schema.errors import InputError

_REASON_BYTES = 123
"""Bytes of a reason that fit into a closing frame."""


_FORBIDDEN = 4403

EARLY_MESSAGES = 20
"""The most messages of a client that has not said who it is: ``connection_init``, and pings."""


class SocketRefusedError(Exception):
    """The client is refused; the message gives the client the reason."""


class Adapter(ASGIWebSocketAdapter):
    """Sends and receives messages of a websocket.

    Attributes:
        is_known: whether the client has said who it is. Until then, only short messages are read.
    """

    is_known = False

    async def iter_json(self, *, ignore_parsing_errors: bool = False) -> AsyncGenerator[object, None]:
        """The messages as they arrive; for a malformed message, the error that describes the mistake.

        A client that has not said who it is may send a few messages.
        """
        early = 0
        try:
            while self.ws.application_state != WebSocketState.DISCONNECTED:
                text = await self.ws.receive_text()
                # A client may send thousands of messages at once: others have a turn after each of them.
                await asyncio.sleep(0)
                early += not self.is_known
                try:
                    if early > EARLY_MESSAGES:
                        raise InputError("message", "", f"more than {EARLY_MESSAGES} came before connection_ack")
                    yield read_message(text) if self.is_known else read_early_message(text)
                except InputError as error:
                    yield error
        except KeyError:
            raise NonTextMessageReceived from None
        except WebSocketDisconnect:
            pass

    async def send_json(self, message: Mapping[str, object]) -> None:
        """Send a message, unless the socket is closed."""
        if self.ws.application_state == WebSocketState.DISCONNECTED:
            raise WebSocketDisconnected
        await super().send_json(message)

    async def close(self, code: int, reason: str) -> None:
        """Close with a code; a reason that is too long for a closing frame is cut."""
        await super().close(code, reason.encode()[:_REASON_BYTES].decode(errors="ignore"))


class Handler(BaseGraphQLTransportWSHandler[Context, None]):
    """Handles the messages of the protocol."""

    async def handle_message(self, message: Any) -> None:
        """Handle a message or an error from ``Adapter.iter_json``."""
        await self._handle(message)

    async def handle_connection_init(self, message: ConnectionInitMessage) -> None:
        """Accept a client that has access; close the connection of others with the reason."""
        try:
            await super().handle_connection_init(message)
            cast(Adapter, self.websocket).is_known = self.connection_acknowledged
        except SocketRefusedError as error:
            await self.websocket.close(code=_FORBIDDEN, reason=str(error))

    async def run_operation(self, operation: Operation[Context, None]) -> None:
        """Run an operation: send its results, then ``complete``; or ``error`` if it can't run."""
        async with AsyncExitStack() as held:
            until_sent.set(held)
            await self._run(operation)

    async def _run(self, operation: Operation[Context, None]) -> None:
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
            # Errors before the first result are reported in the protocol's form; unexpected errors are masked.
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
        is_new = message.id not in self.operations  # otherwise the mistake ends the connection
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
