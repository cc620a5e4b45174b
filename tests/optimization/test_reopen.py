"""The verdict after a replay of its explanations: the named one, the confidence, and what stays of the old verdict."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from optimization.proof.bench import first_missing
from optimization.proof.confidence import Rates, after
from optimization.proof.model import Divergence, Proof, Result, Spent, proof_of
from optimization.proof.reopen import Tried, concluded, explanations, original
from schema.kinds import HUMAN_METHOD, ErrorType
from schema.models import Attribution
from tests.factory import START, TraceBuilder

PROVED, REFUTED, UNSETTLED = Result.PROVED, Result.REFUTED, Result.UNSETTLED
PATH = [{"variableId": "v1", "operationId": "b", "link": "start", "quote": "tea", "holds": True}]


def _candidate(error_type: str, operation: str | None, confidence: float | None, reason: str) -> dict[str, Any]:
    return {"errorType": error_type, "operationId": operation, "confidence": confidence, "reason": reason}


CANDIDATES = [
    _candidate("RetrievalError", "b", 0.3, "or not found"),
    _candidate("ResponseError", "c", 0.2, "or not said"),
    _candidate("AnnotationError", None, 0.1, "or wrong gold"),
]


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _verdict(**more: Any) -> Attribution:
    builder = TraceBuilder("p")
    given: dict[str, Any] = {
        "error_type": ErrorType.UPDATE,
        "operation_id": "a",
        "confidence": 0.6,
        "reason": "it was dropped",
        "evidence": _json([{"variableId": "v0"}]),
        "candidates": _json(CANDIDATES),
        "losses": json.dumps([{"operationId": "x", "path": []}, {"operationId": "b", "path": PATH}]),
    }
    return replace(builder.attribution(builder.failure(builder.variable("q"))), **given | more)


def _tried(verdict: Attribution, *results: Result) -> list[Tried]:
    """The first explanations of a verdict with the results of their replays."""
    some = zip(explanations(verdict), results, strict=False)
    return [
        Tried(blame, confidence, said, Proof(result, f"because of {blame.operation_id}", created_at=START))
        for (blame, confidence, said), result in some
    ]


def _blamed(verdict: Attribution) -> tuple[str | None, str | None, float | None, str | None]:
    return verdict.error_type, verdict.operation_id, verdict.confidence, verdict.reason


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({}, [("a", 0.6), ("b", 0.3), ("c", 0.2)]),
        ({"confidence": None}, [("a", 0.0), ("b", 0.3), ("c", 0.2)]),
        ({"error_type": None, "operation_id": None}, [("b", 0.3), ("c", 0.2)]),
        ({"operation_id": None}, [(None, 0.6), ("b", 0.3), ("c", 0.2)]),
        ({"operation_id": "b"}, [("b", 0.6), ("c", 0.2)]),
        ({"method": HUMAN_METHOD}, [("a", 0.6)]),
        ({"method": HUMAN_METHOD, "error_type": None, "operation_id": None}, []),
        ({"candidates": json.dumps([_candidate("RetrievalError", "b", None, "")])}, [("a", 0.6), ("b", 0.0)]),
    ],
)
def test_each_operation_is_explained_once_the_verdicts_own_first(
    more: dict[str, Any], wanted: list[tuple[str | None, float]]
) -> None:
    found = explanations(_verdict(**more))
    assert [(blame.operation_id, confidence) for blame, confidence, _ in found] == wanted


DOWN = {one: after(confidence, REFUTED) for one, confidence in (("a", 0.6), ("b", 0.3), ("c", 0.2))}
PROOF_OF_B = ("RetrievalError", "b", after(0.3, PROVED), "or not found (replay proved it)")
OPEN_B = ("RetrievalError", "b", 0.3, "or not found (replay refuted what was likelier)")


@pytest.mark.parametrize(
    ("results", "wanted", "others", "refuted"),
    [
        ((), ("UpdateError", "a", 0.6, "it was dropped"), None, None),
        ((PROVED,), ("UpdateError", "a", after(0.6, PROVED), "it was dropped"), None, []),
        ((UNSETTLED,), ("UpdateError", "a", 0.6, "it was dropped"), None, []),
        ((UNSETTLED, REFUTED), ("UpdateError", "a", 0.6, "it was dropped"), None, []),
        ((REFUTED, PROVED), PROOF_OF_B, [("a", DOWN["a"]), ("c", 0.2), (None, 0.1)], ["a"]),
        ((UNSETTLED, PROVED), PROOF_OF_B, [("a", 0.6), ("c", 0.2), (None, 0.1)], []),
        ((REFUTED, UNSETTLED), OPEN_B, [("a", DOWN["a"]), ("c", 0.2), (None, 0.1)], ["a"]),
        (
            (REFUTED, REFUTED, REFUTED),
            (None, None, 0.0, "replay refuted the verdict and its candidates: because of a"),
            [("a", DOWN["a"]), ("b", DOWN["b"]), ("c", DOWN["c"])],
            ["a", "b", "c"],
        ),
    ],
)
def test_the_first_proved_explanation_wins_else_the_first_that_is_open(
    results: tuple[Result, ...],
    wanted: tuple[str | None, str | None, float, str],
    others: list[tuple[str | None, float]] | None,
    refuted: list[str] | None,
) -> None:
    verdict = _verdict()
    found = concluded(verdict, _tried(verdict, *results))
    assert _blamed(found) == wanted
    if refuted is None:
        assert found == verdict
        return
    if others is None:
        assert (found.evidence, found.candidates) == (verdict.evidence, verdict.candidates)
    else:
        named = [(one["operationId"], one["confidence"]) for one in json.loads(found.candidates)]
        assert named == others
        assert json.loads(found.evidence) == (PATH if found.operation_id == "b" else [])
    proof = proof_of(found)
    assert proof is not None
    assert [(one["operationId"], one["reason"]) for one in proof["refuted"]] == [
        (one, f"because of {one}") for one in refuted
    ]
    assert proof["confidenceBefore"] == 0.6
    assert original(found) == verdict


def test_a_persons_verdict_keeps_its_explanation() -> None:
    verdict = _verdict(method=HUMAN_METHOD)
    for result in Result:
        found = concluded(verdict, _tried(verdict, result))
        assert replace(found, proof=None) == verdict
        assert (proof_of(found) or {})["result"] == result
        assert original(found) == verdict


def test_a_verdict_without_a_confidence_gets_none() -> None:
    verdict = _verdict(confidence=None)
    found = concluded(verdict, _tried(verdict, PROVED))
    assert replace(found, proof=None) == verdict
    assert found.proof is not None


@pytest.mark.parametrize(
    ("results", "wanted"),
    [
        ((PROVED,), PROOF_OF_B),
        ((REFUTED, PROVED), ("ResponseError", "c", after(0.2, PROVED), "or not said (replay proved it)")),
        ((UNSETTLED,), (None, None, 0.2, "unsure")),
        ((REFUTED, UNSETTLED), (None, None, 0.2, "unsure")),
    ],
)
def test_an_abstention_names_only_what_was_proved(
    results: tuple[Result, ...], wanted: tuple[str | None, str | None, float, str]
) -> None:
    verdict = _verdict(error_type=None, operation_id=None, confidence=0.2, reason="unsure")
    found = concluded(verdict, _tried(verdict, *results))
    assert _blamed(found) == wanted
    assert original(found) == verdict


def test_a_verdict_of_an_older_proof_gets_its_confidence_back() -> None:
    verdict = _verdict(confidence=0.9, proof='{"result": "proved", "confidenceBefore": 0.6}')
    assert original(verdict) == _verdict()
    assert original(replace(verdict, proof='{"result": "proved"}')).confidence == 0.9
    assert original(_verdict()) == _verdict()


RATES = Rates({PROVED: 7, REFUTED: 1}, {PROVED: 1, REFUTED: 3})


@pytest.mark.parametrize(("result", "ratio"), [(PROVED, (8 / 10) / (2 / 6)), (REFUTED, (2 / 10) / (4 / 6))])
def test_how_much_a_result_says(result: Result, ratio: float, monkeypatch: pytest.MonkeyPatch) -> None:
    assert RATES.likelihood(result) == pytest.approx(ratio)
    monkeypatch.setattr("optimization.proof.confidence.rates", lambda: RATES)
    assert after(0.5, result) == pytest.approx(ratio / (ratio + 1), abs=1e-4)
    assert (after(0.0, result), after(1.0, result)) == (0.0, 1.0)
    assert after(0.7, UNSETTLED) == 0.7


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        (Spent(), Spent(), Spent()),
        (Spent(1, 2, 3, None, 4.0), Spent(10, 20, 30, 0.5, 40.0), Spent(11, 22, 33, 0.5, 44.0)),
        (Spent(cost=0.25), Spent(cost=0.5), Spent(cost=0.75)),
        (Spent(cost=0.25), Spent(), Spent(cost=0.25)),
    ],
)
def test_costs_are_added(one: Spent, other: Spent, wanted: Spent) -> None:
    assert one.plus(other) == wanted


def test_a_proof_as_public_json() -> None:
    proof = Proof(
        PROVED, "it helps", "a", "add tea", 5, 4, 0.0, 0.8, 0.03, (0.2, 0.9), False, "tea", Divergence("c", "given"),
        0.6, ({"operationId": "b"},), Spent(9, 3, 120, 0.5, 1.23456), START,
    )  # fmt: skip
    assert json.loads(proof.encoded()) == {
        "result": "proved", "reason": "it helps", "operationId": "a", "correction": "add tea", "draws": 5,
        "nullDraws": 4, "p0": 0.0, "p1": 0.8, "p": 0.03, "placebo": False, "answer": "tea", "confidenceBefore": 0.6,
        "interval": [0.2, 0.9], "firstDivergence": {"call": "c", "given": "given"}, "refuted": [{"operationId": "b"}],
        "runs": 9, "calls": 3, "tokens": 120, "cost": 0.5, "seconds": 1.235, "createdAt": "2026-03-01T12:30:15.123456Z",
    }  # fmt: skip
    empty = Proof(UNSETTLED, "no", created_at=START).as_json()
    assert (empty["interval"], empty["firstDivergence"], empty["refuted"]) == (None, None, [])


@pytest.mark.parametrize(
    ("wanted", "there", "first"),
    [("", "", None), ("ab", "ba", None), ("aab", "ab", "a"), ("ba", "b", "a"), ("ab", "", "a"), ("", "a", None)],
)
def test_the_first_call_that_is_missing(wanted: str, there: str, first: str | None) -> None:
    assert first_missing(wanted, there) == first
