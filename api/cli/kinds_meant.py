"""The kinds of operations and variables, under the names that people give them."""

from __future__ import annotations

import re

from schema.kinds import OperationKind, VariableKind

_KINDS = {
    "unit": "MemoryUnit",
    "memory": "MemoryUnit",
    "fact": "MemoryUnit",
    "question": "Query",
    "reply": "Response",
} | {
    **dict.fromkeys(("extract", "extracted"), "Extraction"),
    **dict.fromkeys(("updated", "write"), "Update"),
    **dict.fromkeys(("delete", "deleted", "remove"), "Deletion"),
    **dict.fromkeys(("retrieve", "retrieved", "search", "recall", "lookup"), "Retrieval"),
    **dict.fromkeys(("generate", "generated"), "Generation"),
}


def kind_meant(word: str) -> str:
    """The kind that a word means: ``unit``, ``memory-unit`` and ``Units`` are the same."""
    plain = re.sub(r"[\s_-]", "", word).casefold()
    for kind in (*VariableKind, *OperationKind):
        for one in (plain, plain.removesuffix("s"), plain.removesuffix("ies") + "y"):
            if _KINDS.get(one, one).casefold() == kind.value.casefold():
                return str(kind.value)
    return word
