"""The story of a wrong answer in one sentence and a few cards: said, extracted, stored, lost, answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from api.web.pages import words
from attribution.text.said import text_of
from schema.kinds import ErrorType

Found = Mapping[str, Any]
Parts = Sequence[tuple[str, str]]
"""Texts with the state of each: ``same``, ``mark`` (the needed words), ``gone`` or ``new``."""

MOST_CARDS = 6
_WIDTH = 220
_TITLES = {
    "Message": "Said",
    "MemoryUnit": "In the memory",
    "RetrievalResult": "Found by a search",
    "Context": "Given to the model",
    "Prompt": "In the prompt",
    "Query": "Asked",
    "Answer": "Answered",
    "GoldAnswer": "Gold answer",
}
_MADE = {"Extraction": "Extracted", "Update": "Decided", "Retrieval": "Searched", "Generation": "Written"}


@dataclass(frozen=True, slots=True)
class Card:
    """A place on the way of the needed words.

    Attributes:
        title: what happened, in a word or two.
        state: ``held``: the text has the needed words; ``lost``: the words were lost here; ``gone``: it lacks them.
        text: the text, in parts.
        operation: the operation that made the text; None for what came from outside.
        variable: the variable with the text; None for an answer or a gold answer that is no variable.
        note: a sentence below the text.
    """

    title: str
    state: str
    text: Parts
    operation: Found | None = None
    variable: Found | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """What went wrong with an answer.

    Attributes:
        parts: the sentence: texts, each with whether the text is quoted.
        operation: the operation at fault, which the sentence begins with.
        cards: the way of the needed words; empty if the verdict has no path.
    """

    parts: Sequence[tuple[str, bool]]
    operation: Found | None
    cards: Sequence[Card] = field(default=())


def story(failure: Found, verdict: Found | None, why_not: object = None) -> Story | None:
    """The story that a verdict tells; None without a verdict.

    Args:
        failure: the failure, as the document ``failure`` has it.
        verdict: the verdict that the page explains.
        why_not: the pieces of the document ``why_not``, if they are known.
    """
    if verdict is None:
        return None
    loss = _loss(verdict)
    path: Sequence[Found] = loss["path"] if loss else ()
    broken = _break(path)
    had = path[broken - 1] if broken else (path[-1] if path else None)
    ranks = _ranks(loss, why_not)
    parts = _sentence(failure, verdict, had, path[broken] if broken else None, ranks)
    return Story(parts, verdict["operation"], _cards(failure, verdict, path, broken, ranks) if path else ())


def _loss(verdict: Found) -> Found | None:
    """The piece that the sentence is about: the first that was lost where the verdict says, else the first."""
    losses: Sequence[Found] = verdict["losses"]
    at = (verdict["operation"] or {}).get("id")
    blamed = [one for one in losses if not one["reached"] and (one["operation"] or {}).get("id") == at]
    return next(iter([*blamed, *losses]), None)


def _break(path: Sequence[Found]) -> int | None:
    """The index of the step that lost the piece; None if all steps have it."""
    return next((at for at in range(1, len(path)) if path[at - 1]["holds"] and not path[at]["holds"]), None)


def _ranks(loss: Found | None, why_not: object) -> str:
    """How the search rated the unit with the needed words, in a sentence; empty if that is not known."""
    if loss is None or loss["errorType"] != ErrorType.RETRIEVAL or not isinstance(why_not, list):
        return ""
    for piece in why_not:
        if piece["piece"] != loss["piece"] or not piece["considered"]:
            continue
        said = f"rated {piece['considered']:,}, returned {piece['returnedCount']:,}"
        ranks = [unit["rank"] for unit in piece["held"] if unit["rank"] is not None and not unit["returned"]]
        if not ranks:
            return f"{said}; the unit with the needed words was not rated"
        return f"{said}; the unit with the needed words was number {min(ranks):,}: k ≥ {min(ranks):,} returns it"
    return ""


def _sentence(
    failure: Found, verdict: Found, had: Found | None, now: Found | None, ranks: str
) -> list[tuple[str, bool]]:
    """What the operation did, with the words that were lost."""
    kind = verdict["errorType"]
    lost = words.cut(had["quote"] if had and had["quote"] else _piece(verdict), _WIDTH)
    answered = words.cut(failure["prediction"] or "nothing", _WIDTH)
    gold = words.cut(" / ".join(failure["goldAnswers"]), _WIDTH)
    made = words.cut(text_of(now["variable"]["preview"]), _WIDTH) if now and now["variable"] else ""
    if kind is None:
        return [(verdict["reason"] or "It can't be decided.", False)]
    if kind == ErrorType.ANNOTATION:
        return [("the gold answer ", False), (gold, True), (" is contradicted by ", False), (lost, True)]
    if kind == ErrorType.JUDGE:
        return [("the answer ", False), (answered, True), (" says what the gold answer says: ", False), (gold, True)]
    if not lost:
        return [(verdict["reason"] or "", False)]
    if kind == ErrorType.RESPONSE:
        return [("had ", False), (lost, True), (" before it, and answered ", False), (answered, True)]
    if kind == ErrorType.RETRIEVAL:
        return [("did not return ", False), (lost, True), (f" ({ranks})" if ranks else "", False)]
    if kind == ErrorType.DELETION:
        return [("removed ", False), (lost, True)]
    verb = "replaced " if kind == ErrorType.UPDATE else "read "
    joined = " by " if kind == ErrorType.UPDATE else " and kept only "
    if made and made != lost:
        return [(verb, False), (lost, True), (joined, False), (made, True)]
    return [("lost ", False), (lost, True)]


def _piece(verdict: Found) -> str:
    loss = _loss(verdict)
    return loss["piece"] if loss else ""


def _cards(failure: Found, verdict: Found, path: Sequence[Found], broken: int | None, ranks: str) -> list[Card]:
    """The first step, the last steps that hold the piece, the break and the answer; at most ``MOST_CARDS``."""
    end = len(path) if broken is None else broken
    held = [at for at in range(end) if at in {0, end - 1} or _operation(path[at]) != _operation(path[at + 1])]
    is_answered = verdict["errorType"] not in {ErrorType.ANNOTATION, ErrorType.JUDGE}
    most = MOST_CARDS - (broken is not None) - 1
    chosen = held if len(held) <= most else [held[0], *held[len(held) - most + 1 :]]
    cards = [_held(path[at]) for at in chosen]
    if broken is not None:
        cards.append(_lost(path[broken], path[broken - 1], ranks))
    shown = path[end - 1 if broken is None else broken]["variable"]
    if shown is None or shown["kind"] != "Answer":
        state = "gone" if broken is not None or not is_answered else "lost"
        cards.append(Card("Answered", state, [(words.cut(failure["prediction"] or "nothing", _WIDTH), "same")]))
    if verdict["errorType"] == ErrorType.ANNOTATION:
        cards.append(Card("Gold answer", "lost", [(" / ".join(failure["goldAnswers"]), "same")]))
    return cards


def _held(step: Found) -> Card:
    found = step["variable"]
    text = text_of(found["preview"]) if found else ""
    quoted = words.quoted(text, step["quote"], _WIDTH // 2)
    return Card(
        _title(step),
        "held",
        [(one, "mark" if is_quote else "same") for one, is_quote in quoted],
        step["operation"],
        found,
    )


def _lost(step: Found, before: Found, ranks: str) -> Card:
    """The break: what the operation made of the text; for a unit of memory, the difference to the version before."""
    found, operation = step["variable"], step["operation"]
    text = words.cut(text_of(found["preview"]), _WIDTH) if found else ""
    if operation and operation["kind"] == "Retrieval":
        return Card("Searched", "lost", [("It was not returned.", "same")], operation, found, ranks)
    old = before["variable"]
    if found and old and found["kind"] == old["kind"] == "MemoryUnit":
        gone, new = words.changed(words.cut(text_of(old["preview"]), _WIDTH), text)
        shown = [*gone, (" → ", "same"), *new]
        return Card("Overwritten", "lost", shown, operation, found)
    return Card(_title(step), "lost", [(text or "nothing", "same")], operation, found)


def _title(step: Found) -> str:
    found, operation = step["variable"], step["operation"]
    kind = found["kind"] if found else ""
    return _TITLES.get(kind) or _MADE.get(operation["kind"] if operation else "", kind or "Lost")


def _operation(step: Found) -> str | None:
    operation = step["operation"]
    return operation["id"] if operation else None
