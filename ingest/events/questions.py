"""Finds an answer's question in the graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schema.kinds import ARGUMENT, TURN, VariableKind
from schema.models import Variable
from store.contract.answers import NO_BUDGET, Budget, Direction, Label
from store.contract.protocol import GraphStore

_QUESTION_MARKS = ("?", "？", "؟", "\u037e")
"""The last sign is the Greek question mark."""
_AFTER = " \n\t\"'”»)」』"
_OF_ITS_PROMPT = Budget(hops=2)
"""From the operation's inputs (such as a prompt), two steps back: reaches the question in the prompt, but not questions
of earlier turns, which reached the prompt through the history or through retrieved units."""
_NEXT = Budget(hops=1)
_SEARCHED = [VariableKind.QUERY.value, VariableKind.REFINED_QUERY.value]
_NEAR = Budget(hops=8)
"""Nearly every answer has its question within this depth; a walk through the whole causal past takes long."""


async def questions_of(store: GraphStore, answers: Sequence[Variable]) -> dict[str, list[Variable]]:
    """The candidate questions of each answer, by the answer's id; if there is one candidate, it is the question.

    The first place with a question wins: queries among the inputs of the answer's operation; the newest turn of the
    user among these inputs; queries among the sources of these inputs (such as a prompt); the answer's near causal
    past; the whole causal past. If a message among the inputs is newer than the queries of the past, these belong to
    earlier turns, and the message is the question: a model may have written the query of a search from it. A chat that
    was recorded without queries and turns has messages as candidates: the messages that the answer's operation used;
    or else the newest prompt that the application wrote as a turn.
    """
    used = await _used(store, answers)
    replies = {one.id: used[one.id][0] if _is_reply(used[one.id]) else one for one in answers}
    handed_out = [reply for id_, reply in replies.items() if reply.id != id_]
    if handed_out:  # a reply that another operation hands out as an answer: the question is that of the reply
        used |= await _used(store, handed_out)
    found = await _of_replies(store, {one.id: used[one.id] for one in replies.values()})
    return {id_: found[reply.id] for id_, reply in replies.items()}


async def without_rephrased(
    store: GraphStore, answers: Sequence[Variable], questions: dict[str, list[Variable]]
) -> list[Variable]:
    """The answers without those that only put a question in other words, with which a memory was searched next.

    The recorder takes the result of a chain of its own for an answer. If a search is made with its words, and the same
    question has a later answer, it was a step on the way.

    Args:
        store: the project.
        answers: the answers.
        questions: the result of ``questions_of`` for these answers.
    """
    of_question: dict[str, list[Variable]] = {}
    for one in answers:
        if len(questions[one.id]) == 1:
            of_question.setdefault(questions[one.id][0].id, []).append(one)
    last = {max(some, key=lambda one: one.sequence).id for some in of_question.values()}
    earlier = [one for some in of_question.values() for one in some if one.id not in last]
    if not earlier:
        return list(answers)
    used = await _used(store, earlier)
    replies = [[used[one.id][0].id if _is_reply(used[one.id]) else one.id] for one in earlier]
    following = await store.closures(replies, Direction.FORWARD, _NEXT, _SEARCHED)
    searched = {
        one.id
        for one, after in zip(earlier, following, strict=True)
        if any(next_one.kind in _SEARCHED and next_one.value_hash == one.value_hash for next_one in after.variables)
    }
    return [one for one in answers if one.id not in searched]


async def _used(store: GraphStore, answers: Sequence[Variable]) -> dict[str, list[Variable]]:
    """The inputs of the operation that made each answer, by the answer's id."""
    makers = dict.fromkeys(one.operation_id for one in answers if one.operation_id is not None)
    details = await store.operations(list(makers)) if makers else {}
    return {one.id: details[one.operation_id].used if one.operation_id in details else [] for one in answers}


def _is_reply(used: Sequence[Variable]) -> bool:
    """Whether a model's reply is all that the operation of an answer used."""
    return len(used) == 1 and used[0].kind is VariableKind.RESPONSE


