"""The form of a question, by the wording of question and gold answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache

from attribution.text.languages import language_of
from attribution.text.refusals import refuses
from attribution.text.tokens import count
from schema.kinds import QuestionKind
from schema.models import Failure

_LONG_WORDS = 45
"""A gold answer with more words, or with paragraphs, is a conversational reply."""

_YES_ALONE = r"(?:oui|sí|sim|sì|да|evet|نعم|はい|네)\s*(?:$|[^\w\s-])"
_NO_ALONE = r"(?:no|nope|nein|nee|non|não|нет|hayır|لا|いいえ|아니요|不是|没有)\s*(?:$|[^\w\s-])"
"""Words that mean no other thing only if a mark or nothing follows them, such as ``non`` and ``sim``."""
_POLAR_YES = re.compile(rf"^\W*(?:likely\s+|probably\s+)?(?:(?:yes|yeah|yep|ja|是|对)\b|{_YES_ALONE})", re.IGNORECASE)
_POLAR_NO = re.compile(rf"^\W*(?:likely\s+|probably\s+)?{_NO_ALONE}", re.IGNORECASE)
_HEDGED = re.compile(
    rf"""^\W*(?:(?:yes|no|ja|nein|likely|probably|possibly|perhaps|maybe|somewhat|wahrscheinlich|vermutlich|可能|大概|是的|不是)\b
      | {_YES_ALONE} | {_NO_ALONE})""",
    re.VERBOSE | re.IGNORECASE,
)
_INFERRING = re.compile(
    r"""^\W*(?:would|might|could|should|is|are|was|were|do|does|did|has|have|can|will|würde\w*|könnte\w*|ist|sind|hat)\b
      | \b(?:likely|probably|might|would|wahrscheinlich|vermutlich)\b
      | \b(?:personality|traits?|sentiment|attitude|mood|political\s+leaning|kind\s+of\s+person|be\s+considered)\b
      | \b(?:stimmung|einstellung|haltung)\b | 会不会|是否|可能|性格|态度|情绪
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NOT_ENGLISH = re.compile(r"^\W*(?:was|will|do)\b", re.IGNORECASE)
"""Beginnings by which a question infers in English, and asks for a fact in another language: German ``was``."""
_JOINING = re.compile(
    r"""\b(?:both|in\s+common|how\s+many|how\s+often|how\s+much\s+(?:older|younger|longer|more|less)|compared|beide\w*
        |gemeinsam|wie\s+viele|wie\s+oft)\b | 都|共同|几个|多少""",
    re.VERBOSE | re.IGNORECASE,
)

_ASKS = ("?", "？")
_REASON = re.compile(
    r"""\b(?:why|waarom|how\s+come|what\s+(?:made|caused)|(?:for\s+)?what\s+reason|warum|wieso|weshalb|pourquoi|por\s*qu[eéê]
        |perch[eé]|почему|зачем|neden|niçin|niye)\b | لماذا | क्यों | なぜ|どうして | 为什么|為什麼|为何 | 왜 | ทำไม""",
    re.VERBOSE | re.IGNORECASE,
)


_TIME = re.compile(
    r"""^\W*(?:(?:since|until|seit|bis|desde|hasta|até|depuis|jusqu['’]à|da|fino\s+a|sinds|tot)\s+)?
        (?:when|wann|quand|cuándo|quando|когда|wanneer)\b
      | ^\W*(?:何时|什么时候|いつ|언제)
      | ^\W*(?:(?:on|in|at|since|until|an|am|im|seit|um|op|sinds|om|à|a|em|en|el|il|nel|depuis|desde)\s+)?
        (?:what|which|welche[mnrs]?|welke?|wat\s+voor|hoe|che|quale?|qué|quelle?|que|qual)\s+
        (?:day|date|year|month|week|weekend|weekday|time|tag|datum|jahr|monat|woche|uhrzeit|dag|jaar|maand|laat|giorno
          |data|anno|mese|ora|día|fecha|año|mes|hora|dia|ano|mês|jour|date|année|mois|heure)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NUMBER = re.compile(
    r"^\W*(?:how\s+(?:long|many|much|old|often)|wie\s+(?:lange|viele?|alt|oft)|combien|cuánt[oa]s?|quant[oaie]s?(?!\s+ao?s?\b)|сколько|hoeveel|hoe\s+(?:lang|oud|vaak))\b"
    r"|^\W*(?:几|多少|多久|いくつ|いくら|何[人回歳個]|몇|얼마)",
    re.IGNORECASE,
)


class QuestionForm(StrEnum):
    """What a question wants.

    PLAIN: one or more facts. INFERRED: a conclusion from what was said. JOINED: an answer made of several facts, such
    as a count or what two people have in common. CONVERSATIONAL: a reply that partly depends on what was said.
    UNANSWERABLE: a refusal, because nothing tells the answer.
    """

    PLAIN = "plain"
    INFERRED = "inferred"
    JOINED = "joined"
    CONVERSATIONAL = "conversational"
    UNANSWERABLE = "unanswerable"


def question_kind(kind: QuestionForm, pieces: int) -> QuestionKind:
    """The kind of a question, by its form and the number of pieces that were found."""
    if kind is QuestionForm.JOINED or (kind is QuestionForm.PLAIN and pieces > 1):
        return QuestionKind.SEVERAL
    return QuestionKind(kind)


def form(failure: Failure) -> QuestionForm:
    """The form of a failure's question; without gold answers, by the question alone."""
    golds = failure.gold_answers
    if golds and all(not gold.strip() or refuses(gold) for gold in golds):
        return QuestionForm.UNANSWERABLE
    if golds and all(_is_reply(gold) for gold in golds):
        return QuestionForm.CONVERSATIONAL
    if _JOINING.search(failure.question):
        return QuestionForm.JOINED
    if _infers(failure) or (golds and all(_HEDGED.match(gold) for gold in golds)):
        return QuestionForm.INFERRED
    return QuestionForm.PLAIN


def _infers(failure: Failure) -> bool:
    """Whether a question asks for a conclusion from what was said.

    A short question may not tell its language: then its answers tell it.
    """
    question = failure.question
    found = _INFERRING.search(question)
    if found is None or not _NOT_ENGLISH.match(found.group()):
        return found is not None
    together = " ".join((question, *failure.gold_answers, failure.prediction or ""))
    if (language_of(question) or language_of(together)) in {None, "en"}:
        return True
    return _INFERRING.search(question, found.end()) is not None


def asks_for_reason(question: str) -> bool:
    """Whether a question asks why, in one of the languages whose question words are known."""
    return bool(_REASON.search(question))


def asks_for_time(question: str) -> bool:
    """Whether a question asks when, in one of the languages whose question words are known."""
    return bool(_TIME.search(question))


def asks_for_number(question: str) -> bool:
    """Whether a question asks how many, how long or how old, in one of the languages whose question words are known."""
    return bool(_NUMBER.search(question))


def is_question(text: str) -> bool:
    """Whether a sentence ends with a mark of a question."""
    return text.rstrip().endswith(_ASKS)


def polarity(text: str) -> bool | None:
    """Whether a text begins with yes (True) or no (False); None otherwise."""
    if _POLAR_YES.match(text):
        return True
    return False if _POLAR_NO.match(text) else None


def polar(golds: Sequence[str]) -> bool | None:
    """Whether all gold answers begin with yes (True) or no (False); None otherwise."""
    found = {polarity(gold) for gold in golds}
    return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=16)  # the same failure's texts are tested again and again
def _is_reply(gold: str) -> bool:
    return "\n\n" in gold.strip() or count(gold) > _LONG_WORDS
