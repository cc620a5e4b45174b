"""Messages that put the given answer in the place of the gold answer: ``in Leeds, no longer in York``.

Such a message has the words of the gold answer, but does not state it: the gold answer is out of date, or corrected.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from attribution.free_pass.no_contradiction import is_part
from attribution.free_pass.premises import CHANGE, wrong_gold
from attribution.free_pass.rules import Finding
from attribution.needed.content import Content, share_found
from attribution.needed.gold_agreement import denies
from attribution.needed.messages import Messages, is_known
from attribution.needed.question import is_question
from attribution.text.instead_of import INSTEAD_OF
from attribution.text.languages import is_function_word
from attribution.text.refusals import refuses
from attribution.text.said import said
from attribution.text.segments import Placed, Sentence, passage
from attribution.text.weekdays import weekdays
from attribution.trace.graph import TraceGraph
from schema.models import Failure

_WHOLLY, _HALF = 0.9, 0.5
_PARTLY = 0.4
"""A name may be told by one of its two words."""
_LONGEST = 400
"""A longer message, in characters, tells of more than one thing."""
_SHOWN = 100
"""Characters of a quoted sentence."""
_NEAR = 20
"""Characters before a verb of change in which the new state stands, in a script without spaces."""
_CLAUSE = re.compile(
    r"""[,;:—–、，；：\n]\s* | [.!?](?=\s)\s* | [。！？] | \s[-]\s
      | (?<!\s)\s+(?:but|while|whereas|sondern|aber|sino|pero|mais|mas|ma|bensì|maar|men|utan|lecz|ale|а|но)\s+
      | 而是 | ではなく(?:て)? | じゃなく(?:て)? | (?:이|가)?\s?아니라
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Where a clause of a sentence ends. The last three patterns also deny the clause before them."""
_DENIES_BEFORE = re.compile(r"ではなく(?:て)?|じゃなく(?:て)?|아니라")
_REPLACED = re.compile(rf"\s(?:{INSTEAD_OF})\s | 而不是 | 而非", re.VERBOSE | re.IGNORECASE)
_INSTEAD = re.compile(
    r"""\b(?:instead|stattdessen|dafür|à\s+la\s+place|en\s+su\s+lugar|em\s+(?:seu\s+)?lugar|invece|in\s+plaats\s+daarvan
        |i\s+stället|i\s+stedet|zamiast\s+tego|вместо\s+этого|натомість)\b | 代わり | 대신
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TAKEN = re.compile(
    r"\b(?:t(?:akes?|ook|aken)\s+over|replac(?:es?|ed)|stands?\s+in\s+for|übern(?:immt|ahm)|ersetzt|vertritt|remplace|reemplaza"
    r"|sustituye|substitui|sostituisce|vervangt|ersätter|zastępuje|заменяет|сменил\w*)\b",
    re.IGNORECASE,
)
"""What stands before these words came in the place of what stands after them."""
_MADE = re.compile(r"に(?:変え|変更|しま|し(?:た|て|よう)|決め|切り替え)|改[成到为]|换成|변경|바꿨|바꾸")
"""What stands directly before these words is the new state."""


def in_its_place(graph: TraceGraph, messages: Messages, failure: Failure, gold: Content) -> Finding | None:
    """A message tells the given answer, and in the same breath that the gold answer does not hold.

    Args:
        graph: the trace.
        messages: its messages.
        failure: question and answers.
        gold: content of the gold answers beyond the question.

    Returns:
        The finding that the gold answer is wrong; None if no message says so, or if a later message tells the gold
        answer again.
    """
    answer = failure.prediction or ""
    given, old = _given(messages, failure, gold), _gold(messages, failure, gold)
    if refuses(answer) or not given or not old or denies(answer):
        return None
    # What the gold answer says, too, comes in the place of the rest of it only where a message denies the rest.
    within = is_part(messages, failure)
    known, asked = is_known(graph, failure), messages.asked(failure).words.keys()
    may_have = messages.sought(old.wanted).may_have(_PARTLY)
    found: tuple[str, str] | None = None
    for message in messages.ids:
        if not may_have(messages.gist(message)) or not known(message):
            continue
        text = "\n".join(placed.sentence.text for placed in messages.statements(message))
        gist = replace(messages.gist(message), text=text)
        if len(text) > _LONGEST or old.share(gist) < _PARTLY or is_question(text):
            continue
        if given.share(gist) >= _WHOLLY:
            found = (
                (message, text.replace("\n", " ").strip()) if _replaces(text, given, old, is_within=within) else None
            )
        elif not denies(text) and asked & set(gist.stems):
            found = None  # told again
    return None if found is None else wrong_gold(*found, REASON)


