"""The options of an attribution, from the chosen method and the environment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from attribution.run import Options


_EMBEDDINGS = "MEMTRACE_LLM_EMBEDDING_MODEL"


def runner_options(
    method: str, gold_free: bool, no_evidence: bool, concurrency: int, min_confidence: float | None = None
) -> Options:
    """The options of an attribution; ``method`` is a word of ``attribution.verdicts.verdict.Method``.

    Raises:
        InputError: the method needs a model, and the environment names none, or its settings are wrong.
    """
    from attribution.run import Options
    from attribution.verdicts.verdict import Method

    if method == Method.FLOW and not os.environ.get(_EMBEDDINGS):
        llm = None  # the free pass needs a server only for evidence by meaning
    else:
        from attribution.llm.transport.settings import LlmSettings

        llm = LlmSettings.load()
    return Options(
        method=Method(method),
        gold_free=gold_free,
        retrieve_evidence=no_evidence,
        llm=llm,
        concurrency=concurrency,
        min_confidence=min_confidence,
    )
