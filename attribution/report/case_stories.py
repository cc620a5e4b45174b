"""The stories of a report's cases; see ``attribution.report.story``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from attribution.report.failure_report import CitedLoss, CitedStep, FailureReport, Ranking
from attribution.report.story import story
from attribution.report.story_model import At, Story
from attribution.report.told import Search, Step, Told
from attribution.trace.told import said_on
from attribution.verdicts.naming import operation_label
from attribution.verdicts.stored import by_id
from attribution.why_not.model import WhyNot
from schema.kinds import ErrorType
from schema.models import Operation, Variable
from store.contract.protocol import GraphStore


async def stories_of(
    store: GraphStore,
    cases: Sequence[FailureReport],
    reasons: Mapping[str, Sequence[WhyNot]],
    rankings: Mapping[str, Ranking],
) -> dict[str, Story]:
    """The stories of the cases that have a verdict, by failure.

    Args:
        store: holds the cases.
        cases: with their verdicts.
        reasons: what was there and not chosen, by failure.
        rankings: how the blamed searches rated their candidates, by failure.
    """
    judged = [case for case in cases if case.attribution_id is not None]
    paths = {case.failure_id: _path(case) for case in judged}
    steps = [step for path in paths.values() for step in path]
    named = [*(step.operation_id for step in steps), *(case.operation.id for case in judged if case.operation)]
    read = _Read(
        await by_id(store, Variable, (step.variable_id for step in steps)), await by_id(store, Operation, named)
    )
    return {
        case.failure_id: story(
            read.told(
                case,
                paths[case.failure_id],
                _search(case, reasons.get(case.failure_id, ()), rankings.get(case.failure_id)),
            )
        )
        for case in judged
    }


def _loss(case: FailureReport) -> CitedLoss | None:
    """The piece that the story is about: the first that was lost where the verdict says, else the first."""
    at = case.operation.id if case.operation else None
    blamed = [one for one in case.losses if not one.reached and one.operation_id == at]
    return next(iter([*blamed, *case.losses]), None)


def _path(case: FailureReport) -> Sequence[CitedStep]:
    loss = _loss(case)
    return loss.path if loss else case.path


def _search(case: FailureReport, pieces: Sequence[WhyNot], ranking: Ranking | None) -> Search | None:
    """How the searches rated the unit with the needed words, if they lost it."""
    loss = _loss(case)
    if (loss.error_type if loss else case.error_type) is not ErrorType.RETRIEVAL:
        return None
    piece = next((one for one in pieces if loss is not None and one.piece == loss.piece), None)
    if piece is None:
        return None if ranking is None else _ranked(ranking)
    return Search(
        returned=[(one.text, one.rank, one.score) for one in piece.returned],
        held=[(one.quote, one.rank, one.score) for one in piece.held if not one.returned],
        considered=piece.considered,
        returned_count=piece.returned_count,
    )


def _ranked(ranking: Ranking) -> Search:
    return Search(
        returned=[(one.text, one.rank, one.score) for one in ranking.units if one.is_returned],
        held=[(one.text, one.rank, one.score) for one in ranking.units if one.is_missed],
        considered=ranking.considered,
        returned_count=ranking.returned,
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """The variables and operations of all paths, by id."""

    variables: Mapping[str, Variable]
    operations: Mapping[str, Operation]

    def told(self, case: FailureReport, path: Sequence[CitedStep], search: Search | None) -> Told:
        loss = _loss(case)
        return Told(
            prediction=case.prediction,
            gold_answers=case.gold_answers,
            error_type=case.error_type,
            reason=case.reason,
            operation=self._at(case.operation.id if case.operation else None),
            piece=loss.piece if loss else "",
            path=[self._step(one) for one in path],
            search=search,
        )

    def _step(self, step: CitedStep) -> Step:
        variable = self.variables.get(step.variable_id)
        operation = self.operations.get(step.operation_id or "")
        when = (variable.created_at if variable else None) or (operation.started_at if operation else None)
        return Step(
            holds=step.holds,
            quote=step.quote,
            kind=step.kind,
            value=variable.preview if variable else "",
            variable_id=step.variable_id,
            variable=step.label,
            operation=self._at(step.operation_id),
            time=(said_on(msgspec.json.decode(variable.attributes)) if variable else None)
            or (when.isoformat() if when else None),
        )

    def _at(self, operation_id: str | None) -> At | None:
        found = self.operations.get(operation_id or "")
        if found is None:
            return None
        return At(id=found.id, name=operation_label(found), kind=found.kind, sequence=found.sequence)
