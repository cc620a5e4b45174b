"""Finds out from the graph to which question an answer belongs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schema.kinds import VariableKind
from schema.models import Variable
from store.contract.answers import NO_BUDGET, Budget, Direction
from store.contract.protocol import GraphStore

_OF_ITS_PROMPT = Budget(hops=2)
"""Of what the operation used, such as a prompt: the question that was put into it, and not those of turns before, which
came into it by a history or by what was found for them."""
_NEAR = Budget(hops=8)
"""Depth within which the question of an answer is nearly always found; a walk through the whole past takes long."""


async def questions_of(store: GraphStore, answers: Sequence[Variable]) -> dict[str, list[Variable]]:
    """The questions to which each of several answers may belong, by the answer's id; a single one is the question.

    They are the queries that its operation used. If there are none, they are the queries from which something was made
    that it used, such as a prompt; then those in its causal past, first in the near past. If there are none either (a
    chat that is recorded without queries), they are the messages that its operation used.
    """
    makers = dict.fromkeys(one.operation_id for one in answers if one.operation_id is not None)
    details = await store.operations(list(makers)) if makers else {}
    used = {one.id: details[one.operation_id].used if one.operation_id in details else [] for one in answers}
    found = {id_: _of_kind(variables, VariableKind.QUERY) for id_, variables in used.items()}
    for budget in (_OF_ITS_PROMPT, _NEAR, NO_BUDGET):
        left = [[id_] for id_, questions in found.items() if not questions]
        if left:
            pasts = await store.closures(left, Direction.BACKWARD, budget, [VariableKind.QUERY.value])
            for (id_,), past in zip(left, pasts, strict=True):
                found[id_] = [one for one in _of_kind(past.variables, VariableKind.QUERY) if one.id != id_]
    return {id_: questions or _of_kind(used[id_], VariableKind.MESSAGE) for id_, questions in found.items()}


def _of_kind(variables: Iterable[Variable], kind: VariableKind) -> list[Variable]:
    return list({one.id: one for one in variables if one.kind is kind}.values())
