"""From the options of a command to those of the runner."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from api.cli.options import MethodName

if TYPE_CHECKING:
    from attribution.run import Options


_EMBEDDINGS = "MEMTRACE_LLM_EMBEDDING_MODEL"


def runner_options(method: MethodName, gold_free: bool, no_evidence: bool, concurrency: int) -> Options:
    """What the runner is told.

    Raises:
        InputError: the method needs a model, and the environment names none, or not rightly.
    """
    from attribution.run import Options
    from attribution.verdict import Method

    if method is MethodName.FLOW and not os.environ.get(_EMBEDDINGS):
        llm = None  # the free pass asks no server, unless evidence is to be found by meaning, too
    else:
        from attribution.llm.settings import LlmSettings

        llm = LlmSettings.load()
    return Options(
        method=Method(method.value),
        gold_free=gold_free,
        retrieve_evidence=no_evidence,
        llm=llm,
        concurrency=concurrency,
    )
