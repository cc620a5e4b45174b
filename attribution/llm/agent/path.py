"""The path that proves a verdict, from the variables that a model cites."""

from __future__ import annotations

from dataclasses import dataclass

from attribution.llm.agent.quotes import find_quote
from attribution.llm.agent.view import FailureView
from attribution.verdicts.verdict import Link, Step
from schema.kinds import STORED, OperationKind
from schema.models import Operation


@dataclass(frozen=True, slots=True)
class Cited:
    """A cited variable with a quote that was found in its value."""

    variable_id: str
    quote: str
    holds: bool


async def join(view: FailureView, cited: list[Cited]) -> tuple[list[Step], list[str]]:
    """The steps of a path through the cited variables, in order, and the path's problems.

    Two variables are joined by the derivation between them; else by the operation that made the later one and used or
    ended the earlier one; else by a shortest path of derivations; else by the operation that searched the memory.
    """
    steps: list[Step] = []
    problems: list[str] = []
    for before, after in zip([None, *cited], cited, strict=False):
        maker = view.graph.variables[after.variable_id].operation_id
        if before is None:
            steps.append(Step(after.variable_id, maker, Link.START, after.quote, after.holds))
            continue
        between = await _between(view, before, after)
        if between is None:
            earlier, later = view.variable_alias(before.variable_id), view.variable_alias(after.variable_id)
            problems.append(
                f"{later} does not follow from {earlier}: it was not derived from it, and the operation that made it "
                "did not have it at hand; cite steps in the order in which the detail went, and leave out the others"
            )
        else:
            steps.extend(between)
    return steps, problems


async def _between(view: FailureView, before: Cited, after: Cited) -> list[Step] | None:
    graph = view.graph
    maker = graph.variables[after.variable_id].operation_id
    direct = [d for d in graph.parents(after.variable_id) if d.source == before.variable_id]
    if direct:
        return [Step(after.variable_id, direct[0].operation_id, Link.DERIVATION, after.quote, after.holds)]
    by_operation = [Step(after.variable_id, maker, Link.OPERATION, after.quote, after.holds)]
    ended = graph.invalidated_by(before.variable_id)
    if maker is not None and (before.variable_id in graph.used(maker) or ended == maker):
        return by_operation
    chain = graph.path(before.variable_id, after.variable_id)
    if chain:
        passed = [derivation.target for derivation in chain[:-1]]
        texts = await graph.texts(passed)
        steps = []
        for derivation in chain[:-1]:
            quote = _repeated(texts[derivation.target], before, after) if view.may_show(derivation.target) else ""
            # The detail is where the quote is repeated; between two holders it must have passed in other words.
            holds = bool(quote) or (before.holds and after.holds)
            steps.append(Step(derivation.target, derivation.operation_id, Link.DERIVATION, quote, holds))
        last = Step(after.variable_id, chain[-1].operation_id, Link.DERIVATION, after.quote, after.holds)
        return [*steps, last]
    if maker is not None and searched(view, graph.operations[maker], before.variable_id):
        return by_operation
    return None


def searched(view: FailureView, operation: Operation, variable_id: str) -> bool:
    """Whether an operation searched the memory while the variable was current."""
    graph = view.graph
    recorded = graph.recorded(variable_id)
    if operation.kind is not OperationKind.RETRIEVAL or graph.variables[recorded].kind not in STORED:
        return False
    return graph.current_version(graph.versions(recorded), operation.sequence) == recorded


def _repeated(text: str, *cited: Cited) -> str:
    for one in cited:
        found = find_quote(text, one.quote) if one.holds else None
        if found:
            return found
    return ""
