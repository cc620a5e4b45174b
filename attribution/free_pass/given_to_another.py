"""Memory units that name the wrong person: the answer then repeats the memory's mistake."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from attribution.free_pass import proof_path as proof
from attribution.free_pass.loss import BY_KIND
from attribution.free_pass.needs import TriedFailure
from attribution.free_pass.other_subject import asked_speaker
from attribution.free_pass.rules import Finding
from attribution.needed.content import Content, share_found
from attribution.needed.exclusion import excludes
from attribution.needed.messages import is_known
from attribution.text.persons import FIRST_PERSON, SECOND_PERSON
from attribution.text.refusals import refuses
from attribution.text.segments import passage
from schema.kinds import STORED, ErrorType, OperationKind, VariableKind

_WHOLLY = 0.9
_SAYS = 0.5
"""The given answer must have at least this weight beyond the question."""
_LIKELY = 0.85
_OWN = frozenset({VariableKind.RESPONSE}) | STORED
"""The kinds of texts that an operation writes in its own words. Prompts and search results repeat other texts."""
_REPEAT = frozenset({OperationKind.RETRIEVAL, OperationKind.GENERATION})
"""Operations that repeat the memory's content."""
_REASON = "what the operation made gives to {} what {} said, and the answer says the same"


async def given_to_another(tried: TriedFailure) -> Finding | None:
    """The operation that wrote of the asked person what only another person said of themselves, as the answer does.

    None if a message may tell it of the asked person, or if no such unit led to the answer.
    """
    graph, messages, failure, gold = tried.graph, tried.messages, tried.failure, tried.gold
    said = failure.prediction or ""
    owner = asked_speaker(messages, failure.question)
    if gold is None or owner is None or not said or refuses(said):
        return None
    claim = messages.claim(failure, None)
    if claim.weight < _SAYS or not excludes(failure, gold, claim):
        return None
    tellers = _tellers(tried, claim)
    sayers = {messages.speakers.get(one) for one in tellers}
    if len(sayers) != 1 or None in sayers or owner in sayers or any(_may_be_of(tried, one, owner) for one in tellers):
        return None
    past = graph.past([failure.answer_id or ""])
    written = await _written(tried, tellers, past, claim, owner)
    if not written:
        return None
    first = min(written, key=lambda one: (graph.place(one), graph.variables[one].sequence))
    teller = next(one for one in tellers if first in graph.future([one]))
    maker = graph.variables[first].operation_id or ""
    (sayer,) = sayers
    chain = [*graph.path(teller, first), *graph.path(first, failure.answer_id or "")]
    then = tuple((one.target, one.operation_id) for one in chain)
    return Finding(
        BY_KIND.get(graph.operations[maker].kind, ErrorType.UPDATE),
        maker,
        _LIKELY,
        _REASON.format(owner.title(), (sayer or "").title()),
        partial(proof.Proof, teller, teller, then, messages.texts[teller]),
    )


def _tellers(tried: TriedFailure, claim: Content) -> list[str]:
    """The messages from before the answer with a sentence that has all of the given answer."""
    messages, known = tried.messages, is_known(tried.graph, tried.failure)
    return [
        one
        for one in messages.ids
        if known(one) and any(share_found(claim, placed) >= _WHOLLY for placed in messages.sentences[one])
    ]


def _may_be_of(tried: TriedFailure, message_id: str, owner: str) -> bool:
    """Whether a message may tell something of the owner: it names or addresses them, or tells of no speaker."""
    text = tried.messages.texts[message_id]
    is_named = any(asked_speaker(tried.messages, placed.sentence.text) == owner for placed in passage(text))
    return is_named or bool(SECOND_PERSON.search(text)) or not FIRST_PERSON.search(text)


async def _written(
    tried: TriedFailure, tellers: Sequence[str], past: AbstractSet[str], claim: Content, owner: str
) -> list[str]:
    """The texts on the way from the messages to the answer with a sentence that gives the answer to the owner.

    Empty if no memory unit is among them.
    """
    graph, messages = tried.graph, tried.messages
    way = past & graph.future(tellers)
    texts = await graph.texts(one for one in way if graph.variables[one].kind in _OWN)
    found = [
        one
        for one, text in texts.items()
        if graph.variables[one].operation_id is not None
        and graph.operations[graph.variables[one].operation_id or ""].kind not in _REPEAT
        and any(
            share_found(claim, placed) >= _WHOLLY and asked_speaker(messages, placed.sentence.text) == owner
            for placed in passage(text)
        )
    ]
    return found if any(graph.variables[one].kind in STORED for one in found) else []
