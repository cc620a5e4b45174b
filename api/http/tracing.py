"""The server's own traces with OpenTelemetry, if the settings name an endpoint (extra ``otel``).

A span has the method, the route's template, the status and the request's id. It has no path, query string, header, body
or text of an error, because these may contain values of memories.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.routing import UNMATCHED, method_of, route_of
from schema.errors import InputError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

    from api.settings import Settings

SERVICE = "memtrace"
_SCOPE = "memtrace.server"


class Tracing:
    """Makes spans of requests."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider

    def middleware(self, app: ASGIApp) -> ASGIApp:
        """An application whose requests become spans."""
        from opentelemetry.trace import SpanKind, Status, StatusCode
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        tracer = self._provider.get_tracer(_SCOPE)
        propagator = TraceContextTextMapPropagator()

        async def traced(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] == "lifespan":
                await app(scope, receive, send)
                return
            status = 0

            async def watch(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                await send(message)

            with tracer.start_as_current_span(
                method_of(scope),
                propagator.extract(_carrier(scope)),
                SpanKind.SERVER,
                record_exception=False,
                set_status_on_exception=False,
            ) as span:
                try:
                    await app(scope, receive, watch)
                finally:
                    route = route_of(scope)
                    span.update_name(f"{method_of(scope)} {route}" if route != UNMATCHED else method_of(scope))
                    span.set_attribute("http.request.method", method_of(scope))
                    span.set_attribute("http.route", route)
                    span.set_attribute("memtrace.request_id", scope["state"]["request_id"])
                    if status:
                        span.set_attribute("http.response.status_code", status)
                    if status >= 500 or (status == 0 and scope["type"] == "http"):
                        span.set_status(Status(StatusCode.ERROR))

        return traced

    def stop(self) -> None:
        """Send the remaining spans."""
        self._provider.shutdown()


def tracing_of(settings: Settings) -> Tracing | None:
    """The tracing of the settings; None without an endpoint.

    Raises:
        InputError: the extra is not installed.
    """
    if settings.otlp_endpoint is None:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise InputError("settings", "otlp_endpoint", "install memtrace-platform[otel] for it") from None
    provider = TracerProvider(resource=Resource.create({"service.name": SERVICE}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(settings.otlp_endpoint)))
    return Tracing(provider)


def _carrier(scope: Scope) -> dict[str, str]:
    """Only the header with the ids of the caller's trace. The second header of W3C trace context holds free text."""
    name = "traceparent"
    given = Headers(scope=scope).get(name)
    return {name: given} if given else {}
