"""Checks a model's proposal, and makes a verdict of a valid one."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from attribution.llm.agent.path import Cited, join, searched
from attribution.llm.agent.proposal import Alternative, CitedStep, Proposal
from attribution.llm.agent.quotes import find_quote
from attribution.llm.agent.view import FailureView
from attribution.llm.transport.schemas import Rejected
from attribution.verdicts.verdict import CandidateVerdict, Step, Verdict, abstention
from schema.kinds import NOT_THE_MEMORY, ErrorType, OperationKind, VariableKind
from schema.models import Operation

_JUDGES = frozenset({OperationKind.JUDGE, OperationKind.EVALUATION})
_MOST_STEPS = 20
_MOST_ALTERNATIVES = 10
_MOST_NAMES = 12
_REASON = 2_000


async def checked(view: FailureView, proposal: Proposal) -> Verdict:
    """The verdict of a valid proposal.

    Raises:
        Rejected: the proposal is invalid; its problems say why.
    """
    if not proposal.reason.strip():
        raise Rejected("reason: say why")
    reason = proposal.reason.strip()[:_REASON]
    if proposal.error_type is None:
        return abstention(f"the model could not tell: {reason}")
    claim = await claimed(view, proposal.error_type, proposal.operation, proposal.steps)
    problems = list(claim.problems)
    for alternative in proposal.alternatives[:_MOST_ALTERNATIVES]:
        found = operation_problems(view, alternative.error_type, alternative.operation, claim.told)
        problems += [f"alternatives: {problem}" for problem in found]
    if problems:
        raise Rejected(*problems)
    return Verdict(
        error_type=proposal.error_type,
        operation_id=claim.operation.id if claim.operation else None,
        confidence=proposal.confidence,
        reason=reason,
        path=tuple(claim.path),
        candidates=tuple(_candidates(view, proposal.alternatives[:_MOST_ALTERNATIVES])),
    )


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim that an operation lost something, with the result of the check.

    Attributes:
        path: the way of the lost detail.
        told: quoted messages, which count as evidence.
        problems: why the claim is invalid; empty if it is valid.
    """

    operation: Operation | None
    path: Sequence[Step]
    told: Sequence[str]
    problems: Sequence[str]


async def claimed(
    view: FailureView, error_type: ErrorType | None, alias: str | None, steps: Sequence[CitedStep]
) -> Claim:
    """Check a claim. A claim without an error type blames nothing, and only its path is checked.

    An AnnotationError blames no operation, so one that a model names with it means nothing, and is left out.
    """
    alias = None if error_type is ErrorType.ANNOTATION else alias
    operation = view.operation(alias) if alias else None
    cited, cited_problems = await _cited(view, error_type, steps)
    # The given evidence may be wrong, or lie beside the right message: so quoted messages count as evidence, too.
    told = [one.variable_id for one in cited if one.holds and _is_message(view, one.variable_id)]
    problems = operation_problems(view, error_type, alias, told) if error_type is not None else []
    path, path_problems = await join(view, cited)
    problems = [*problems, *cited_problems, *path_problems]
    if not problems and operation is not None and error_type not in NOT_THE_MEMORY:
        problems += _proof_problems(view, operation, path)
    return Claim(operation, path, told, problems)


def operation_problems(
    view: FailureView, error_type: ErrorType, alias: str | None, evidence: Collection[str] = ()
) -> list[str]:
    """Why an operation can't be blamed with an error of this type; empty if it can.

    Args:
        view: the failure.
        error_type: the error type.
        alias: the short name of the operation.
        evidence: ids of messages, in addition to the view's.
    """
    if not alias:
        return [] if error_type in NOT_THE_MEMORY else [f"operation: {error_type} needs the operation at fault"]
    if error_type is ErrorType.ANNOTATION:
        return []
    operation = view.operation(alias)
    if operation is None:
        return [f"operation: there is no operation {alias[:40]!r} in this trace: {_meant(view, alias)}"]
    shown = view.operation_alias(operation.id)
    judges = operation.kind in _JUDGES
    if error_type is ErrorType.JUDGE and not judges:
        return [f"operation: {shown} does not judge: name the operation that judged the answer, or null"]
    if error_type is not ErrorType.JUDGE and operation.kind is OperationKind.JUDGE:
        return [f"operation: {shown} judges, so it can't be at fault for {error_type}"]
    if view.serves_another(operation):
        return [f"operation: {shown} served another question"]
    if operation.id not in view.reach and operation.id not in view.reach_of(evidence):
        return [f"operation: {shown} has nothing to do with this answer, its question, its evidence or the memory"]
    return []


