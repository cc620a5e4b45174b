"""Reads failures with their verdicts, and everything that a report shows of them, from a store."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from attribution.report.code_places import code_places
from attribution.report.failure_report import (
    CitedCandidate,
    CitedLoss,
    CitedStep,
    FailureReport,
    OperationRef,
    OtherVerdict,
    PromptRef,
    ReportedProof,
    SessionRef,
)
from attribution.statistics.kappa import is_from
from attribution.verdicts.failure_columns import LISTED, FailureRow
from attribution.verdicts.gold import on_earlier_gold
from attribution.verdicts.naming import operation_label, session_label, variable_label
from attribution.verdicts.stored import by_id, newest
from attribution.verdicts.verdict import CandidateVerdict, PieceLoss, Step, Verdict, from_attribution
from schema.kinds import HUMAN_METHOD, VariableKind
from schema.models import Attribution, Failure, Operation, Session, Trace, Variable
from store.contract.answers import OperationDetail
from store.contract.protocol import GraphStore
from store.contract.verdict_changes import is_adjudicated

_AT_ONCE = 8
_NO_SETTINGS = frozenset(
    {"parentId", "parentSpanId", "dropped", "inputTokens", "outputTokens", "responseId", "responseModel"}
)
"""Metadata of an operation that say where it stands in the trace, or what came of it, not how it is set up."""
_DIGEST = re.compile(r"[0-9a-f]{32}$")


async def gather(store: GraphStore, failures: Sequence[Failure], source: str | None = None) -> list[FailureReport]:
    """The cases of some failures.

    Args:
        store: holds the failures.
        failures: to report on.
        source: a method or an author whose newest verdict on each failure counts; None for the newest verdict by a
            method.
    """
    verdicts = await _verdicts(store, failures)
    pairs = [(failure, _choose(failure, verdicts.get(failure.id, []), source)) for failure in failures]
    return await _cases(store, pairs, verdicts)


async def chosen(store: GraphStore, failures: Sequence[Failure], source: str | None = None) -> list[Attribution]:
    """The verdict that counts for each failure; see ``gather``."""
    verdicts = await _verdicts(store, failures)
    found = (_choose(failure, verdicts.get(failure.id, []), source) for failure in failures)
    return [one for one in found if one is not None]


async def cases_of(store: GraphStore, pairs: Sequence[tuple[Failure, Attribution]]) -> list[FailureReport]:
    """The cases of failures with given verdicts, in order."""
    return await _cases(store, pairs, await _verdicts(store, [failure for failure, _ in pairs]))


async def _verdicts(store: GraphStore, failures: Sequence[Failure]) -> dict[str, list[Attribution]]:
    verdicts: dict[str, list[Attribution]] = {}
    found = await store.attributions([failure.id for failure in failures])
    # The final word on a disputed failure counts as the newest human verdict.
    for one in sorted(found, key=is_adjudicated):
        verdicts.setdefault(one.failure_id, []).append(one)
    return {one.id: newest(verdicts[one.id], one) for one in failures if one.id in verdicts}


async def _cases(
    store: GraphStore, pairs: Sequence[tuple[Failure, Attribution | None]], verdicts: Mapping[str, list[Attribution]]
) -> list[FailureReport]:
    reader = await _read(store, pairs, verdicts)
    return [reader.case(failure, chosen, verdicts.get(failure.id, [])) for failure, chosen in pairs]


def _choose(failure: Failure, verdicts: Sequence[Attribution], source: str | None) -> Attribution | None:
    """The source's newest verdict; a verdict on earlier gold answers is the last choice."""
    of_source = [one for one in verdicts if (one.method != HUMAN_METHOD if source is None else is_from(one, source))]
    current = [one for one in of_source if not on_earlier_gold(one, failure)]
    return next(reversed(current or of_source), None)


