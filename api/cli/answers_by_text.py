"""Finds answers by their texts."""

from __future__ import annotations

from schema.kinds import VariableKind
from schema.models import Variable
from schema.readable import readable
from schema.words import words
from store.contract.protocol import GraphStore
from store.shared.paging import elements

_MOST = 1_000
_FEWEST_WORDS = 2
"""One word names no answer."""


async def answers_in_words(store: GraphStore, text: str, trace_id: str | None) -> list[Variable]:
    """The answers with exactly these words, in any case of letters; without one, the answers that have all words."""
    wanted = words(text)
    if len(wanted) < _FEWEST_WORDS:
        return []
    hits = await store.search(text, trace_id, _MOST)
    found = [hit.variable for hit in hits if hit.variable.kind is VariableKind.ANSWER]
    # A search finds an answer of a text once; others of the same trace may have the same text.
    hashes = {(one.trace_id, one.value_hash) for one in found}
    answers = [
        one
        for id_ in dict.fromkeys(one.trace_id for one in found)
        for one in await elements(store, Variable, id_, [VariableKind.ANSWER.value])
        if (id_, one.value_hash) in hashes
    ]
    exact = [one for one in answers if words(readable(one.preview)) == wanted]
    return exact or [one for one in answers if set(wanted) <= set(words(readable(one.preview)))]
