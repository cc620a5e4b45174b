"""The options of an attribution, from the chosen method and the environment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attribution.run import Options


_OLLAMA = "ollama/"
_OLLAMA_URL = "http://127.0.0.1:11434/v1"
_EMBEDDINGS = "MEMTRACE_LLM_EMBEDDING_MODEL"


def runner_options(
    method: str,
    gold_free: bool,
    no_evidence: bool,
    concurrency: int,
    min_confidence: float | None = None,
    model: str | None = None,
) -> Options:
    """The options of an attribution.

    Args:
        method: a word of ``attribution.verdicts.verdict.Method``.
        gold_free: whether to work without the gold answers.
        no_evidence: whether to search for the evidence, even where a failure names it.
        concurrency: how many failures to work on at a time.
        min_confidence: see ``Options``.
        model: in place of the environment's; ``ollama/NAME`` is a model of Ollama, on this machine unless the
            environment names a server.

    Raises:
        InputError: the method needs a model, and the environment names none, or its settings are wrong.
    """
    from attribution.run import Options
    from attribution.verdicts.verdict import Method

    if method == Method.FLOW and not os.environ.get(_EMBEDDINGS):
        llm = None  # the free pass needs a server only for evidence by meaning
    else:
        from attribution.llm.transport.settings import LlmSettings

        llm = LlmSettings.load(**_named(model))
    return Options(
        method=Method(method),
        gold_free=gold_free,
        retrieve_evidence=no_evidence,
        llm=llm,
        concurrency=concurrency,
        min_confidence=min_confidence,
    )


def _named(model: str | None) -> dict[str, str]:
    """The settings that the name of a model stands for."""
    if model is None:
        return {}
    if not model.startswith(_OLLAMA):
        return {"model": model}
    said = {"model": model.removeprefix(_OLLAMA)}
    # A server that the environment names may be an Ollama on another machine.
    return said if os.environ.get("MEMTRACE_LLM_BASE_URL") else said | {"base_url": _OLLAMA_URL}
