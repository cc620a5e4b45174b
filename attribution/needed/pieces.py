"""Cuts what an answer needs into pieces: sentences of the evidence that are followed separately."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from attribution.needed.content import Content, content
from attribution.needed.evidence_sentences import best_detail, detail_nearby, details_by_message
from attribution.needed.gold_agreement import agreement
from attribution.needed.messages import Messages
from attribution.needed.presence import Detail
from attribution.needed.question import QuestionForm
from attribution.text.dates import mentions
from attribution.verdicts.verdict import MOST_PIECES
from schema.models import Failure

_ITEM = re.compile(r"(?<!\d),|,(?!\d)|[;\n•、，；]|\band\b|\bund\b|&|\bbut\b|和")
_WHOLE = 0.8
"""A sentence with at least this share of all items states the whole list."""
_ALSO = 0.05
"""Another message is an equally good source if its share is at most this much lower."""
_FOUND = 10
"""The number of messages to search for a sentence of a reply, of all speakers and of each."""
_SAID = 0.8
"""An answer has a piece if it has at least this share of the core."""
_NEARLY = 0.5
"""Another source of a sentence must have at least this share of the best source's weight."""
_SOURCES = 3
"""The maximal number of sources by one speaker for a sentence of a reply."""
_WORTH = 1.6
"""A sentence of a reply is a piece if its content from earlier messages has at least this weight."""

_NAMES = re.compile(
    r"""\*\*[^*]{3,60}\*\*                                            # what is set off
      | ["“„][^"”“]{3,60}["”“] | «[^»]{3,60}» | [「《][^」》]{2,60}[」》]  # what is quoted
      | (?<!\w)['‘][^'’]{3,50}['’](?!\w)
      | \b[A-Z][\w']+(?:\s+(?:&\s+)?[A-Z][\w']+)+                     # names of several words
      | \b\d[\d,.]*\w*                                               # numbers
    """,
    re.VERBOSE,
)
"""Names, quotes, emphasis and numbers in a sentence."""

Piece = list[Detail]
"""A piece with all messages that state the piece. Any of the messages is enough."""


def list_pieces(messages: Messages, failure: Failure, evidence: Sequence[str], want: Content) -> list[Piece]:
    """The pieces of a gold answer that lists several things; empty if one sentence states the whole list."""
    asked = messages.asked(failure)
    parts = [content(item, messages.rarity).without(asked.words) for item in gold_items(failure)]
    known = [alternatives(messages, failure, evidence, part, near=False) for part in parts]
    if 2 * sum(map(bool, known)) <= len(parts):
        return []
    found: dict[tuple[str, str], Piece] = {}
    for part, sources in zip(parts, known, strict=True):
        told = sources or alternatives(messages, failure, evidence, part)
        if told:
            found.setdefault((told[0].message_id, told[0].sentence.text), told)
    whole = best_detail(messages, failure, evidence, want)
    is_told = whole is not None and whole.support >= _WHOLE
    return list(found.values())[:MOST_PIECES] if len(found) > 1 and not is_told else []


def alternatives(
    messages: Messages, failure: Failure, evidence: Sequence[str], want: Content, *, near: bool = True
) -> Piece:
    """The sentences that state the wanted content, one for each message, best first; empty if there are none.

    Args:
        messages: of the trace.
        failure: whose evidence it is.
        evidence: the messages to search.
        want: the wanted content.
        near: whether to search the messages beside the evidence if the evidence lacks the content.
    """
    details = details_by_message(messages, failure, evidence, want)
    if not details:
        beside = detail_nearby(messages, failure, evidence, want) if near else None
        return [] if beside is None else [beside]
    details.sort(key=lambda one: -one.support)
    return [one for one in details if one.support >= details[0].support - _ALSO]


def joined_pieces(messages: Messages, failure: Failure, evidence: Sequence[str], want: Content) -> list[Piece]:
    """A piece from each message of the evidence, all of which are needed for the answer."""
    details = [best_detail(messages, failure, [one], want) for one in dict.fromkeys(evidence)]
    return [[one] for one in details if one is not None][:MOST_PIECES]