def _meant(view: FailureView, alias: str) -> str:
    """Which operation a model may have meant that named a variable, or several operations by their full name."""
    variable = view.variable(alias)
    if variable is not None and variable.operation_id is not None:
        return f"it is a variable, which {view.operation_alias(variable.operation_id)} made"
    if several := view.called(alias):
        known = ", ".join(view.operation_alias(one.id) for one in several[:_MOST_NAMES])
        more = f" and {len(several) - _MOST_NAMES} more" if len(several) > _MOST_NAMES else ""
        return f"several operations have this name: write the id of one: {known}{more}"
    return "name one that a tool showed"


async def _cited(
    view: FailureView, error_type: ErrorType | None, steps: Sequence[CitedStep]
) -> tuple[list[Cited], list[str]]:
    if error_type not in NOT_THE_MEMORY and not steps:
        return [], ["steps: cite at least one variable with a quote that shows the detail"]
    if error_type is ErrorType.ANNOTATION and not any(step.quote.strip() and _tells(view, step) for step in steps):
        # Without it, a model that can't find the detail would dismiss the gold answer.
        return [], ["steps: quote a message that says something else than the gold answer about the same thing"]
    if len(steps) > _MOST_STEPS:
        return [], [f"steps: at most {_MOST_STEPS}"]
    cited: list[Cited] = []
    problems: list[str] = []
    for number, step in enumerate(steps):
        place = f"steps.{number}"
        variable = view.variable(step.variable)
        if variable is None or not view.may_show(variable.id):
            problems.append(f"{place}: there is no variable {step.variable[:40]!r}: name one that a tool showed")
            continue
        quote = ""
        if step.quote.strip():
            found = find_quote(await view.graph.text(variable.id), step.quote)
            if found is None:
                problems.append(f"{place}: the quote does not stand in {step.variable}: repeat it word by word")
                continue
            quote = found
        elif step.holds:
            problems.append(f"{place}: {step.variable} holds the detail, so quote it word by word")
            continue
        cited.append(Cited(variable.id, quote, step.holds))
    return cited, problems


def _proof_problems(view: FailureView, operation: Operation, steps: Iterable[Step]) -> list[str]:
    graph = view.graph
    for step in steps:
        touched = {step.operation_id, graph.invalidated_by(step.variable_id), *graph.users(step.variable_id)}
        if operation.id in touched or searched(view, operation, step.variable_id):
            return []
    shown = view.operation_alias(operation.id)
    return [f"steps: none is a variable that {shown} used, made, ended or searched: cite what it had at hand"]


def _tells(view: FailureView, step: CitedStep) -> bool:
    """Whether a step cites a message; in a trace without messages, any variable."""
    variable = view.variable(step.variable)
    if variable is None:
        return False
    return _is_message(view, variable.id) or not any(_is_message(view, one) for one in view.graph.variables)


def _is_message(view: FailureView, variable_id: str) -> bool:
    return view.graph.variables[variable_id].kind is VariableKind.MESSAGE


def _candidates(view: FailureView, alternatives: Iterable[Alternative]) -> list[CandidateVerdict]:
    found = []
    for one in sorted(alternatives, key=lambda alternative: -alternative.confidence):
        named = None if one.error_type is ErrorType.ANNOTATION else one.operation
        operation = view.operation(named) if named else None
        operation_id = operation.id if operation else None
        found.append(CandidateVerdict(one.error_type, operation_id, one.confidence, one.reason.strip()[:_REASON]))
    return found
