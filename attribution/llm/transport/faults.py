"""Why an attempt failed, and whether another one may help."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Any

import openai

from attribution.llm.transport.dialect import too_long
from attribution.llm.transport.errors import LlmError, Problem

_PASSING = frozenset({408, 409, 425, 429})
_FIRST_SERVER_FAULT = 500
_OUT_OF_MONEY = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
_TOO_LONG = frozenset({400, 413, 422})
_UNSUPPORTED = frozenset({400, 422, 501})
_MESSAGE_CHARACTERS = 300
_NEVER_SENT = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout", "UnsupportedProtocol", "LocalProtocolError"})


@dataclass(frozen=True, slots=True)
class Fault:
    """A failed attempt.

    Attributes:
        passing: whether the next attempt may succeed.
        paid: whether the server may have charged for the attempt.
        wait: seconds that the server asks to wait; None if unknown.
        status: the status of the server's answer, if that is the reason.
    """

    kind: Problem
    message: str
    passing: bool
    paid: bool
    wait: float | None = None
    status: int | None = None

    def error(self) -> LlmError:
        """The error to raise."""
        return LlmError(self.kind, self.message, self.status)


def timed_out(seconds: float) -> Fault:
    """The server did not answer in time."""
    return Fault(Problem.TIMEOUT, f"the server did not answer within {seconds:.6g} s", passing=True, paid=True)


def malformed(error: Exception) -> Fault:
    """The server's response violates the protocol."""
    message = f"the server's answer is malformed ({type(error).__name__})"
    return Fault(Problem.MALFORMED, message, passing=True, paid=True)


class UnreadableReplyError(Exception):
    """The body of a response is not read to its end: it is too long, or compressed."""


def unreadable(error: UnreadableReplyError) -> Fault:
    """The server's response was not read, because it is too long or packed; asking again would not help."""
    return Fault(Problem.UNREADABLE, str(error), passing=False, paid=True)


def fault_of(error: openai.OpenAIError, seconds: float, conceal: Callable[[str], str]) -> Fault:
    """The fault for an error of the client. Its message has neither request nor headers.

    Args:
        error: raised by the client.
        seconds: the time limit of the request.
        conceal: removes secrets from the server's message.
    """
    cause = type(error.__cause__).__name__
    if isinstance(error, openai.APIStatusError):
        return _status_fault(error, conceal)
    if isinstance(error, openai.APITimeoutError):
        return replace(timed_out(seconds), paid=cause not in _NEVER_SENT)
    if isinstance(error.__cause__, UnreadableReplyError):
        return unreadable(error.__cause__)
    if isinstance(error, openai.APIConnectionError):
        message = f"the server can't be reached ({cause})"
        return Fault(Problem.CONNECTION, message, passing=True, paid=cause not in _NEVER_SENT)
    return malformed(error)


def _status_fault(error: openai.APIStatusError, conceal: Callable[[str], str]) -> Fault:
    status = error.status_code
    said = conceal(server_message(error.body))
    shown = f"the server answered {status}" + (f": {said}" if said else "")
    if error.code == "context_length_exceeded" or (status in _TOO_LONG and too_long(said)):
        return Fault(Problem.CONTEXT, shown, passing=False, paid=False, status=status)
    if error.code == "content_filter":
        return Fault(Problem.REFUSED, shown, passing=False, paid=False, status=status)
    if status in _UNSUPPORTED:
        return Fault(Problem.UNSUPPORTED, shown, passing=False, paid=False, status=status)
    passing = (status in _PASSING or status >= _FIRST_SERVER_FAULT) and error.code not in _OUT_OF_MONEY
    wait = _retry_after(error.response.headers.get("retry-after-ms"), error.response.headers.get("retry-after"))
    return Fault(Problem.STATUS, shown, passing=passing, paid=False, wait=wait, status=status)


def server_message(body: Any) -> str:
    """The message inside the body of an error, in one short line."""
    if not isinstance(body, dict):
        return ""
    nested = body.get("error")
    for said in (
        body.get("message"),
        body.get("detail"),
        nested.get("message") if isinstance(nested, dict) else nested,
    ):
        if isinstance(said, str) and said:
            line = re.sub(r"[\s\x00-\x1f\x7f-\x9f]+", " ", said).strip()
            return line if len(line) <= _MESSAGE_CHARACTERS else line[:_MESSAGE_CHARACTERS] + "…"
    return ""


def _retry_after(milliseconds: str | None, text: str | None) -> float | None:
    """Seconds to wait, from ``Retry-After-Ms`` or ``Retry-After`` (RFC 9110, 10.2.3: seconds or a date)."""
    for value, divisor in ((milliseconds, 1000), (text, 1)):
        try:
            seconds = float(value or "") / divisor
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(seconds, 0.0)
    try:
        return max(parsedate_to_datetime(text or "").timestamp() - time.time(), 0.0)
    except (ValueError, OverflowError):
        return None
