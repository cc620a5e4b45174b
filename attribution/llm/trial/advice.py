"""What to do about an error of a model's server, in words."""

from __future__ import annotations

from collections.abc import Sequence

from attribution.llm.transport.errors import LlmError, Problem
from attribution.llm.transport.listed import Listed
from attribution.llm.transport.settings import LlmSettings

_SHOWN = 10
_NAME = 100


def advised(error: LlmError, settings: LlmSettings, listed: Sequence[Listed] | None) -> str:
    """The error, and what to do about it.

    Args:
        error: of the first request that the model did not answer.
        settings: of the model.
        listed: models that the server lists; None if it lists none.
    """
    advice = _advice(error, settings, listed)
    return f"{error}. {advice}" if advice else str(error)


def _advice(error: LlmError, settings: LlmSettings, listed: Sequence[Listed] | None) -> str:
    if error.status in {401, 403}:
        if settings.key() is None:
            return "The server wants a key: set MEMTRACE_LLM_API_KEY or MEMTRACE_LLM_API_KEY_FILE."
        return "The server does not accept the key in MEMTRACE_LLM_API_KEY or MEMTRACE_LLM_API_KEY_FILE."
    if error.status == 402:
        return "The account has no money left."
    if is_unlisted(settings.model, listed):
        return f"MEMTRACE_LLM_MODEL is {settings.model!r}, which the server does not list. {names(listed)}"
    if error.status in {404, 405}:
        return _no_such_address(settings) if not listed else "MEMTRACE_LLM_BASE_URL or MEMTRACE_LLM_MODEL is wrong."
    if error.status == 429:
        return "It allows fewer requests than it gets, or the account is used up: try later, or lower CONCURRENCY."
    if error.kind is Problem.CONNECTION:
        return f"Is a server running at {settings.base_url} (MEMTRACE_LLM_BASE_URL)?"
    if error.kind is Problem.TIMEOUT:
        return "The model is slow, or the server has much to do: MEMTRACE_LLM_TIMEOUT allows more seconds."
    if error.kind in {Problem.MALFORMED, Problem.UNREADABLE}:
        return _no_such_address(settings)
    return ""


def is_unlisted(model: str, listed: Sequence[Listed] | None) -> bool:
    """Whether the server lists models, and not this one."""
    return bool(listed) and not any(model in one.names for one in listed or ())


def names(listed: Sequence[Listed] | None) -> str:
    """The names of the listed models, in a sentence."""
    shown = [one.names[-1][:_NAME] for one in (listed or ())[:_SHOWN]]
    more = f" and {len(listed) - _SHOWN:,} others" if listed and len(listed) > _SHOWN else ""
    return f"It lists {', '.join(shown)}{more}." if shown else ""


def _no_such_address(settings: LlmSettings) -> str:
    ending = "" if settings.base_url.rstrip("/").endswith("/v1") else " Most servers want /v1 at the end."
    return f"Does {settings.base_url} (MEMTRACE_LLM_BASE_URL) speak OpenAI's chat completions?{ending}"
