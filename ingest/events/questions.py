"""Which question an answer belongs to, as far as the graph says it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from schema.kinds import VariableKind
from schema.models import Variable
from store.answers import NO_BUDGET, Budget, Direction
from store.protocol import GraphStore

_NEAR = Budget(hops=8)
"""Where the question of an answer is found nearly always: a walk through all that a memory ever was takes long."""


async def questions_of(store: GraphStore, answers: Sequence[Variable]) -> dict[str, list[Variable]]:
    """The questions that each of several answers may belong to, by the answer's id; one alone is the question.

    They are the queries that its operation used; else those of its causal past, of the near past first; else, where a
    chat is recorded without queries, the messages that its operation used.
    """
    makers = dict.fromkeys(one.operation_id for one in answers if one.operation_id is not None)
    details = await store.operations(list(makers)) if makers else {}
    used = {one.id: details[one.operation_id].used if one.operation_id in details else [] for one in answers}
    found = {id_: _of_kind(variables, VariableKind.QUERY) for id_, variables in used.items()}
    for budget in (_NEAR, NO_BUDGET):
        left = [[id_] for id_, questions in found.items() if not questions]
        if left:
            pasts = await store.closures(left, Direction.BACKWARD, budget, [VariableKind.QUERY.value])
            for (id_,), past in zip(left, pasts, strict=True):
                found[id_] = [one for one in _of_kind(past.variables, VariableKind.QUERY) if one.id != id_]
    return {id_: questions or _of_kind(used[id_], VariableKind.MESSAGE) for id_, questions in found.items()}


def _of_kind(variables: Iterable[Variable], kind: VariableKind) -> list[Variable]:
    return list({one.id: one for one in variables if one.kind is kind}.values())
