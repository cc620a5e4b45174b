"""Corrections of a blamed operation: from the evidence, or by a body that is known to be right.

No correction uses the gold answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memtrace.replay import Call, Do

from attribution.trace.graph import TraceGraph
from optimization.proof.judge import ReplayJudge
from optimization.replay.recorded import CannotReplayError, RecordedCalls
from schema.kinds import VariableKind


@dataclass(frozen=True, slots=True)
class Correction:
    """A correction of one operation.

    Attributes:
        do: the changes to the program's run.
        says: the changes in words.
        placebo: the same kind of changes with text unrelated to the question; empty if there is no placebo.
        is_evidence: whether the correction inserts the evidence, which may help in any operation.
        is_output: whether the correction changes the operation's result.
    """

    do: tuple[Do, ...]
    says: str
    placebo: tuple[Do, ...] = ()
    is_evidence: bool = False
    is_output: bool = False


@dataclass(frozen=True, slots=True)
class BlamedOperation:
    """An operation that a verdict on a failure blames."""

    graph: TraceGraph
    recorded: RecordedCalls
    judge: ReplayJudge
    operation_id: str

    @property
    def is_answering(self) -> bool:
        """Whether the operation made the answer, or a text that later operations passed on unchanged as the answer."""
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
        """The identity of the operation's call.

        Raises:
            CannotReplayError: the operation is no call of a function.
        """
        return self.recorded.call(self.graph.operations[self.operation_id])


class Corrector(Protocol):
    """Corrects operations."""

    async def correct(self, blamed: BlamedOperation) -> Correction:
        """The correction of an operation.

        Raises:
            CannotReplayError: the operation can't be corrected; the message says why.
        """
        ...


class EvidenceCorrector:
    """Adds the evidence messages to the operation's result; for the answering operation, to its prompt."""

    async def correct(self, blamed: BlamedOperation) -> Correction:
        """The correction of an operation.

        Raises:
            CannotReplayError: there is no evidence, or the answering operation has no prompt.
        """
        told = await blamed.judge.told()
        if not told:
            raise CannotReplayError("no message of the trace is known as evidence, so there is nothing to correct from")
        other = await blamed.judge.irrelevant()
        question = blamed.judge.failure.question
        call = str(blamed.call)
        if blamed.is_answering:
            role, prompt, asked = await self._prompt(blamed)
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

    async def _prompt(self, blamed: BlamedOperation) -> tuple[str, str, str]:
        """Name of the answering operation's prompt argument, the prompt's text, and name of the question argument.

        A prompt may be a template that contains the name of the question argument in place of the question.
        """
        graph = blamed.graph
        found: dict[VariableKind, tuple[str, str]] = {}
        for usage in await graph.store.usages(graph.trace_id):
            if usage.operation_id == blamed.operation_id and usage.role:
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
    """Replaces the body of the operation.

    Attributes:
        body: ``module:function``, importable in the program's interpreter. The function is called with the operation's
            own body and its arguments, and returns the right result.
    """

    body: str

    async def correct(self, blamed: BlamedOperation) -> Correction:
        """The correction of an operation.

        Raises:
            CannotReplayError: the operation is no call of a function.
        """
        return Correction((Do(str(blamed.call), body=self.body),), f"the body {self.body} ran in its place")


def _with(prompt: str, text: str, marks: Sequence[str]) -> str:
    """The prompt with ``text`` inserted as a line, before the line with the question or the question's placeholder."""
    mark = max(prompt.rfind(one) for one in marks)
    if mark < 0:
        return f"{prompt}\n{text}"
    line = prompt.rfind("\n", 0, mark) + 1
    return f"{prompt[:line]}{text}\n{prompt[line:]}"


def prompts_named(graph: TraceGraph, usages: Sequence[Any], recorded: RecordedCalls, name: str) -> dict[str, str]:
    """The functions that use the prompt ``name``, each with the name of the prompt's argument."""
    found: dict[str, str] = {}
    for usage in usages:
        variable = graph.variables[usage.variable_id]
        call = recorded.calls.get(usage.operation_id)
        if variable.kind is VariableKind.PROMPT and variable.name == name and usage.role and call is not None:
            found[call.function] = usage.role
    return found
