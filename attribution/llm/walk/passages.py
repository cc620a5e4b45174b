"""The short texts of a trace that may hold a piece: of what was read for the answer, and what the message became."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from attribution.free_pass.failure_in_trace import FailureInTrace
from attribution.text.segments import Placed, passage
from schema.kinds import TELLS_GOLD, VariableKind

LONGEST = 240
"""The maximal length of a passage, in characters."""
_NAMED = 60
"""The beginning of a sentence's line is shown, too, if it has at most this many characters: who said it, and when."""
_FEWEST = 3
"""A sentence without words of the piece counts only if it has so many words, in a value made from its message alone."""
_MOST_VARIABLES = 300
_LARGE = 200_000
"""Larger texts, in characters, are left to the free pass."""
_CORE = 2.0
"""How much more the words of the piece weigh than those of the question, to choose passages."""
_NOT_HELD = TELLS_GOLD | {VariableKind.QUERY, VariableKind.ANSWER, VariableKind.RESPONSE}


@dataclass(frozen=True, slots=True)
class Passage:
    """A short part of some values.

    Attributes:
        text: as written in each of the values.
        shown: with the beginning of its line in one of the values, for a model to read.
        variables: ids of the variables that have it.
    """

    text: str
    shown: str
    variables: Sequence[str]


async def passages(traced: FailureInTrace, most: int) -> list[Passage]:
    """The passages that are most like the piece and the question, best first.

    The sentence of the evidence itself is left out: where a text has this sentence literally, the free pass is sure.
    Sentences of other messages are left out, too.
    """
    messages, detail = traced.messages, traced.detail
    texts = {v: text for v, text in (await traced.graph.texts(_variables(traced))).items() if len(text) <= _LARGE}
    for text in texts.values():
        messages.alike.learn(text, (placed.sentence.stems for placed in passage(text)))
    core, asked = messages.sought(detail.core), messages.sought(messages.asked(traced.failure))
    found: dict[str, tuple[float, str, list[str]]] = {}
    for variable_id, text in texts.items():
        is_sole = traced.is_sole(variable_id)
        for placed in passage(text):
            one = placed.sentence
            if not one.stems or one.is_metadata or detail.sentence.text.strip() in one.text:
                continue
            if messages.origins.is_foreign(one, message_id=detail.message_id):
                continue
            has = core.share(placed)
            if (has <= 0 and not (is_sole and len(one.stems) >= _FEWEST)) or traced.failure.question in one.text:
                continue
            score = _CORE * has + asked.share(placed)
            _, _, holders = found.setdefault(one.text.strip(), (score, around(text, placed), []))
            holders.append(variable_id)
    ranked = sorted(found.items(), key=lambda item: -item[1][0])
    return [Passage(text, shown, tuple(dict.fromkeys(holders))) for text, (_, shown, holders) in ranked[:most]]


def _variables(traced: FailureInTrace) -> list[str]:
    """What the answer was made from, and what was made from the piece's message before the answer."""
    graph = traced.graph
    reply = graph.reply(traced.failure.answer_id or "")
    end = graph.place(reply.id)
    read = [one.source for one in graph.parents(reply.id)] + traced.read_units(graph.past([reply.id]))
    later = sorted((v for v in traced.future if graph.is_recorded(v) and graph.place(v) < end), key=graph.place)
    later = [one for one in later if graph.variables[one].kind is not VariableKind.PROMPT]
    kinds = ((v, graph.variables[v].kind) for v in dict.fromkeys([*read, *later]) if v != traced.detail.message_id)
    return [variable_id for variable_id, kind in kinds if kind not in _NOT_HELD][:_MOST_VARIABLES]


def around(text: str, placed: Placed) -> str:
    """A sentence with the beginning of its line, if that is short."""
    sentence = placed.sentence.text
    line = text.rfind("\n", 0, placed.start) + 1
    before = text[line : placed.start] if placed.start - line <= _NAMED else ""
    return f"{before}{sentence}".strip()[:LONGEST]
