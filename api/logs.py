"""Structured logs on standard output: one line an event, in JSON or in text.

A log has no bodies, query strings, headers or API keys: text in the form of a key is masked. The text of an unexpected
error may quote values, so it is logged only at level ``debug``. The type and the place of an error are always logged.
"""

from __future__ import annotations

import atexit
import io
import json
import logging
import sys
import traceback
from typing import Any, Literal

from api.auth.keys import mask_keys
from api.log_lines import LineHandler, LineWriter
from api.processes.light_imports import without

# structlog would load Rich, Pygments and attrs for coloured tracebacks, which these logs don't have.
with without("rich"):
    import structlog
    from structlog.typing import EventDict, Processor, WrappedLogger

_QUIET = ("httpx", "httpcore", "asyncio", "limits", "opentelemetry")
"""Libraries whose ``info`` messages don't help the operator of a server."""

_FRAMES = 12

_writers: list[LineWriter] = []
"""The writers of this process; only the last is open."""


def set_up_logs(level: Literal["debug", "info", "warning", "error"], form: Literal["json", "text"]) -> None:
    """Send the logs of the platform and of its libraries to standard output, in the same form."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _Errors(with_text=level == "debug"),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = _handler()
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _tidy, _Renderer(form)],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
        # At debug it writes every frame of a websocket.
        logger.setLevel(max(logging.INFO, root.level))
    logging.getLogger("uvicorn.error").addFilter(_is_no_websocket)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    for name in ("neo4j", "neo4j.notifications", "strawberry"):
        logging.getLogger(name).setLevel(logging.ERROR)


def dropped_lines() -> int:
    """How many lines of this process's log were dropped because standard output took no more."""
    return sum(writer.dropped for writer in _writers)


def _handler() -> logging.Handler:
    """A handler that never waits for standard output. Without a real standard output, as in tests, a plain one."""
    for writer in _writers:
        writer.close()
    try:
        sys.stdout.flush()
        descriptor = sys.stdout.fileno()
    except io.UnsupportedOperation:
        return logging.StreamHandler(sys.stdout)
    writer = LineWriter(descriptor, _tell_dropped)
    _writers.append(writer)
    atexit.register(writer.close)
    return LineHandler(writer)


def _tell_dropped(lines: int) -> None:
    structlog.get_logger("memtrace.logs").warning("lines of this log were dropped: nobody read it", lines=lines)


def error_fields(error: BaseException) -> dict[str, Any]:
    """The fields of an unexpected error: its type, and its places in the code."""
    frames = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
    return {"error": type(error).__name__, "frames": frames[-_FRAMES:]}


def _is_no_websocket(record: logging.LogRecord) -> bool:
    """Drops uvicorn's lines about websockets, because they show query strings; the platform logs websockets itself."""
    return '"WebSocket %s"' not in str(record.msg)


class _Renderer:
    """Renders an event as a line, without API keys, control characters and line breaks."""

    def __init__(self, form: Literal["json", "text"]) -> None:
        self._escaped = _in_json if form == "json" else _in_text
        self._render: Any = (
            structlog.processors.JSONRenderer(ensure_ascii=False)
            if form == "json"
            else structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"], drop_missing=True)
        )

    def __call__(self, logger: WrappedLogger, name: str, event: EventDict) -> str:
        line: str = mask_keys(self._render(logger, name, event))
        if line.isprintable():
            return line
        return "".join(one if one.isprintable() else self._escaped(one) for one in line)


def _in_json(character: str) -> str:
    return json.dumps(character)[1:-1]


def _in_text(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


class _Errors:
    """Replaces an error by its type and its places in the code."""

    def __init__(self, with_text: bool) -> None:
        self._with_text = with_text

    def __call__(self, logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
        found = event.pop("exc_info", None)
        if found is True:
            found = sys.exc_info()
        error = found[1] if isinstance(found, tuple) else found
        if isinstance(error, BaseException):
            event.update(error_fields(error))
            if self._with_text:
                event["error_text"] = str(error)
        # Otherwise the formatter of the standard library appends the whole traceback.
        record = event.get("_record")
        if record is not None:
            record.exc_info, record.exc_text, record.stack_info = None, None, None
        return event


def _tidy(logger: WrappedLogger, name: str, event: EventDict) -> EventDict:
    """Drop fields for terminals, and turn values without a form in ``logfmt`` into text."""
    event.pop("color_message", None)
    return event