async def _read(
    store: GraphStore,
    pairs: Sequence[tuple[Failure, Attribution | None]],
    verdicts: Mapping[str, Sequence[Attribution]],
) -> _Reader:
    failures = [failure for failure, _ in pairs]
    spoken = [from_attribution(chosen) for _, chosen in pairs if chosen is not None]
    operations = await by_id(
        store,
        Operation,
        [
            *(one.operation_id for many in verdicts.values() for one in many),
            *(step.operation_id for verdict in spoken for step in verdict.path),
            *(candidate.operation_id for verdict in spoken for candidate in verdict.candidates),
            *(loss.operation_id for verdict in spoken for loss in verdict.losses),
            *(step.operation_id for verdict in spoken for loss in verdict.losses for step in loss.path),
        ],
    )
    variables = await by_id(
        store,
        Variable,
        [
            *(id_ for failure in failures for id_ in (failure.question_id, failure.answer_id)),
            *(step.variable_id for verdict in spoken for step in verdict.path),
            *(step.variable_id for verdict in spoken for loss in verdict.losses for step in loss.path),
        ],
    )
    blamed = sorted({verdict.operation_id for verdict in spoken if verdict.operation_id in operations} - {None})
    return _Reader(
        await by_id(store, Trace, (failure.trace_id for failure in failures)),
        await by_id(store, Session, (operation.session_id for operation in operations.values())),
        operations,
        variables,
        await _details(store, [id_ for id_ in blamed if id_ is not None]),
        await code_places(store, (operations[id_] for id_ in blamed if id_ is not None)),
    )


async def _details(store: GraphStore, operation_ids: Sequence[str]) -> dict[str, OperationDetail]:
    room = asyncio.Semaphore(_AT_ONCE)

    async def read(operation_id: str) -> OperationDetail:
        async with room:
            return await store.operation(operation_id)

    found = await asyncio.gather(*map(read, operation_ids))
    return dict(zip(operation_ids, found, strict=True))


@dataclass(frozen=True, slots=True)
class _Reader:
    """Everything that was read, by id."""

    traces: Mapping[str, Trace]
    sessions: Mapping[str, Session]
    operations: Mapping[str, Operation]
    variables: Mapping[str, Variable]
    details: Mapping[str, OperationDetail]
    places: Mapping[str, str]

    def case(self, failure: Failure, attribution: Attribution | None, others: Sequence[Attribution]) -> FailureReport:
        trace = self.traces[failure.trace_id]
        question = self.variables.get(failure.question_id)
        answer = self.variables.get(failure.answer_id or "")
        return FailureReport(
            failure_id=failure.id,
            trace_id=trace.id,
            trace_external_id=trace.external_id,
            trace=trace.name or trace.external_id,
            question_id=failure.question_id,
            question_external_id=question.external_id if question else None,
            question_label=variable_label(question) if question else "",
            answer_external_id=answer.external_id if answer else None,
            question=failure.question,
            prediction=failure.prediction,
            gold_answers=list(failure.gold_answers),
            failed_at=(answer.created_at if answer else None) or failure.created_at,
            columns=self._columns(failure, others, question, answer),
            others=[self._other(one, failure) for one in others if attribution is None or one.id != attribution.id],
            **({} if attribution is None else self._explained(attribution, failure)),
        )

    def _columns(
        self, failure: Failure, verdicts: Sequence[Attribution], question: Variable | None, answer: Variable | None
    ) -> dict[str, Any]:
        row = FailureRow(failure, verdicts, question, answer, self.operations)
        return {column.key: column.as_json(row) for column in LISTED}

    def _explained(self, attribution: Attribution, failure: Failure) -> dict[str, Any]:
        verdict: Verdict = from_attribution(attribution)
        operation = self.operations.get(verdict.operation_id or "")
        session = self.sessions.get(operation.session_id or "") if operation else None
        return {
            "attribution_id": attribution.id,
            "method": attribution.method,
            "author": attribution.author,
            "model": attribution.model,
            "error_type": attribution.error_type,
            "confidence": attribution.confidence,
            "reason": attribution.reason,
            "operation": None if operation is None else operation_ref(operation, self.places.get(operation.id)),
            "session": None if session is None else _session_ref(session),
            "prompts": [] if operation is None else prompts_of(self.details[operation.id]),
            "path": [self._step(step) for step in verdict.path],
            "candidates": [self._candidate(candidate) for candidate in verdict.candidates],
            "losses": [self._loss(loss) for loss in verdict.losses],
            "question_kind": verdict.question_kind,
            "on_earlier_gold": on_earlier_gold(attribution, failure),
            "proof": _proof(attribution),
        }

    def _step(self, step: Step) -> CitedStep:
        variable = self.variables.get(step.variable_id)
        return CitedStep(
            variable_id=step.variable_id,
            external_id=variable.external_id if variable else None,
            kind=variable.kind if variable else None,
            operation_id=step.operation_id,
            operation_external_id=self._external(step.operation_id),
            operation=self._label(step.operation_id),
            link=step.link.value,
            quote=step.quote,
            holds=step.holds,
            label=variable_label(variable) if variable else "",
        )

    def _candidate(self, candidate: CandidateVerdict) -> CitedCandidate:
        return CitedCandidate(
            error_type=candidate.error_type,
            operation_id=candidate.operation_id,
            operation_external_id=self._external(candidate.operation_id),
            operation=self._label(candidate.operation_id),
            confidence=candidate.confidence,
            reason=candidate.reason,
        )

    def _loss(self, loss: PieceLoss) -> CitedLoss:
        operation = self.operations.get(loss.operation_id or "")
        return CitedLoss(
            piece=loss.piece,
            error_type=loss.error_type,
            operation_id=loss.operation_id,
            operation_external_id=self._external(loss.operation_id),
            operation=self._label(loss.operation_id),
            operation_key=operation_key(operation) if operation else None,
            confidence=loss.confidence,
            reason=loss.reason,
            reached=loss.reached,
            path=[self._step(step) for step in loss.path],
        )

    def _other(self, one: Attribution, failure: Failure) -> OtherVerdict:
        return OtherVerdict(
            method=one.method,
            author=one.author,
            error_type=one.error_type,
            operation_id=one.operation_id,
            operation_external_id=self._external(one.operation_id),
            reason=one.reason,
            operation=self._label(one.operation_id),
            on_earlier_gold=on_earlier_gold(one, failure),
        )

    def _external(self, operation_id: str | None) -> str | None:
        operation = self.operations.get(operation_id or "")
        return operation.external_id if operation else None

    def _label(self, operation_id: str | None) -> str | None:
        operation = self.operations.get(operation_id or "")
        return operation_label(operation) if operation else None


