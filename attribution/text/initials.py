"""Names and their initials, such as ``United Kingdom`` and ``UK``."""

from __future__ import annotations

import re

from attribution.text.tokens import tokens

_INITIALS = re.compile(r"\b[A-Z](?:\.?[A-Z]){1,5}\b")
_NAME = re.compile(r"\b[^\W\d_a-z]\w+(?:(?:\s+(?:of|and|the|de|du|des|der|la|di|e|y|et|und))*(?:\s+|-)[^\W\d_a-z]\w+)+")
"""Two or more capitalised words, with small words between them."""
_SHORT = frozenset({"UK", "US", "EU", "UN", "NY", "LA", "DC"})
"""Initials of two letters that are known. Others meet a name by chance: ``5 PM`` is no ``Peter Maier``."""


def spelled_out(text: str, other: str) -> set[str]:
    """The stems of a text's words that another text has as a whole name or as its initials."""
    found = set()
    for name, initials in ((text, other), (other, text)):
        short = {match.group().replace(".", "") for match in _INITIALS.finditer(initials)}
        short = {one for one in short if len(one) > 2 or one in _SHORT}
        for match in _NAME.finditer(name) if short else ():
            first = "".join(word[0] for word in re.split(r"[\s-]+", match.group()) if word[0].isupper())
            if first in short:
                found |= {one.stem for one in tokens(match.group() if name is text else first)}
    return found