async def _of_replies(store: GraphStore, used: dict[str, list[Variable]]) -> dict[str, list[Variable]]:
    """The candidate questions by the answer's id; ``used`` has the inputs of the answer's operation."""
    found = {
        id_: _of_kind(variables, VariableKind.QUERY) or _turn(variables, VariableKind.MESSAGE)
        for id_, variables in used.items()
    }
    for budget in (_OF_ITS_PROMPT, _NEAR, NO_BUDGET):
        left = [[id_] for id_, questions in found.items() if not questions]
        if left:
            pasts = await store.closures(left, Direction.BACKWARD, budget, [VariableKind.QUERY.value])
            for (id_,), past in zip(left, pasts, strict=True):
                queries = [one for one in _of_kind(past.variables, VariableKind.QUERY) if one.id != id_]
                found[id_] = _newer(used[id_], queries) or queries
    written = await _written_by_models(store, [one.id for some in found.values() for one in some])
    chosen = {}
    asked = await _asked_in(store, used, found)
    behind = await _behind(store, used, found, written)
    for id_, queries in found.items():
        questions = asked.get(id_) or _only_asking(queries) or queries
        messages = _of_kind(used[id_], VariableKind.MESSAGE)
        by_models = bool(questions) and all(one.id in written for one in questions)
        chosen[id_] = (
            (messages[-1:] or behind.get(id_, []) if by_models else [])
            or questions
            or messages
            or _turn(used[id_], VariableKind.PROMPT)
        )
    left = [[id_] for id_, questions in chosen.items() if not questions]
    pasts = await store.closures(left, Direction.BACKWARD, NO_BUDGET, [VariableKind.MESSAGE.value]) if left else []
    for (id_,), past in zip(left, pasts, strict=True):
        messages = [one for one in _of_kind(past.variables, VariableKind.MESSAGE) if one.id != id_]
        chosen[id_] = [max(messages, key=lambda one: one.sequence)] if messages else []
    return chosen


async def _behind(
    store: GraphStore, used: dict[str, list[Variable]], found: dict[str, list[Variable]], written: set[str]
) -> dict[str, list[Variable]]:
    """What the user said from which models wrote the queries, such as a translation, by the answer's id.

    Of operations that used no message. The newest message counts, as a list.
    """
    left = {
        id_: [one.id for one in queries]
        for id_, queries in found.items()
        if queries and all(one.id in written for one in queries) and not _of_kind(used[id_], VariableKind.MESSAGE)
    }
    if not left:
        return {}
    pasts = await store.closures(list(left.values()), Direction.BACKWARD, _NEAR, [VariableKind.MESSAGE.value])
    said = {id_: _of_kind(past.variables, VariableKind.MESSAGE) for id_, past in zip(left, pasts, strict=True)}
    return {id_: [max(messages, key=lambda one: one.sequence)] for id_, messages in said.items() if messages}


async def _asked_in(
    store: GraphStore, used: dict[str, list[Variable]], found: dict[str, list[Variable]]
) -> dict[str, list[Variable]]:
    """Of several queries, the one that was made of the newest message among the inputs, by the answer's id.

    The other queries belong to earlier turns, whose answers are in the history.
    """
    newest = {
        id_: max(messages, key=lambda one: one.sequence)
        for id_, questions in found.items()
        if len(questions) > 1 and (messages := _of_kind(used[id_], VariableKind.MESSAGE))
    }
    queries = list(dict.fromkeys(one.id for id_ in newest for one in found[id_]))
    derived = await store.derivations_of(queries) if queries else {}
    return {
        id_: [one for one in found[id_] if any(d.source == message.id for d in derived.get(one.id, ()))][-1:]
        for id_, message in newest.items()
    }


def _only_asking(queries: Sequence[Variable]) -> list[Variable]:
    """The only one of several queries that ends with a question mark, as a list; empty if none or several do.

    Memories search with the text of a new unit, too, before they store the unit. Such a query asks nothing.
    """
    asking = [one for one in queries if one.preview.rstrip(_AFTER).endswith(_QUESTION_MARKS)]
    return asking if len(asking) == 1 else []


async def _written_by_models(store: GraphStore, queries: Sequence[str]) -> set[str]:
    """The queries that derive from the reply of a model, such as one that calls a tool, or from a tool's argument."""
    derived = await store.derivations_of(list(dict.fromkeys(queries))) if queries else {}
    sources = {one.source for some in derived.values() for one in some}
    found = await store.get(Label.VARIABLE, list(sources)) if sources else []
    written = [one for one in found if isinstance(one, Variable)]
    replies = {one.id for one in written if one.kind is VariableKind.RESPONSE or one.category == ARGUMENT}
    return {id_ for id_, some in derived.items() if any(one.source in replies for one in some)}


def _turn(used: Sequence[Variable], kind: VariableKind) -> list[Variable]:
    """The newest turn of the user among the inputs of a model's call, as a list of at most one variable.

    A turn that the application wrote around known texts is a prompt. Earlier turns may come after the newest among the
    inputs, because a result of a tool quotes them.
    """
    turns = [one for one in used if one.kind is kind and one.category == TURN]
    return [max(turns, key=lambda one: one.sequence)] if turns else []


def _newer(used: Sequence[Variable], queries: Sequence[Variable]) -> list[Variable]:
    """The newest message among inputs if it is newer than all queries, as a list of at most one variable."""
    last = max((one.sequence for one in queries), default=None)
    said = [one for one in used if one.kind is VariableKind.MESSAGE]
    newest = max(said, key=lambda one: one.sequence, default=None)
    return [newest] if newest is not None and last is not None and newest.sequence > last else []


def _of_kind(variables: Iterable[Variable], kind: VariableKind) -> list[Variable]:
    return list({one.id: one for one in variables if one.kind is kind}.values())
