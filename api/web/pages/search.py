"""The page that searches variables by words: memory units and messages first, the same text once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from api.web.pages import words
from api.web.pages.shown import PageRequest, Shown
from attribution.text.alike import groups
from schema.kinds import VariableKind

Found = Mapping[str, Any]

MOST = 200
"""The most hits of a search; the GraphQL document has the same number."""
_WIDTH = 240
_SECTIONS = (
    ("Memory units", frozenset({VariableKind.MEMORY_UNIT, VariableKind.BUFFER})),
    ("Messages", frozenset({VariableKind.MESSAGE})),
    ("Questions and answers", frozenset({VariableKind.QUERY, VariableKind.ANSWER, VariableKind.GOLD_ANSWER})),
)
_REST = "Prompts, replies of models and other values"


@dataclass(frozen=True, slots=True)
class Section:
    """The hits of some kinds, in groups of almost the same text, the best group first."""

    title: str
    groups: list[list[Found]] = field(default_factory=list)


async def search(asked: PageRequest) -> Shown:
    """The results; without words, the form alone."""
    text = asked.said("text") or ""
    found = await asked.viewer.ask_project("search", asked.project, text=text, search=bool(text.strip()))
    hits = found["project"].get("search")
    values = {
        "it": found["project"],
        "text": text,
        "count": None if hits is None else len(hits),
        "most": MOST,
        "sections": sections(hits or (), text),
    }
    return Shown("search", values)


def sections(hits: Sequence[dict[str, Any]], text: str) -> list[Section]:
    """Hits, the best first, by kind; what is recalled and said comes before what models wrote of it."""
    found = []
    known = frozenset().union(*(kinds for _, kinds in _SECTIONS))
    for title, kinds in (*_SECTIONS, (_REST, None)):
        some = [hit for hit in hits if (hit["variable"]["kind"] in kinds if kinds else _is_other(hit, known))]
        if some:
            some = [hit | {"excerpt": _excerpt(hit, text)} for hit in some]
            texts = [words.said(hit["variable"]["preview"], 600) for hit in some]
            found.append(Section(title, [[some[place] for place in group] for group in groups(texts)]))
    return found


def _excerpt(hit: Found, text: str) -> str:
    """The part of what a hit says around the first of the words; empty if its name says all of it."""
    more = words.more(hit["variable"], 10 * _WIDTH)
    places = [at for word in text.lower().split() if (at := more.lower().find(word)) >= 0]
    if not more or not places:
        return words.cut(more, _WIDTH)
    start = max(0, min(places) - _WIDTH // 3)
    return ("…" if start else "") + words.cut(more[start:], _WIDTH)


def _is_other(hit: Found, known: frozenset[VariableKind]) -> bool:
    return hit["variable"]["kind"] not in known
