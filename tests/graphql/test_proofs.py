"""The proof of a verdict as GraphQL shows it: whole, with what another program left out, and damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from api.graphql.proof import MOST_REFUTED, Divergence, Proof, proof_in
from api.graphql.scalars import ErrorType, ProofResult
from schema.errors import StoreError
from schema.kinds import VariableKind
from schema.models import Attribution
from tests.factory import TraceBuilder

WHOLE: dict[str, Any] = {
    "result": "proved",
    "reason": "it rescues",
    "correction": "say dog",
    "draws": 9,
    "nullDraws": 4,
    "p0": 0.25,
    "p1": 1.0,
    "p": 0.01,
    "interval": [0.5, 1.0],
    "placebo": False,
    "answer": "a dog",
    "firstDivergence": {"call": "chat", "given": "dog"},
    "confidenceBefore": 0.4,
    "runs": 14,
    "calls": 20,
    "tokens": 300,
    "cost": 0.5,
    "seconds": 7.5,
    "createdAt": "2026-01-02T03:04:05+00:00",
    "refuted": [{"errorType": "UpdateError", "operationId": "o", "reason": "not this one"}, {}],
}


def _verdict(proof: dict[str, Any] | None) -> Attribution:
    trace = TraceBuilder("p")
    question = trace.variable("q", "why?", kind=VariableKind.QUERY)
    failure = trace.failure(question)
    found = Attribution(
        id="a",
        project_id="p",
        trace_id=trace.trace.id,
        failure_id=failure.id,
        error_type=None,
        operation_id=None,
        confidence=None,
        method="flow",
        model=None,
        reason=None,
        evidence="[]",
        candidates="[]",
        tokens=None,
        cost=None,
        seconds=None,
        created_at=None,
        author=None,
    )
    return found if proof is None else replace(found, proof=json.dumps(proof))


def _proof(said: dict[str, Any]) -> Proof:
    found = proof_in(_verdict(said))
    assert found is not None
    return found


def test_a_whole_proof_has_all_its_fields() -> None:
    found = _proof(WHOLE)
    names = {"null_draws": "nullDraws", "confidence_before": "confidenceBefore"}
    for name in ("reason", "correction", "draws", "null_draws", "p0", "p1", "p", "interval", "placebo", "answer"):
        assert getattr(found, name) == WHOLE[names.get(name, name)]
    for name in ("confidence_before", "runs", "calls", "tokens", "cost", "seconds"):
        assert getattr(found, name) == WHOLE[names.get(name, name)]
    assert (found.result, found.project_id) == (ProofResult.PROVED, "p")
    assert found.created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    divergence = found.first_divergence
    assert isinstance(divergence, Divergence)
    assert (divergence.call, divergence.given) == ("chat", "dog")
    refuted = [(one.project_id, one.error_type, one.operation_id, one.reason) for one in found.refuted()]
    assert refuted == [("p", ErrorType.UPDATE, "o", "not this one"), ("p", None, None, "")]


def test_what_another_program_left_out_is_empty() -> None:
    assert proof_in(_verdict(None)) is None
    bare = _proof({"result": "unsettled"})
    assert (bare.result, bare.reason, bare.draws, bare.null_draws, bare.seconds) == (
        ProofResult.UNSETTLED,
        "",
        0,
        0,
        0.0,
    )
    assert [bare.correction, bare.p0, bare.p1, bare.p, bare.interval, bare.placebo, bare.answer] == [None] * 7
    assert [bare.first_divergence, bare.confidence_before, bare.cost, bare.created_at] == [None] * 4
    assert (bare.runs, bare.calls, bare.tokens, bare.refuted()) == (0, 0, 0, [])


def test_so_many_refuted_operations_are_shown() -> None:
    many = [{"operationId": f"o{number}"} for number in range(MOST_REFUTED + 1)]
    shown = _proof(WHOLE | {"refuted": many}).refuted()
    assert [one.operation_id for one in shown] == [f"o{number}" for number in range(MOST_REFUTED)]


@pytest.mark.parametrize("damage", [{"result": "perhaps"}, {"createdAt": "soon"}, {"firstDivergence": {"odd": 1}}])
def test_a_damaged_proof_is_an_error_that_names_it(damage: dict[str, Any]) -> None:
    with pytest.raises(StoreError, match="proof of verdict a"):
        proof_in(_verdict(WHOLE | damage))
