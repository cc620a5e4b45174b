"""A failure in its trace as a model may see it: short names of elements, and which values may be shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property

from attribution.needed.presence import Detail
from attribution.trace.graph import TraceGraph
from schema.kinds import STORED, TELLS_GOLD, OperationKind, VariableKind
from schema.models import Failure, Operation, Variable

_ALIAS = re.compile(r"(op|v)([0-9]{1,12})")
_SERVES_A_QUESTION = frozenset({OperationKind.RETRIEVAL, OperationKind.GENERATION, OperationKind.JUDGE})


class FailureView:
    """A failure, its trace and its evidence.

    Elements have short names such as ``op12`` and ``v345``, after their sequence; an invented name means nothing.
    """

    def __init__(
        self, graph: TraceGraph, failure: Failure, evidence: Sequence[str], pieces: Sequence[Detail] = ()
    ) -> None:
        self.graph = graph
        self.failure = failure
        self.evidence = [variable_id for variable_id in evidence if variable_id in graph.variables]
        self.pieces = pieces
        self._operations = {operation.sequence: operation.id for operation in graph.operations.values()}
        self._variables = {variable.sequence: variable.id for variable in graph.variables.values()}

    def operation_alias(self, operation_id: str) -> str:
        """The short name of an operation."""
        return f"op{self.graph.operations[operation_id].sequence}"

    def variable_alias(self, variable_id: str) -> str:
        """The short name of a variable."""
        return f"v{self.graph.variables[variable_id].sequence}"

    def operation(self, alias: str) -> Operation | None:
        """The operation with this short name, or with this full name if only one operation can be meant by it."""
        found = self._operations.get(_number("op", alias))
        if found:
            return self.graph.operations[found]
        called = self.called(alias)
        return called[0] if len(called) == 1 else None

    def called(self, name: str) -> list[Operation]:
        """The operations with this full name that can be meant: none that served another question only.

        If some of them may matter for the failure, the others are left out.
        """
        called = [one for one in self.graph.operations.values() if one.name == name and not self.serves_another(one)]
        return [one for one in called if one.id in self.reach] or called

    def variable(self, alias: str) -> Variable | None:
        """The variable with this short name; None if there is none."""
        found = self._variables.get(_number("v", alias))
        return self.graph.variables[found] if found else None

    def may_show(self, variable_id: str) -> bool:
        """Whether a value may be shown. Without gold answers, values that contain gold answers are hidden."""
        return bool(self.failure.gold_answers) or self.graph.variables[variable_id].kind not in TELLS_GOLD

    def ended(self, operation_id: str) -> list[str]:
        """Variables that an operation ended."""
        return self._ended.get(operation_id, [])

    @cached_property
    def _ended(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for variable_id in self.graph.variables:
            operation_id = self.graph.invalidated_by(variable_id)
            if operation_id is not None:
                found.setdefault(operation_id, []).append(variable_id)
        return found

    @cached_property
    def answer_past(self) -> AbstractSet[str]:
        """The backward closure of the answer, itself included."""
        answer = self.failure.answer_id
        return self.graph.past([answer]) if answer in self.graph.variables else frozenset()

    @cached_property
    def reach(self) -> set[str]:
        """Operations that may matter for the failure.

        They made something in the answer's past; or used the evidence, something derived from it, or the question; or
        changed the memory.
        """
        stored = {variable.id for variable in self.graph.variables.values() if variable.kind in STORED}
        return self._at_hand(stored) | self.near

    def reach_of(self, variable_ids: Iterable[str]) -> set[str]:
        """Operations that used or made some variables, or anything derived from them."""
        return self._at_hand(self.graph.future(variable_ids))

    def _at_hand(self, variable_ids: Iterable[str]) -> set[str]:
        graph = self.graph
        found: set[str | None] = set()
        for variable_id in variable_ids:
            found.add(graph.variables[variable_id].operation_id)
            found.update(graph.users(variable_id))
            found.add(graph.invalidated_by(variable_id))
        return {operation_id for operation_id in found if operation_id is not None}

    @cached_property
    def near(self) -> set[str]:
        """Operations that made something in the answer's past, or had the evidence or the question at hand."""
        asked = {*self.evidence, self.failure.question_id} & self.graph.variables.keys()
        makers = {self.graph.variables[variable_id].operation_id for variable_id in self.answer_past}
        return self.reach_of(asked) | {maker for maker in makers if maker is not None}

    def serves_another(self, operation: Operation) -> bool:
        """Whether an operation retrieved, answered or judged for other questions only."""
        made = self.graph.made(operation.id)
        if operation.kind not in _SERVES_A_QUESTION or not self.answer_past.isdisjoint(made):
            return False
        own = [*self.graph.used(operation.id), *made]
        past = self.graph.past(own)
        questions = {one for one in past if self.graph.variables[one].kind is VariableKind.QUERY}
        return bool(questions) and self.failure.question_id not in questions


def _number(prefix: str, alias: str) -> int:
    match = _ALIAS.fullmatch(alias.strip())
    return int(match.group(2)) if match and match.group(1) == prefix else -1
