"""Texts of prompts, and how data is put beside them: escaped, so that no value can pass for anything but a value."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import Any

_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


@cache
def prompt(name: str) -> str:
    """The text ``attribution/llm/prompts/<name>.md``."""
    return files("attribution.llm").joinpath("prompts", f"{name}.md").read_text("utf-8").strip()


def prompt_hashes(*names: str) -> dict[str, str]:
    """SHA-256 of the texts of prompts, by name."""
    return {name: hashlib.sha256(prompt(name).encode()).hexdigest() for name in names}


def as_data(document: Any) -> str:
    """A document as JSON without any ``<``, ``>`` or ``&``.

    In JSON these stand only inside strings, where an escape means the same. So no value closes a block of data, and
    none holds one of the marks by which servers part the roles of a conversation, such as ``<|im_start|>``.
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")).translate(_ESCAPES)
    return text.encode("utf-8", "backslashreplace").decode()


def data_block(document: Any) -> str:
    """A document between the marks that the prompts speak of."""
    return f"<data>\n{as_data(document)}\n</data>"
