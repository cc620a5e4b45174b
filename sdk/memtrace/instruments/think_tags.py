"""Parts the reasoning from a reply that has both in one text, between tags: ``<think>...</think>``.

A model writes such tags if its server does not parse the reasoning. Some templates end the prompt with the opening
tag; then the reply has the closing tag only.
"""

from __future__ import annotations

import re

_TAGGED = re.compile(
    r"\s*(?:<(think(?:ing)?|thought|reasoning)>(.*?)</\1>|((?:(?!<think>).)*?)</think>)\s*(.+)", re.DOTALL
)
_CLOSING = "</"


def parted(text: str) -> tuple[str, str]:
    """The reasoning and the rest of a reply; the reasoning is empty where the text has no tags, or nothing else."""
    if _CLOSING not in text:
        return "", text
    found = _TAGGED.fullmatch(text)
    if found is None:
        return "", text
    return (found[2] or found[3] or "").strip(), found[4]
