"""Where in a trace a failure's needed detail is: presence in variables, the way to the answer, memory units."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial

from attribution.free_pass.detail_finder import DetailFinder
from attribution.free_pass.said_of_another import is_of_another
from attribution.needed.messages import Messages
from attribution.needed.presence import (
    ABSENT,
    HOLDS,
    Detail,
    Presence,
)
from attribution.trace.given_back import given_back
from attribution.trace.graph import TraceGraph
from attribution.trace.taken_out import TakenOut
from attribution.trace.vain_searches import found_nothing
from schema.kinds import STORED, OperationKind, VariableKind
from schema.models import Failure

_UNSURE = 0.2
"""A model may find the detail in texts with scores that are lower than ``HOLDS`` by this."""
_WRITTEN = frozenset({VariableKind.PROMPT, VariableKind.CONTEXT})
_ASKS = frozenset({VariableKind.QUERY, VariableKind.REFINED_QUERY})


@dataclass(slots=True)
class FailureInTrace:
    """A failure with one detail that the answer needed. Results about variables are cached.

    Attributes:
        future: the forward closure of the detail's message.
        is_judged: whether a model may be asked. Then every score must be exact.
    """

    graph: TraceGraph
    messages: Messages
    failure: Failure
    detail: Detail
    future: AbstractSet[str]
    finder: DetailFinder
    is_judged: bool = False
    _below: dict[tuple[str, bool], float] = field(default_factory=dict)
    """Upper bounds of scores that were not computed exactly."""
    _known: dict[tuple[str, bool], Presence] = field(default_factory=dict)

    @classmethod
    def of(
        cls, graph: TraceGraph, messages: Messages, failure: Failure, detail: Detail, *, is_judged: bool = False
    ) -> FailureInTrace:
        """Set up the search for a detail."""
        is_foreign = partial(messages.origins.is_foreign, message_id=detail.message_id)
        not_quoted = partial(messages.origins.not_quoted, message_id=detail.message_id)
        finder = DetailFinder(detail, is_foreign, messages.alike, not_quoted, keeps_dates=messages.keeps_dates)
        return cls(graph, messages, failure, detail, graph.future([detail.message_id]), finder, is_judged)

    async def presence(self, variable_ids: Iterable[str]) -> dict[str, Presence]:
        """How surely the detail is in each variable."""
        return await self._look(variable_ids, lambda best: 0.0)

    async def best(self, variable_ids: Iterable[str]) -> dict[str, Presence]:
        """Like ``presence``, but scores below ``HOLDS`` and below the best may be too low."""
        return await self._look(variable_ids, lambda best: min(best, HOLDS))

    async def holders(self, variable_ids: Iterable[str]) -> dict[str, Presence]:
        """The variables that have the detail."""
        return {v: one for v, one in (await self._look(variable_ids, lambda _: HOLDS)).items() if one.score >= HOLDS}

    def may_hold(self, text: str) -> bool:
        """Whether ``text``, a part of a longer text, may have the needed detail; days in the rest are ignored."""
        (look,) = self.finder.look_at([text])
        return look.most >= (HOLDS - _UNSURE if self.is_judged else HOLDS)

    async def _look(self, variable_ids: Iterable[str], least: Callable[[float], float]) -> dict[str, Presence]:
        """How surely the detail is in each variable; scores below a bound may be too low.

        Args:
            variable_ids: of the variables.
            least: gives the bound for the best score so far.
        """
        keys = {v: (self.graph.variables[v].value_hash, self.is_sole(v)) for v in variable_ids}
        best = max((self._known[key].score for key in keys.values() if key in self._known), default=0.0)
        bound = 0.0 if self.is_judged else least(best)
        missing: dict[tuple[str, bool], str] = {}
        for variable_id, key in keys.items():
            if key not in self._known and self._below.get(key, 2.0) > bound:
                missing.setdefault(key, variable_id)
        texts = await self.graph.texts(missing.values())
        looks = dict(
            zip(
                missing,
                self.finder.look_at([texts[v] for v in missing.values()], [sole for _, sole in missing]),
                strict=True,
            )
        )
        # The most promising texts come first: the rest may then need no close look.
        for key, look in looks.items() if self.is_judged else sorted(looks.items(), key=lambda item: -item[1].most):
            bound = 0.0 if self.is_judged else least(best)
            if self._below.get(key, 2.0) > bound:
                found = self.finder.in_text(look, sole=key[1], least=bound)
                if found.quote and is_of_another(self.messages, self.detail, found.quote):
                    found = ABSENT
                if found.score < bound:
                    self._below[key] = bound
                else:
                    self._known[key] = found
                best = max(best, found.score)
        return {variable_id: self._known.get(key, ABSENT) for variable_id, key in keys.items()}

    def decide(self, variable_id: str, presence: Presence) -> None:
        """Set how surely the detail is in a variable."""
        self._known[(self.graph.variables[variable_id].value_hash, self.is_sole(variable_id))] = presence

    def way(self, past: AbstractSet[str]) -> AbstractSet[str]:
        """The variables between the question and the answer, both included.

        Args:
            past: the answer's backward closure.
        """
        return past & self.graph.future([self.failure.question_id])

    def searches(self, past: AbstractSet[str]) -> list[str]:
        """The retrieval operations that served the question, in order, also those that found nothing."""
        graph = self.graph
        way = self.way(past)
        found = {graph.variables[variable_id].operation_id for variable_id in way} - {None}
        answering = graph.operations[graph.variables[self.failure.answer_id or ""].operation_id or ""].sequence
        asked = {operation_id for one in {*way, self.failure.question_id} for operation_id in graph.users(one)}
        # Nothing of an empty result may be in the answer's past, although the answer was made without it.
        found |= {o for o in asked if graph.operations[o].sequence < answering and found_nothing(graph, o)}
        found |= self._listings(way)
        searches = [o for o in found if o is not None and graph.operations[o].kind is OperationKind.RETRIEVAL]
        return sorted(searches, key=lambda operation_id: graph.operations[operation_id].sequence)

    def _listings(self, way: AbstractSet[str]) -> set[str]:
        """The retrieval operations that got no question, and whose results were used to answer this question."""
        graph = self.graph
        makers = {graph.variables[variable_id].operation_id for variable_id in way} - {None}
        read = {one for maker in makers for one in graph.used(maker or "")}
        # A prompt or context may have been written from the results in between.
        read |= {d.source for one in read if graph.variables[one].kind in _WRITTEN for d in graph.parents(one)}
        used = {graph.variables[one].operation_id for one in read} - {None}
        searches = {o for o in used if o is not None and graph.operations[o].kind is OperationKind.RETRIEVAL}
        return {o for o in searches if not any(graph.variables[v].kind in _ASKS for v in graph.used(o))}

    def read_units(self, past: AbstractSet[str]) -> list[str]:
        """The memory units that were read between the question and the answer."""
        graph = self.graph
        way = self.way(past)
        readers = {graph.variables[v].operation_id for v in way} - {None}
        read = way | {v for o in readers for v in graph.used(o or "") if v in past}
        return [v for v in read if graph.variables[v].kind is VariableKind.MEMORY_UNIT]

    def lineages(self) -> list[Sequence[str]]:
        """The versions of each memory unit that depends on the detail's message, oldest first."""
        variables = self.graph.variables
        return [ids for ids in self.graph.lineages(self.future) if variables[ids[0]].kind is VariableKind.MEMORY_UNIT]

    async def current_units(self, place: int) -> dict[str, Presence]:
        """The scores (as by ``best``) of the units that were in the memory just before a place in the order."""
        graph = self.graph
        current = [graph.current_version(versions, place) for versions in self.lineages()]
        taken_out = TakenOut(graph, place)
        return await self.best(
            unit
            for unit in current
            if unit is not None and unit in self.future and not is_turned_down(graph, unit) and not taken_out.has(unit)
        )

    def is_sole(self, variable_id: str) -> bool:
        """Whether a variable was made from the detail's message and no other."""
        return variable_id in self.future and self.messages.behind(self.graph, variable_id) == {self.detail.message_id}


def is_turned_down(graph: TraceGraph, unit: str) -> bool:
    """Whether a unit never reached the memory: it was only offered to an update that returned other units unchanged.

    A unit that anything else used or read was in the memory, and so was one older than another input of the update.
    """
    users = graph.users(unit)
    if len(users) != 1 or graph.operations[users[0]].kind is not OperationKind.UPDATE:
        return False
    (update,) = users
    kept = given_back(graph, update)
    others = [one for one in graph.used(update) if graph.variables[one].kind in STORED]
    return (
        bool(kept)
        and unit not in kept
        and all(graph.place(one) <= graph.place(unit) for one in others)
        and all(derivation.operation_id == update for derivation in graph.children(unit))
    )
