"""What is done to a blamed operation: corrections from the evidence, by a body that is known to be right, or by hand.

None of them knows the gold answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memtrace.replay import Call, Do

from attribution.trace.graph import TraceGraph
from optimization.proof.judge import Judge
from optimization.replay.recorded import CannotReplayError, Recorded
from schema.kinds import VariableKind


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction of one operation.

    Attributes:
        do: what is done.
        says: the same in words.
        placebo: the same with something that has nothing to do with the question; empty where there is no such thing.
        is_evidence: whether it brings the evidence in, so that it may help wherever it is put.
        is_output: whether it says what the operation gives back.
    """

    do: tuple[Do, ...]
    says: str
    placebo: tuple[Do, ...] = ()
    is_evidence: bool = False
    is_output: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """An operation of a failure that is to be corrected.

    Attributes:
        is_answering: whether it made the answer.
    """

    graph: TraceGraph
    recorded: Recorded
    judge: Judge
    operation_id: str

    @property
    def is_answering(self) -> bool:
        """Whether the operation made the answer, or the text that others only handed on as the answer."""
        graph, answer = self.graph, self.graph.variables.get(self.judge.failure.answer_id or "")
        while answer is not None and answer.operation_id is not None:
            if answer.operation_id == self.operation_id:
                return True
            used = (graph.variables[one] for one in graph.used(answer.operation_id))
            text = answer.value_hash
            answer = next((one for one in used if one.value_hash == text and one.kind is VariableKind.RESPONSE), None)
        return False

    @property
    def call(self) -> Call:
        """What its call is known by.

        Raises:
            CannotReplayError: it is no call of a function.
        """
        return self.recorded.call(self.graph.operations[self.operation_id])


class Corrector(Protocol):
    """Corrects operations."""

    async def correct(self, place: Place) -> Correction:
        """The correction of an operation.

        Raises:
            CannotReplayError: it can't be corrected; the message says why.
        """
        ...


class EvidenceCorrector:
    """Puts the messages of the evidence into what the operation gives back; into the prompt of the answering one."""

    async def correct(self, place: Place) -> Correction:
        """The correction of an operation.

        Raises:
            CannotReplayError: there is no evidence, or no prompt into which it could be put.
        """
        told = await place.judge.told()
        if not told:
            raise CannotReplayError("no message of the trace is known as evidence, so there is nothing to correct from")
        other = await place.judge.irrelevant()
        question = place.judge.failure.question
        call = str(place.call)
        if place.is_answering:
            role, prompt, asked = await self._prompt(place)
            marks = (question, f"{{{asked}}}")
            return Correction(
                (Do(call, inputs={role: _with(prompt, told, marks)}),),
                "the evidence was put into the prompt, before the question",
                (Do(call, inputs={role: _with(prompt, other, marks)}),),
                is_evidence=True,
            )
        return Correction(
            (Do(call, add=told, before=question),),
            "the evidence was put into what the operation gives back",
            (Do(call, add=other, before=question),),
            is_evidence=True,
            is_output=True,
        )

    async def _prompt(self, place: Place) -> tuple[str, str, str]:
        """The argument of the answering operation that is its prompt, its text, and the argument that is the question.

        A prompt may be a template, which has the name of that argument where the question comes.
        """
        graph = place.graph
        found: dict[VariableKind, tuple[str, str]] = {}
        for usage in await graph.store.usages(graph.trace_id):
            if usage.operation_id == place.operation_id and usage.role:
                found.setdefault(graph.variables[usage.variable_id].kind, (usage.role, usage.variable_id))
        if VariableKind.PROMPT in found:
            role, prompt = found[VariableKind.PROMPT]
            asked, _ = found.get(VariableKind.QUERY, ("question", ""))
            return role, await graph.text(prompt), asked
        raise CannotReplayError(
            "it made the answer, and was given no prompt: only a corrected prompt or body counts there"
        )


@dataclass(frozen=True, slots=True)
class BodyCorrector:
    """Runs another body in place of the operation's.

    Attributes:
        body: ``module:function``, which the program's interpreter can import. It is called with the operation's own
            body and its arguments, and gives back what the operation should.
    """

    body: str

    async def correct(self, place: Place) -> Correction:
        """The correction of an operation.

        Raises:
            CannotReplayError: the operation is no call of a function.
        """
        return Correction((Do(str(place.call), body=self.body),), f"the body {self.body} ran in its place")


@dataclass(frozen=True, slots=True)
class GivenCorrector:
    """What a person says that operations should give back.

    Attributes:
        outputs: values by the operation's id; JSON values, or a text.
    """

    outputs: Mapping[str, Any]

    async def correct(self, place: Place) -> Correction:
        """The correction of an operation.

        Raises:
            CannotReplayError: nothing is said of it, or it made the answer.
        """
        if place.operation_id not in self.outputs:
            raise CannotReplayError("nobody said what it should give back")
        if place.is_answering:
            raise CannotReplayError(
                "it made the answer: another answer in its place proves nothing; only a corrected prompt or body counts"
            )
        return Correction(
            (Do(str(place.call), output=self.outputs[place.operation_id]),),
            "it gave back what was said by hand",
            is_output=True,
        )


def _with(prompt: str, text: str, marks: Sequence[str]) -> str:
    """A prompt with a text in a line of its own, before the line that has the question, or the place for it."""
    place = max(prompt.rfind(one) for one in marks)
    if place < 0:
        return f"{prompt}\n{text}"
    line = prompt.rfind("\n", 0, place) + 1
    return f"{prompt[:line]}{text}\n{prompt[line:]}"


def prompts_named(graph: TraceGraph, usages: Sequence[Any], recorded: Recorded, name: str) -> dict[str, str]:
    """The functions that use a prompt of this name, each with the argument that it is."""
    found: dict[str, str] = {}
    for usage in usages:
        variable = graph.variables[usage.variable_id]
        call = recorded.calls.get(usage.operation_id)
        if variable.kind is VariableKind.PROMPT and variable.name == name and usage.role and call is not None:
            found[call.function] = usage.role
    return found
