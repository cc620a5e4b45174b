"""How pages write stored data for people: names, numbers, times, quotes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from attribution.report.excerpts import marked, quoted
from attribution.report.words import counted, cut, is_possible, settings, wrappable
from attribution.text.fit import printable
from attribution.text.said import NAME, said, text_of
from attribution.text.word_diff import Parts, difference, word_changes
from attribution.verdicts.failure_columns import listed
from attribution.verdicts.naming import plain
from schema import kinds
from schema.error_type_names import error_type_name
from schema.kinds import VariableKind

Found = Mapping[str, Any]
"""A thing as GraphQL returns it."""

NOT_THE_MEMORY = kinds.NOT_THE_MEMORY

ERROR_TYPES = {
    "ExtractionError": "The fact was never extracted from the message.",
    "UpdateError": "A memory unit or buffer had the fact, and its next version does not.",
    "DeletionError": "The memory unit that had the fact was deleted.",
    "RetrievalError": "A memory unit that was current when the question was asked has the fact, and the search did not "
    "return it.",
    "ResponseError": "The fact was in what the answer was made from, and the answer lacks it.",
    "AnnotationError": "The gold answer is wrong: the evidence says what was answered.",
    "LLMAsAJudgeError": "The answer is right: it says the same as the gold answer.",
}
"""What happened, for each error type."""

ENDINGS = {
    "ok": "normally",
    "error": "with an error",
    "cancelled": "cancelled",
    "running": "not yet",
    "unknown": "not recorded",
}
"""How an operation ended."""

PROOFS = {"proved": "Proved", "refuted": "Refuted", "unsettled": "Not settled"}

QUESTION_KINDS = {
    "plain": "one fact",
    "several": "several facts",
    "inferred": "a conclusion from facts",
    "unanswerable": "nothing: it can't be answered",
    "conversational": "no fact: it is conversation",
}
"""What the right answer needs."""

ORDERS = {
    "random": ("at random", "Any failures, drawn by lot."),
    "unsure": ("least sure first", "Those of which the method is least sure, or which none has explained, come first."),
    "disagreement": ("disputed by methods first", "Those on which methods disagree come first."),
    "errorType": ("of each error type", "As many of each error type that the newest method names."),
    "system": ("of each memory system", "As many of each memory system."),
}
"""Which failures of a queue come first."""

JOBS = {"import": "Import", "attribute": "Finding the causes", "report": "Report"}
"""The names of jobs."""

JOB_STATES = {
    "queued": "waiting",
    "running": "under way",
    "done": "done",
    "failed": "failed",
    "cancelled": "stopped",
}
"""The states of jobs."""

PROGRESS = {"reserved": "yours now", "done": "submitted", "skipped": "skipped", "gone": "deleted"}
"""A person's progress with a failure of a queue."""

SHOWS = "shows:"
"""The prefix of form fields that select a variable as proof; the variable's id follows."""

_PLACE = re.compile(r"^(?:annotation|adjudication|queue|verdict|input)(?:: (?=\S)|$)")
_ID = re.compile(r"\b[0-9a-f]{32}: ")
_UNFIT = re.compile(
    r"(?:\w+: ){0,4}operation: .+ is of kind (?P<kind>\w+), which can't be at fault for (?P<type>\w+Error)", re.DOTALL
)
"""The message of an operation whose kind can't cause this error type."""
_NAMED = re.compile(r"^([^:]+): (is|was) ")
_METHODS = {
    "flow": "flow (free)",
    "walk": "flow, with an LLM's judgements",
    "human": "a person",
    "llm": "an LLM agent",
    "oneshot": "an LLM, asked once",
}
_LONG_WORD = re.compile(r"\w{4,}")
LISTED = 150
"""The most characters of a variable's name in a list."""
MOST_SHOWN = 10_000
"""The most characters of a text on a page; the page of the variable has the whole text."""
_MOST_COMPARED = 2000
"""The most characters of an answer in a comparison."""


def possible(candidates: Sequence[Found]) -> list[Found]:
    """The candidates of a verdict that a person should hear of."""
    return [one for one in candidates if is_possible(one["confidence"])]


def method(name: str) -> str:
    """The author or method of a verdict."""
    return _METHODS.get(name, name)


def not_by(error_type: str) -> str:
    """The kinds of operations that can't cause an error, separated by spaces; ``*`` where none causes it."""
    rule = kinds.ERROR_TYPES[kinds.ErrorType(error_type)]
    return " ".join(sorted({*rule.not_by, kinds.OperationKind.JUDGE})) if rule.is_memory else "*"


def said_by(verdict: Found) -> str:
    """The author's role instead of the name, which could sway the person who decides a dispute."""
    return "a person: the final word" if verdict["isFinal"] else method(verdict["method"])


def operation(found: Found) -> str:
    """The name of an operation; see ``attribution.verdicts.naming``."""
    return str(found["name"] or found["category"] or found["kind"])


def variable(found: Found, most: int = NAME) -> str:
    """The name of a variable: its text, cut in the middle to at most ``most`` characters.

    A prompt, and a variable whose value is not known here, has its own name.
    """
    text = "" if found.get("kind") == VariableKind.PROMPT else said(found.get("preview") or "", most)
    return text or source_name(found)