def operation_key(operation: Operation) -> str:
    """The key of an operation by name and kind, equal for the same operation of other traces."""
    return f"{operation.kind}:{operation_label(operation)}"


def operation_ref(operation: Operation, place: str | None = None) -> OperationRef:
    """An operation as a case shows it, with the place in the code where it was called."""
    settings = msgspec.json.decode(operation.attributes)
    return OperationRef(
        id=operation.id,
        external_id=operation.external_id,
        key=operation_key(operation),
        label=operation_label(operation),
        kind=operation.kind,
        location=place or operation.location,
        settings={
            name: value
            for name, value in sorted(settings.items())
            if isinstance(value, bool | int | float | str) and name not in _NO_SETTINGS
        },
    )


def _session_ref(session: Session) -> SessionRef:
    return SessionRef(
        id=session.id, external_id=session.external_id, label=session_label(session), sequence=session.sequence
    )


def prompts_of(detail: OperationDetail) -> list[PromptRef]:
    """The prompts that an operation used, or if there are none, made."""
    used = [variable for variable in detail.used if variable.kind is VariableKind.PROMPT]
    made = [variable for variable in detail.generated if variable.kind is VariableKind.PROMPT]
    found = {
        prompt_name(variable): PromptRef(
            key=prompt_name(variable), variable_id=variable.id, external_id=variable.external_id
        )
        for variable in used or made
    }
    return [found[name] for name in sorted(found)]


def prompt_name(variable: Variable) -> str:
    """The name of a prompt template; for a prompt made for one call, its class, because its name is a digest."""
    if _DIGEST.search(variable.name):
        return variable.class_name or variable.comment or "prompt"
    return variable.name


def _proof(attribution: Attribution) -> ReportedProof | None:
    """The result of replaying a verdict."""
    return None if attribution.proof is None else msgspec.convert(_json(attribution.proof), ReportedProof)


def _json(text: str) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(text)
    return {name: found.get(name) for name in ("result", "reason", "p0", "p1", "draws")}
