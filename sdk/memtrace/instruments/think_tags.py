"""Parts the reasoning from a reply that has both in one text, between tags: ``<think>...</think>``.

A model writes such tags if its server does not parse the reasoning. Some templates end the prompt with the opening
tag; then the reply has the closing tag only.
"""

from __future__ import annotations

import re

_OPENING = re.compile(r"<(think(?:ing)?|thought|reasoning)>")
_WITHOUT_OPENING = "think"


def parted(text: str) -> tuple[str, str]:
    """The reasoning and the rest of a reply; the reasoning is empty where the text has no tags, or nothing else."""
    written = text.lstrip()
    opening = _OPENING.match(written)
    name = opening[1] if opening else _WITHOUT_OPENING
    thought, closing, said = written[opening.end() if opening else 0 :].partition(f"</{name}>")
    is_inside = not opening and f"<{name}>" in thought  # the text tells of tags
    if not closing or is_inside or not said.strip():
        return "", text
    return thought.strip(), said.lstrip()