def source_name(found: Found) -> str:
    """The name that the recorded program gave a variable, without digests; see ``attribution.verdicts.naming``."""
    known = plain(found["externalId"])
    if known == found["externalId"] or plain(found["name"]) != found["name"]:
        return known
    return f"{found['name']}@{found['version']}"


def trace(found: Found | None) -> str:
    """The name of a trace."""
    return "a trace that is gone" if found is None else str(found["name"] or plain(found["externalId"]))


def told_apart(traces: Sequence[Found]) -> list[str]:
    """The names of traces; equal names are followed by the trace's id in the source."""
    names = [trace(one) for one in traces]
    return [
        f"{name} ({plain(one['externalId'])})" if names.count(name) > 1 and plain(one["externalId"]) != name else name
        for name, one in zip(names, traces, strict=True)
    ]


def more(found: Found, width: int) -> str:
    """What a variable says, for a place below its name in a list; empty if the name says all of it."""
    preview = found.get("preview") or ""
    text = text_of(preview)
    is_named = found.get("kind") != VariableKind.PROMPT and " ".join(text.split()) == said(preview, LISTED)
    return "" if is_named else cut(text, width)


def session(found: Found | None) -> str:
    """The name of a session, with its number in the trace from 1."""
    if found is None:
        return "none"
    named = found["name"] or found["category"]
    number = f"session {found['sequence'] + 1:,}"
    return f"{named} ({number})" if named else number


def refusal(message: str) -> str:
    """The reason of a refusal as a sentence, without ids and without the place in the input."""
    found = _UNFIT.fullmatch(message)
    if found is not None:
        called = error_type_name(found["type"]).lower()
        return f"The operation is of kind {found['kind']}, which can't be at fault for this: {called}."
    said = _PLACE.sub("", _ID.sub("", message))
    if said.startswith(("is ", "was ", "needs ", "has ")):
        said = f"the case {said}"
    return sentence(_NAMED.sub(r"\1 \2 ", said))


def shown(form: Mapping[str, str]) -> list[str]:
    """The ids of the variables that the form selects as proof."""
    return [name.removeprefix(SHOWS) for name in form if name.startswith(SHOWS)]


def person(name: str) -> str:
    """A person's name; for a key without a name, the beginning of the key's id."""
    return f"a key without a name ({name[4:12]}…)" if name.startswith("key:") else name


def kappa(found: float | None) -> str:
    """Cohen's kappa, the agreement beyond chance."""
    return "not known yet" if found is None else f"{found:.2f}".replace("-", "\N{MINUS SIGN}")


def left(seconds: int) -> str:
    """A remaining time."""
    if seconds < 60:
        return "less than a minute"
    if seconds < 2 * 3600:
        return counted(seconds // 60, "minute")
    return counted(seconds // 3600, "hour") if seconds < 48 * 3600 else counted(seconds // 86_400, "day")


def sentence(text: str) -> str:
    """A reason as a sentence."""
    text = cut(text, MOST_SHOWN)
    whole = text[:1].upper() + text[1:]
    return whole if whole.endswith((".", "!", "?", "…")) else f"{whole}."


def percent(share: float | None) -> str:
    """A share in percent, or ``not known``."""
    return "not known" if share is None else f"{100 * share:.0f} %"


def size(count: int) -> str:
    """A number of bytes."""
    amount = float(count)
    for unit in ("bytes", "KB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return counted(count, "byte") if unit == "bytes" else f"{amount:,.1f} {unit}"
        amount /= 1000
    raise AssertionError


def moment(text: str | None) -> str:
    """A time in UTC, to the minute."""
    return "not recorded" if text is None else f"{datetime.fromisoformat(text):%d %b %Y, %H:%M} UTC"


def date(text: str) -> str:
    """The day of a time in UTC."""
    return day(datetime.fromisoformat(text))


def day(when: datetime) -> str:
    """A day in UTC."""
    return f"{when:%d %b %Y}"


def lasted(began: str | None, ended: str | None) -> str:
    """The duration between two times."""
    if began is None or ended is None:
        return "not recorded"
    return seconds((datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds())


def seconds(count: float) -> str:
    """A duration."""
    return f"{1000 * count:,.0f} ms" if count < 1 else f"{count:,.1f} s"


def shared(text: str, other: str) -> list[tuple[str, bool]]:
    """Parts of a text, each with whether it is a word of four or more letters that the other text also has."""
    known = set(_LONG_WORD.findall(other.lower()))
    parts: list[tuple[str, bool]] = []
    end = 0
    for found in _LONG_WORD.finditer(text):
        if found[0].lower() in known:
            parts += [(text[end : found.start()], False), (found[0], True)]
            end = found.end()
    return [part for part in [*parts, (text[end:], False)] if part[0]]


def changed(old: str, new: str) -> tuple[Parts, Parts]:
    """Two short texts side by side, in parts with the state of each part."""
    return word_changes(cut(old, _MOST_COMPARED), cut(new, _MOST_COMPARED))


def same(text: str | None) -> Parts:
    """A text that is compared with nothing."""
    return [(cut(text, _MOST_COMPARED), "same")] if text else []


__all__ = [
    "Parts",
    "counted",
    "cut",
    "difference",
    "error_type_name",
    "listed",
    "marked",
    "plain",
    "printable",
    "quoted",
    "said",
    "settings",
    "text_of",
    "wrappable",
]
