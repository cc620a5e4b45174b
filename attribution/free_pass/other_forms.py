"""Recognises that a text may have the needed words in other forms, in languages whose forms nobody knows here.

``Slavonski hrast`` may be what is left of ``hrasta iz Slavonije``. Then its words prove no loss, and no silence.
"""

from __future__ import annotations

from collections.abc import Iterable

from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.free_pass.loss import Loss, written_around, written_by
from attribution.needed.content import Content, Rarity, content
from attribution.needed.messages import Messages, is_known
from attribution.needed.presence import LARGE
from attribution.needed.question import is_question
from attribution.text.lexicon import is_common_word
from attribution.text.said import said
from attribution.text.tokens import tokens
from attribution.text.word_forms import has_form
from attribution.trace.graph import TraceGraph
from schema.kinds import ErrorType
from schema.models import Failure

IN_OTHER_FORMS = (
    "what it made has words like those of the needed fact, and may have the fact in other forms of its words"
)
_LIKE_IT = (
    "no message that this trace has from before the answer has the words of the right answer; {message} has words like "
    "them, perhaps in other forms: “{quote}”; if this message says the right answer, name it: memtrace fail ... "
    "--evidence {message}"
)
_FEWEST = 4
"""The fewest letters of a word that is compared: endings and particles are shorter."""
_FOREIGN_FEWEST = 3
_SHOWN = 100
_ID = 8


async def may_be_kept(traced: FailureInTrace, loss: Loss) -> str:
    """Why what an operation made may have the detail although it lacks its words; empty if nothing suggests it."""
    detail, graph = traced.detail, traced.graph
    wanted = _telling(detail.core.words, traced.failure.question)
    if loss.error_type is ErrorType.DELETION or not wanted or detail.core.numbers or detail.core.dates:
        return ""
    blamed = loss.operation_id
    made = [*graph.made(blamed), *written_by(graph, blamed), *written_around(graph, blamed)]
    texts = (await graph.texts(dict.fromkeys(made))).values()
    return IN_OTHER_FORMS if any(_has_all(wanted, text) for text in texts if len(text) <= LARGE) else ""


def told_in_other_forms(graph: TraceGraph, messages: Messages, failure: Failure, gold: Content | None) -> str:
    """What to do about a message that may say the right answer in other forms of its words; empty if there is none."""
    wanted = [] if gold is None or gold.numbers or gold.dates else _telling(gold.words, failure.question)
    known = is_known(graph, failure)
    for message in messages.ids if wanted else ():
        for placed in messages.statements(message) if known(message) else ():
            text = placed.sentence.text
            if not is_question(text) and _has_all(wanted, text):
                return _LIKE_IT.format(message=message[:_ID], quote=said(text, _SHOWN))
    return ""


def in_other_forms(gold: Content, text: str, question: str) -> bool:
    """Whether a text has the right answer's numbers and, perhaps in other forms, all its words."""
    wanted = [] if gold.dates else _telling(gold.words, question)
    return bool(wanted) and gold.numbers <= content(text, Rarity(())).numbers and _has_all(wanted, text)


def _telling(words: Iterable[str], question: str) -> list[str]:
    """The words that a text must have, without those of the question; empty if one is a word of English."""
    asked = [one.word for one in tokens(question)]
    found = [one for one in words if len(one) >= (_FEWEST if one.isascii() else _FOREIGN_FEWEST)]
    found = [one for one in found if not has_form(one, asked)]
    return [] if any(is_common_word(one) for one in found) else found


def _has_all(wanted: Iterable[str], text: str) -> bool:
    words = {form for one in tokens(text) for form in (one.word, one.stem)}
    return all(has_form(one, words) for one in wanted)
