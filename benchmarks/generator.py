"""A made store of any size: traces like those of memory systems, the same in every run.

Variable i of a trace derives from the variables i - width and i - width + 1; the first ``width`` come from outside,
and the last one, the answer, from the last 2 * width + 2. So a trace has exactly two derivations a variable, is
about variables / width derivations deep, and is as a whole the causal past of its answer.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from benchmarks.vocabulary import made_up_words
from schema.ids import IdMaker, hash_value, make_id, trace_id
from schema.kinds import DerivationKind, OperationKind, Status, VariableKind
from schema.models import PREVIEW_CHARACTERS, Batch, Derivation, Operation, Session, Trace, Usage, Variable

VERSION = 1
"""Raise it when the generator changes, so that stores with old graphs are not used again."""

_START = datetime(2026, 1, 1, tzinfo=UTC)
_VARIABLES_AN_OPERATION = 4
_SESSIONS = 6
_STEPS = (
    (OperationKind.EXTRACTION, "memory.extract", "extraction", VariableKind.RESPONSE),
    (OperationKind.UPDATE, "memory.update", "update", VariableKind.MEMORY_UNIT),
    (OperationKind.RETRIEVAL, "memory.search", "retrieval", VariableKind.RETRIEVAL_RESULT),
    (OperationKind.GENERATION, "memory.prompt", "generation", VariableKind.PROMPT),
)


@dataclass(frozen=True, slots=True)
class Shape:
    """How large a made store is.

    Attributes:
        traces: how many.
        variables: of each; derivations are twice as many.
        width: variables between a variable and its sources.
    """

    traces: int
    variables: int
    width: int

    @property
    def derivations(self) -> int:
        """Of each trace."""
        return 2 * self.variables

    def __str__(self) -> str:
        return f"{self.traces} traces of {self.variables:,} variables and {self.derivations:,} derivations"


FULL = Shape(traces=125, variables=6000, width=20)
QUICK = Shape(traces=4, variables=600, width=20)


def trace_of(project: str, number: int) -> str:
    """The id of a made trace."""
    return trace_id(project, f"generated-{number}")


def answer_of(project: str, shape: Shape, number: int) -> str:
    """The id of the last variable of a made trace, whose causal past is the whole trace."""
    return make_id("Variable", trace_of(project, number), str(shape.variables - 1))


def batch_of(project: str, shape: Shape, number: int) -> Batch:
    """A made trace."""
    return _Maker(project, shape, number).batch()


class _Maker:
    def __init__(self, project: str, shape: Shape, number: int) -> None:
        self.project = project
        self.shape = shape
        self.number = number
        self.trace = trace_of(project, number)
        self.random = random.Random(f"{VERSION} {number}")
        operations = 1 + (shape.variables - 1 - shape.width) // _VARIABLES_AN_OPERATION
        self.sessions = self._ids("Session", _SESSIONS)
        self.operations = self._ids("Operation", operations)
        self.variables = self._ids("Variable", shape.variables)
        self.derivations = self._ids("Derivation", shape.derivations)
        self.words = made_up_words(self.random)

    def batch(self) -> Batch:
        return Batch(
            Trace(self.trace, self.project, f"generated-{self.number}", f"run {self.number}", "benchmark", _START),
            [self._session(number) for number in range(_SESSIONS)],
            [self._operation(number) for number in range(len(self.operations))],
            [self._variable(number) for number in range(self.shape.variables)],
            list(self._derivations()),
            list(self._usages()),
        )

    def _ids(self, label: str, count: int) -> list[str]:
        maker = IdMaker(label, self.trace)
        return [maker(str(number)) for number in range(count)]

    def _session_of(self, number: int) -> str:
        return self.sessions[number * _SESSIONS // self.shape.variables]

    def _operation_of(self, number: int) -> int | None:
        made = number - self.shape.width
        return None if made < 0 else made // _VARIABLES_AN_OPERATION

    def _sources_of(self, number: int) -> range:
        width = self.shape.width
        if number < width:
            return range(0)
        if number == self.shape.variables - 1:
            return range(number - 2 * width - 2, number)
        return range(number - width, number - width + 2)

    def _session(self, number: int) -> Session:
        name = f"session-{number}"
        moment = _START + timedelta(hours=number)
        return Session(
            self.sessions[number], self.project, self.trace, name, name, "conversation", None, number, moment
        )

    def _operation(self, number: int) -> Operation:
        kind, name, category, _ = _STEPS[number % len(_STEPS)]
        first = self.shape.width + number * _VARIABLES_AN_OPERATION
        moment = _START + timedelta(milliseconds=200 * number)
        return Operation(
            id=self.operations[number],
            project_id=self.project,
            trace_id=self.trace,
            session_id=self._session_of(first),
            external_id=f"op-{self.operations[number]}",
            name=name,
            kind=kind,
            category=category,
            comment=f"A step of {category} over what came before it.",
            status=Status.OK,
            sequence=number,
            started_at=moment,
            ended_at=moment + timedelta(milliseconds=150),
            location=f"memory/{category}.py:{100 + number % 7}",
            attributes='{"top_k":10}' if kind is OperationKind.RETRIEVAL else "{}",
        )

    def _variable(self, number: int) -> Variable:
        text = " ".join(self.random.choices(self.words, k=self.random.randint(8, 60)))
        data = text.encode()
        operation = self._operation_of(number)
        kind = VariableKind.MESSAGE if operation is None else _STEPS[operation % len(_STEPS)][3]
        if number == self.shape.variables - 1:
            kind = VariableKind.ANSWER
        external_id = f"{kind.lower()}-{self.variables[number]}@1"
        return Variable(
            id=self.variables[number],
            project_id=self.project,
            trace_id=self.trace,
            session_id=self._session_of(number),
            external_id=external_id,
            name=external_id.partition("@")[0],
            class_name=None if number % 3 else kind.lower(),
            version=1,
            occurrence=0,
            kind=kind,
            category=kind.lower(),
            comment=f"A value of kind {kind.value} in a made memory system.",
            preview=text[:PREVIEW_CHARACTERS],
            value=text,
            value_hash=hash_value(data),
            size=len(data),
            media_type="text/plain",
            sequence=number,
            created_at=_START + timedelta(milliseconds=50 * number),
            location=f"memory/{kind.lower()}.py:{200 + number % 5}",
            attributes=f'{{"turn":{number % 400}}}' if number % 2 else "{}",
            operation_id=None if operation is None else self.operations[operation],
        )

    def _derivations(self) -> Iterator[Derivation]:
        place = 0
        for number in range(self.shape.variables):
            operation = self._operation_of(number)
            for source in self._sources_of(number):
                assert operation is not None
                comment = f"Turn {place // 9} was read." if place % 4 else "The prompt states what is to be done."
                yield Derivation(
                    id=self.derivations[place],
                    project_id=self.project,
                    trace_id=self.trace,
                    source=self.variables[source],
                    target=self.variables[number],
                    operation_id=self.operations[operation],
                    external_id=f"edge-{self.derivations[place]}",
                    kind=DerivationKind.DERIVATION,
                    category=_STEPS[operation % len(_STEPS)][2],
                    comment=comment,
                    sequence=place,
                    created_at=_START + timedelta(milliseconds=50 * number),
                    location=f"memory/link.py:{300 + place % 6}",
                )
                place += 1

    def _usages(self) -> Iterator[Usage]:
        used: dict[int, dict[int, None]] = {}
        for number in range(self.shape.width, self.shape.variables):
            operation = self._operation_of(number)
            assert operation is not None
            outside = (source for source in self._sources_of(number) if self._operation_of(source) != operation)
            used.setdefault(operation, {}).update(dict.fromkeys(outside))
        for operation, sources in used.items():
            for position, source in enumerate(sources):
                yield Usage(self.operations[operation], self.variables[source], "input", position)
