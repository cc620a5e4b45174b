"""Texts of prompts."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files


@cache
def prompt(name: str) -> str:
    """The text ``attribution/llm/agent/prompts/<name>.md``."""
    return files("attribution.llm.agent").joinpath("prompts", f"{name}.md").read_text("utf-8").strip()


def prompt_hashes(*names: str) -> dict[str, str]:
    """SHA-256 of the texts of prompts, by name."""
    return {name: hashlib.sha256(prompt(name).encode()).hexdigest() for name in names}