def told_as_change(messages: Messages, failure: Failure, gold: Content | None, texts: Iterable[str]) -> str:
    """The doubt that a gold answer is out of date: a text tells the given answer as what holds now; empty without one.

    Args:
        messages: of the trace.
        failure: question and answers.
        gold: content of the gold answers beyond the question; None without gold answers.
        texts: what the operation at fault was given.
    """
    if gold is None or refuses(failure.prediction or ""):
        return ""
    claim = messages.claim(failure, None).without(gold.words, gold.numbers)
    told = [placed for text in texts for placed in passage(text)]
    known = {stem for placed in told for stem in placed.sentence.stems}
    words = {one: weight for one, weight in claim.words.items() if one in known and not is_function_word(one)}
    value = Content({}, claim.numbers, claim.dates) if claim.numbers or claim.dates else Content(words, frozenset(), ())
    if not value.weight:
        return ""
    changes = (placed.sentence.text for placed in told if share_found(value, placed) >= _WHOLLY)
    change = next((text for text in changes if CHANGE.search(text)), None)
    return "" if change is None else f"; unless a later text made the gold answer out of date: “{said(change, _SHOWN)}”"


REASON = "a message tells what was answered, and that the gold answer does not hold"


class _Told:
    """Words, numbers, dates and days of the week that a text may tell."""

    def __init__(self, wanted: Content, days: frozenset[int]) -> None:
        self.wanted, self._days = wanted, days

    def __bool__(self) -> bool:
        return bool(self._days or self.wanted.weight)

    def share(self, told: Sentence) -> float:
        """The share of the wanted words, numbers and dates that a sentence tells, 0 to 1; 0 without the weekdays."""
        if self._days and not self._days <= weekdays(told.text):
            return 0.0
        return share_found(self.wanted, Placed(0, told, None)) if self.wanted.weight else 1.0

    def share_of(self, text: str) -> float:
        """The largest ``share`` of the sentences of a text."""
        return max((self.share(placed.sentence) for placed in passage(text)), default=0.0)


def _given(messages: Messages, failure: Failure, gold: Content) -> _Told:
    """What the answer tells beyond question and gold answer, in words that some message has."""
    own = messages.claim(failure, None).without(gold.words, gold.numbers)
    words = {
        one: weight for one, weight in own.words.items() if messages.rarity.is_told(one) and not is_function_word(one)
    }
    days = frozenset[int]().union(*map(weekdays, failure.gold_answers))
    if words and not (gold.numbers or gold.dates or days):
        return _Told(Content(words, frozenset(), ()), frozenset())  # "Ben, since May" in the place of "Ann"
    return _Told(Content(words, own.numbers - gold.numbers, own.dates), weekdays(failure.prediction or ""))


def _gold(messages: Messages, failure: Failure, gold: Content) -> _Told:
    """What the gold answers tell beyond the answer."""
    claim = messages.claim(failure, None)
    days = frozenset[int]().union(*map(weekdays, failure.gold_answers))
    own = gold.without(claim.words, claim.numbers)
    words = {one: weight for one, weight in own.words.items() if not is_function_word(one)}
    return _Told(Content(words, own.numbers, own.dates), days - weekdays(failure.prediction or ""))


def _replaces(text: str, given: _Told, old: _Told, *, is_within: bool) -> bool:
    """Whether a text with both answers tells that the given answer replaced the gold answer, not the reverse."""
    parts = [(part, is_denied, given.share_of(part), old.share_of(part)) for part, is_denied in _parts(text)]
    new = [one for one in parts if one[2] >= _HALF]
    former = [one for one in parts if one[3] >= _PARTLY]
    if len(new) != 1 or not former:
        return False
    told, is_denied, _, mixed = new[0]
    if is_denied:
        return False
    if mixed >= _PARTLY:
        return len(former) == 1 and _is_made(told, given, old)
    if denies(told):
        return False
    if all(is_denied or denies(part) for part, is_denied, *_ in former):
        return True
    return not is_within and _is_now(told) and not any(_is_now(part) for part, *_ in former)


def _is_now(text: str) -> bool:
    """Whether a clause tells what holds now, or in place of something."""
    return bool(CHANGE.search(text) or _INSTEAD.search(text))


def _is_made(text: str, given: _Told, old: _Told) -> bool:
    """Whether a clause with both answers names the given answer as what something was changed to."""
    if (taken := _TAKEN.search(text)) is not None:
        before, after = text[: taken.start()], text[taken.end() :]
        return given.share_of(before) >= _WHOLLY and old.share_of(before) < _PARTLY <= old.share_of(after)
    change = _MADE.search(text)
    if change is None:
        return False
    # What stands nearest before the verb is the new state.
    near = [text[cut : change.start()] for cut in range(max(0, change.start() - _NEAR), change.start())]
    return any(given.share_of(end) >= _WHOLLY and old.share_of(end) < _PARTLY for end in near)


def _parts(text: str) -> Iterator[tuple[str, bool]]:
    """The clauses of a sentence, each with whether the words around it deny it."""
    start = 0
    for match in (*_CLAUSE.finditer(text), None):
        end = len(text) if match is None else match.start()
        is_denied = match is not None and bool(_DENIES_BEFORE.search(match.group()))
        clause = text[start:end]
        if (instead := _REPLACED.search(clause)) is not None:
            yield clause[: instead.start()], is_denied
            yield clause[instead.end() :], True
        elif clause.strip():
            yield clause, is_denied
        start = end if match is None else match.end()
