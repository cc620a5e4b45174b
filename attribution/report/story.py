"""The story of a wrong answer in one sentence and a few cards: said, extracted, stored, lost, answered."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from itertools import groupby

from msgspec.structs import replace as replaced

from attribution.report import excerpts
from attribution.report.lost_words import (
    AROUND,
    QUOTES,
    WIDTH,
    change,
    longest,
    marked,
    nearest,
    plain,
    stems,
    with_keys,
)
from attribution.report.story_model import Candidate, Card, Part, Phrase, Story
from attribution.report.told import Search, Step, Told
from attribution.report.words import cut
from attribution.text.said import text_of, texts_of
from attribution.verdicts.reasons import lost_day
from schema.kinds import MEMORY_ERRORS, STORED, ErrorType, OperationKind, VariableKind

MOST_CARDS = 6
MOST_CANDIDATES = 4
"""The most results of a search that a card shows, without the missed unit."""
_NOTHING = " and kept nothing of it"
_ANSWERED, _GOLD = "Answered", "Gold answer"
_TITLES = {
    VariableKind.MESSAGE: "Said",
    VariableKind.MEMORY_UNIT: "In the memory",
    VariableKind.BUFFER: "In the memory",
    VariableKind.RETRIEVAL_RESULT: "Found by the search",
    VariableKind.CONTEXT: "Given to the model",
    VariableKind.PROMPT: "In the prompt",
    VariableKind.QUERY: "Asked",
    VariableKind.ANSWER: _ANSWERED,
    VariableKind.GOLD_ANSWER: _GOLD,
}
_FOR_A_MODEL = frozenset({VariableKind.PROMPT, VariableKind.CONTEXT, VariableKind.BUFFER})
_BEFORE_THE_ANSWER = MEMORY_ERRORS - {ErrorType.RESPONSE}
_MADE = {
    OperationKind.EXTRACTION: "Extracted",
    OperationKind.UPDATE: "Memory updated",
    OperationKind.DELETION: "Deleted",
    OperationKind.RETRIEVAL: "Searched",
    OperationKind.GENERATION: "Written",
}


def story(told: Told) -> Story:
    """The story that a verdict tells."""
    if not told.piece and told.path and told.path[0].kind == VariableKind.QUERY:
        told = dataclasses.replace(told, path=())  # the way of the question, which has no fact to lose
    is_subject = told.operation is not None and told.error_type != ErrorType.ANNOTATION
    return Story(sentence=_sentence(told), operation=told.operation if is_subject else None, cards=_cards(told))


def _sentence(told: Told) -> list[Phrase]:
    """What the operation did, with the words that were lost."""
    kind, needed = told.error_type, _needed(told)
    answered, gold = _quote(told.answer), _quote(told.gold)
    if kind == ErrorType.ANNOTATION:
        said = [_said("The gold answer "), gold, _said(" is wrong: ")]
        if needed and _tells_answer(told):
            return [*said, needed, _said(" was said, and the answer is "), answered]
        return [*said, _said(_clause(told.reason or "the messages contradict it"))]
    if kind == ErrorType.JUDGE:
        did = "counted " if told.operation else "The judge counted "
        return [_said(did), answered, _said(" as wrong, although it says what the gold answer says: "), gold]
    if kind == ErrorType.RESPONSE and needed is None and told.operation is not None:
        return [_said("answered "), answered, _said(f", but {_clause(told.reason)}" if told.reason else "")]
    if kind is None or needed is None:
        return [_said(told.reason or "It can't be decided.")]
    if day := _day_of_kept(told):
        return [_said("kept "), needed, _said(f" without the day on which it was said, {day}")]
    if kind == ErrorType.RESPONSE:
        made = _made(told)
        if made is not None and _is_prompt(told):
            return [_said("was given "), needed, _said(", and left it out of "), made]
        return [_said("was given "), needed, _said(", but answered "), answered]
    if kind == ErrorType.RETRIEVAL:
        ranks = _ranks(told.search)
        return [_said("did not return "), needed, *([_said(f" ({ranks})")] if ranks else [])]
    if kind == ErrorType.DELETION:
        return [_said("removed "), needed, _said(" from the memory")]
    if kind == ErrorType.EXTRACTION:
        kept = nearest(told, "".join(text for text, _ in needed.parts))
        return [_said("read "), needed, *([_said(" and kept only "), _quote(kept[0])] if kept else [_said(_NOTHING)])]
    changed = change(told)
    if changed is not None:
        old, new = changed
        return [_said("replaced "), Phrase(parts=old, is_quote=True), _said(" by "), Phrase(parts=new, is_quote=True)]
    made = _made(told)
    return [
        _said("lost "),
        needed,
        *([_said(" and stored "), made] if made else [_said(" when it changed the memory")]),
    ]


def _tells_answer(told: Told) -> bool:
    """Whether the quoted message has most words of the answer."""
    own = stems(told.answer)
    return told.had is not None and bool(own) and 2 * len(own & stems(told.had.quote)) >= len(own)


def _day_of_kept(told: Told) -> str:
    """The day that the operation lost, if it kept the words that count from that day; else empty."""
    own = stems(told.had.quote) if told.had else set()
    kept = stems(" ".join(nearest(told, told.had.quote))) if told.had else set()
    return lost_day(told.reason) if own and 3 * len(own & kept) >= 2 * len(own) else ""


def _clause(reason: str) -> str:
    """A reason within a sentence."""
    return reason[:1].lower() + reason[1:].rstrip(".")


def _said(text: str) -> Phrase:
    return Phrase(parts=[(text, "same")], is_quote=False)


def _quote(text: str) -> Phrase:
    return Phrase(parts=[(cut(text.strip(QUOTES), WIDTH), "same")], is_quote=True)


def _needed(told: Told) -> Phrase | None:
    """The needed words, as they stood before they were lost; None if the verdict follows none."""
    had = told.had
    text = plain((had.quote if had else "") or told.piece).strip(QUOTES)
    return Phrase(parts=marked(told, text, "same"), is_quote=True) if text else None


def _ranks(search: Search | None) -> str:
    """How the search rated the unit with the needed words; empty if that is not known."""
    if search is None or (not search.returned_count and not search.considered):
        return ""
    if not search.considered:
        return f"it returned {search.returned_count:,} others"
    said = f"rated {search.considered:,}, returned {search.returned_count:,}"
    rank = min((rank for _, rank, _ in search.held if rank is not None), default=None)
    if rank is None:
        return f"{said}; this one was not among them"
    return f"{said}; the fact was number {rank:,}: k ≥ {rank:,} would have returned it"


def _made(told: Told) -> Phrase | None:
    """What the operation made instead; None if it made nothing that can be shown."""
    at = told.lost_at
    texts = texts_of(told.path[at].value) if at is not None else []
    shown = [text for text in texts if " " in text.strip()]
    return _quote(" · ".join(shown)) if shown else None


def _is_prompt(told: Told) -> bool:
    """Whether what lost the words is a prompt or context that the blamed operation wrote, and no answer."""
    at = told.lost_at
    return at is not None and told.path[at].operation == told.operation and told.path[at].kind in _FOR_A_MODEL


def _cards(told: Told) -> list[Card]:
    """The first step, the last steps that have the piece, the break and the answer; at most ``MOST_CARDS``."""
    if told.error_type == ErrorType.JUDGE:
        return _judged(told)
    if not told.path:
        return _unfounded(told) if told.error_type == ErrorType.RESPONSE and told.operation else []
    broken = told.lost_at
    held = [_held(told, step) for step in told.path[: len(told.path) if broken is None else broken] if step.holds]
    held = [_merged(list(same)) for _, same in groupby(held, lambda card: (card.title, card.text))]
    lost = _nothing_made(told) if broken is None else _lost(told, broken)
    most = MOST_CARDS - (lost is not None) - 1
    cards = held if len(held) <= most else [held[0], *held[len(held) - most + 1 :]]
    if told.error_type == ErrorType.ANNOTATION:
        answer = Card(
            title=_ANSWERED, state="held" if _tells_answer(told) else "gone", text=[(cut(told.answer, WIDTH), "same")]
        )
        gold = Card(title=_GOLD, state="lost", text=[(cut(told.gold, WIDTH), "same")])
        return [*cards[: MOST_CARDS - 2], answer, gold]
    if lost is not None:
        cards.append(lost)
    if not cards or cards[-1].title != _ANSWERED:
        state = "gone" if lost is not None else "lost"
        operation = told.operation if state == "lost" else None
        text = [(cut(told.answer, WIDTH), "same")]
        cards.append(Card(title=_ANSWERED, state=state, text=text, operation=operation))
    return cards


def _nothing_made(told: Told) -> Card | None:
    """The card of an operation before the answer that lost the piece, and made nothing that the path could show."""
    made = _MADE.get(OperationKind(told.operation.kind)) if told.operation else None
    if made is None or told.error_type not in _BEFORE_THE_ANSWER:
        return None
    text = [("Kept: nothing", "same")] if told.error_type == ErrorType.EXTRACTION else []
    found = _candidates(told, told.search)
    return Card(title=made, state="lost", text=text, candidates=found, operation=told.operation)


def _judged(told: Told) -> list[Card]:
    """The cards of a right answer that a judge counted as wrong."""
    texts = ((_GOLD, told.gold, told.answer), (_ANSWERED, told.answer, told.gold))
    cards = [
        Card(title=title, state="held", text=with_keys(cut(text, WIDTH), stems(other), "same"))
        for title, text, other in texts
    ]
    wrong = [("Wrong", "gone"), (", although both say the same.", "same")]
    return [*cards, Card(title="Judged", state="lost", text=wrong, operation=told.operation)]


def _unfounded(told: Told) -> list[Card]:
    """The cards of an answer that no message could give."""
    gold = Card(title=_GOLD, state="held", text=[(cut(told.gold, WIDTH), "same")])
    answer = [(cut(told.answer, WIDTH), "same")]
    return [gold, Card(title="Answered though not known", state="lost", text=answer, operation=told.operation)]


def _held(told: Told, step: Step) -> Card:
    """A text with the needed words, marked in their place."""
    text: list[Part] = []
    for one, is_quote in excerpts.quoted(text_of(step.value), step.quote, AROUND):
        said = plain(one)
        is_before = not text and not is_quote and len(said) > AROUND // 2
        shown = f"… {said[-AROUND // 2 :].partition(' ')[2]}" if is_before else said
        text += marked(told, said, "mark") if is_quote else [(shown, "same")]
    return _card(step, "held", text)


def _merged(same: Sequence[Card]) -> Card:
    """Equal cards as one."""
    more = len(same) - 1
    return (
        replaced(same[-1], note=f"{more} earlier step{'s have' if more > 1 else ' has'} the same text.")
        if more
        else same[-1]
    )


def _lost(told: Told, broken: int) -> Card:
    """The break: what the operation made of the text."""
    step = told.path[broken]
    if step.operation and step.operation.kind == OperationKind.RETRIEVAL:
        return replaced(
            _card(step, "lost", [] if told.search else [("It was not returned.", "same")]),
            title="Searched",
            candidates=_candidates(told, told.search),
            note=_ranks(told.search),
        )
    before = told.path[broken - 1]
    if day := _day_of_kept(told):
        kept = [(cut(" · ".join(nearest(told, before.quote)), WIDTH), "same")]
        return replaced(_card(step, "lost", kept), title="Kept without its day", note=f"The day, {day}, is not in it.")
    gone = [(cut(before.quote, WIDTH), "gone")] if before.kind in STORED else []
    if told.error_type == ErrorType.DELETION:
        return replaced(_card(step, "lost", gone), title="Deleted")
    changed = change(told)
    if changed is not None:
        old, new = changed
        return replaced(_card(step, "lost", [*old, (" → ", "same"), *new]), title="Overwritten")
    texts = [text for text in texts_of(step.value) if text.strip()]
    if told.error_type == ErrorType.EXTRACTION:
        texts = list(dict.fromkeys([*nearest(told, before.quote), *texts]))
    made = [(cut(" · ".join(texts) or "nothing", WIDTH), "same")]
    return _card(step, "lost", [*gone, (_before(told, bool(gone)), "same"), *made])


def _before(told: Told, is_changed: bool) -> str:
    """What stands before the text that an operation made."""
    return " → " if is_changed else "Kept: " if told.error_type == ErrorType.EXTRACTION else ""


def _candidates(told: Told, search: Search | None) -> list[Candidate]:
    """The first results of a search, with the missed unit at its place."""
    if search is None:
        return []
    found = [
        Candidate(text=[(cut(longest(text), AROUND), "same")], rank=rank, score=score, is_missed=False)
        for text, rank, score in search.returned[:MOST_CANDIDATES]
    ]
    missed = min(search.held, key=lambda one: (one[1] is None, one[1] or 0), default=None)
    if missed is not None:
        said = plain(missed[0]).strip(QUOTES)
        text = marked(told, said, "mark", 2 * AROUND)
        found.append(Candidate(text=text, rank=missed[1], score=missed[2], is_missed=True))
    return sorted(found, key=lambda one: (one.rank is None, one.rank or 0))


def _card(step: Step, state: str, text: Iterable[Part]) -> Card:
    return Card(
        title=_title(step),
        state=state,
        text=[part for part in text if part[0]],
        operation=step.operation,
        variable_id=step.variable_id,
        variable=step.variable,
        time=step.time,
    )


def _title(step: Step) -> str:
    kind, operation = step.kind or "", step.operation
    known = _TITLES.get(VariableKind(kind)) if kind else None
    told = "Given to the program" if kind == VariableKind.OTHER else kind
    return known or _MADE.get(OperationKind(operation.kind) if operation else OperationKind.OTHER, told or "Lost")