def reply_pieces(
    messages: Messages, failure: Failure, evidence: Sequence[str], is_known: Callable[[str], bool]
) -> list[Piece]:
    """The pieces of a long reply: what each sentence takes from earlier messages; empty if the question has it all.

    Sentences with names, quotes or numbers are searched. General advice resembles much that was said before without
    depending on it, so that other sentences are searched only if no sentence has a name.
    """
    given = [one for one in evidence if is_known(one)]
    found: dict[tuple[str, str], Piece] = {}
    # A piece weighs no more than its sentence: the search ends when enough pieces weigh more than the next sentence.
    for sentence, want in sorted(_said_beyond(messages, failure), key=lambda item: -item[1].weight):
        pieces = sorted(found.values(), key=_worth, reverse=True)[:MOST_PIECES]
        if len(pieces) == MOST_PIECES and _worth(pieces[-1]) >= want.weight:
            break
        sources = _tell(messages, failure, given, want)
        sources = sources or _tell(messages, failure, messages.about_apart(sentence, _FOUND, is_known), want)
        if sources:
            key = sources[0].message_id, sources[0].sentence.text
            found[key] = max(found.get(key, sources), sources, key=_worth)
    return sorted(found.values(), key=_worth, reverse=True)[:MOST_PIECES]


def _said_beyond(messages: Messages, failure: Failure) -> list[tuple[str, Content]]:
    """The sentences of a long reply that may depend on earlier messages, with their content beyond the question."""
    asked = messages.asked(failure).words
    sentences = list(dict.fromkeys(s for gold in failure.gold_answers for s in _sentences(gold)))
    found = []
    for sentence in [one for one in sentences if _NAMES.search(one)] or sentences:
        told = content(sentence, messages.rarity)
        words = {word: weight for word, weight in told.words.items() if word not in asked}
        found.append((sentence, Content(words, told.numbers, told.dates)))
    return [(sentence, want) for sentence, want in found if want.weight >= _WORTH]


def _worth(piece: Piece) -> float:
    """The weight of a piece in its best source."""
    return piece[0].core.weight


def _tell(messages: Messages, failure: Failure, ids: Sequence[str], want: Content) -> Piece:
    """The details from messages that state a good part of a sentence, best first, a few of each speaker."""
    found = [one for one in details_by_message(messages, failure, ids, want) if one.core.weight >= _WORTH]
    found.sort(key=lambda one: -one.core.weight)
    kept, counts = [], Counter[str | None]()
    for one in found:
        name = messages.speakers.get(one.message_id)
        if one.core.weight >= _NEARLY * found[0].core.weight and counts[name] < _SOURCES:
            counts[name] += 1
            kept.append(one)
    return kept


def says(messages: Messages, failure: Failure, text: str, detail: Detail) -> bool:
    """Whether an answer has a piece."""
    return share_said(messages, failure, text, detail) >= _SAID


def share_said(messages: Messages, failure: Failure, text: str, detail: Detail) -> float:
    """The share of a piece that an answer has, 0 to 1; 0 if the answer contradicts the piece."""
    asked = frozenset(messages.asked(failure).words)
    told = agreement(detail.core, text, asked=asked)
    return 0.0 if told.conflicts else told.recall


def is_joined(kind: QuestionForm, evidence: Sequence[str]) -> bool:
    """Whether the answer needs all messages of the evidence together."""
    return kind in {QuestionForm.INFERRED, QuestionForm.JOINED} and len(set(evidence)) > 1


def is_list(failure: Failure) -> bool:
    """Whether a gold answer lists several things."""
    return bool(gold_items(failure))


def gold_items(failure: Failure) -> list[str]:
    """The items that a gold answer lists; empty if it is no list."""
    return next((named for gold in failure.gold_answers if len(named := listed_items(gold)) > 1), [])


def listed_items(text: str) -> list[str]:
    """The items of a list, or the whole text; dates and numbers such as ``5,200`` are not split."""
    dates = [(date.start, date.end) for date in mentions(text)]
    cuts = [m.span() for m in _ITEM.finditer(text) if not any(s <= m.start() < e for s, e in dates)]
    edges = [0, *(place for cut in cuts for place in cut), len(text)]
    parts = [text[edges[n] : edges[n + 1]].strip() for n in range(0, len(edges), 2)]
    return [part for part in parts if part]


def _sentences(gold: str) -> list[str]:
    return [one.strip() for one in re.split(r"\n+|(?<=[.!?])\s+", gold) if one.strip()]
