"""Errors of a model's server. No message contains a key or a header."""

from __future__ import annotations

from enum import StrEnum

from schema.errors import MemTraceError


class Problem(StrEnum):
    """Why a model gave no usable reply."""

    CONNECTION = "connection"
    TIMEOUT = "timeout"
    STATUS = "status"
    MALFORMED = "malformed"
    UNREADABLE = "unreadable"
    UNSUPPORTED = "unsupported"
    CONTEXT = "context"
    REFUSED = "refused"
    LENGTH = "length"
    INVALID = "invalid"


class LlmError(MemTraceError):
    """A model's server gave no usable reply, after as many attempts as the settings allow.

    Attributes:
        kind: what went wrong.
        status: the status of the server's answer, if that is the reason.
    """

    def __init__(self, kind: Problem, message: str, status: int | None = None) -> None:
        self.kind = kind
        self.status = status
        super().__init__(message)


class BudgetError(MemTraceError):
    """The next call could exceed a budget and was not made.

    Attributes:
        scope: whose budget: ``case`` or ``run``.
        kind: ``tokens``, ``calls``, ``seconds`` or ``cost``.
        limit: the most that is allowed.
        spent: usage so far, including the charges of running calls.
    """

    def __init__(self, scope: str, kind: str, limit: float, spent: float) -> None:
        self.scope = scope
        self.kind = kind
        self.limit = limit
        self.spent = spent
        shown = f"{_number(kind, spent)} of {_number(kind, limit)}"
        setting = f"MEMTRACE_LLM_{'RUN_' if scope == 'run' else ''}MAX_{kind.upper()}"
        super().__init__(f"the budget of the {scope} allows no further call: {shown} {kind} are spent ({setting})")


def _number(kind: str, amount: float) -> str:
    digits = {"seconds": 1, "cost": 4}.get(kind, 0)
    return f"{amount:,.{digits}f}"
