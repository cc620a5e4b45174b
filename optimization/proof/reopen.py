"""Updates a verdict after its replay: a proved verdict becomes more certain, a refuted one is reopened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from optimization.proof.confidence import after
from optimization.proof.model import Proof, Result
from optimization.proof.prove import Blame
from schema.kinds import HUMAN_METHOD, ErrorType
from schema.models import Attribution


@dataclass(frozen=True, slots=True)
class Tried:
    """A replayed explanation of a failure: the verdict's own, or a candidate of the verdict.

    Attributes:
        said: the stored candidate.
    """

    blame: Blame
    confidence: float
    said: Mapping[str, Any]
    proof: Proof


def original(verdict: Attribution) -> Attribution:
    """The verdict without the changes by earlier replays."""
    if verdict.proof is None:
        return verdict
    stored = msgspec.json.decode(verdict.proof)
    before = stored.get("before")
    if before is None:
        return replace(verdict, proof=None, confidence=stored.get("confidenceBefore", verdict.confidence))
    return replace(
        verdict,
        error_type=None if before["errorType"] is None else ErrorType(before["errorType"]),
        operation_id=before["operationId"],
        confidence=before["confidence"],
        reason=before["reason"],
        evidence=msgspec.json.encode(before["evidence"]).decode(),
        candidates=msgspec.json.encode(before["candidates"]).decode(),
        proof=None,
    )


def explanations(verdict: Attribution) -> list[tuple[Blame, float, Mapping[str, Any]]]:
    """The verdict's own explanation, then its candidates, the likeliest first; each operation once."""
    first = {
        "errorType": verdict.error_type,
        "operationId": verdict.operation_id,
        "confidence": verdict.confidence,
        "reason": verdict.reason or "",
    }
    found: list[tuple[Blame, float, Mapping[str, Any]]] = []
    seen: set[str | None] = set()
    others = [] if verdict.method == HUMAN_METHOD else msgspec.json.decode(verdict.candidates)
    for said in ([first] if verdict.error_type is not None else []) + others:
        operation = said["operationId"]
        if operation in seen or (operation is None and said is not first):
            continue
        seen.add(operation)
        found.append((Blame(ErrorType(said["errorType"]), operation), said["confidence"] or 0.0, said))
    return found


def concluded(verdict: Attribution, tried: Sequence[Tried]) -> Attribution:
    """The verdict after its explanations were replayed, in the order of ``tried``.

    The first proved explanation wins, else the first that is not refuted. If all are refuted, the verdict becomes an
    abstention. A person's verdict keeps its explanation.
    """
    if not tried:
        return verdict
    chosen = next((one for one in tried if one.proof.result is Result.PROVED), None)
    chosen = chosen or next((one for one in tried if one.proof.result is Result.UNSETTLED), None)
    first = tried[0]
    if verdict.method == HUMAN_METHOD or chosen is first:
        proof = replace(first.proof, confidence_before=verdict.confidence)
        if verdict.method == HUMAN_METHOD or verdict.confidence is None:
            return replace(verdict, proof=proof.encoded())
        confidence = after(verdict.confidence, proof.result)
        if verdict.error_type is None:
            return _named(verdict, first, tried)
        return replace(verdict, confidence=confidence, proof=proof.encoded())
    if chosen is None:
        return _given_up(verdict, tried)
    return _named(verdict, chosen, tried)


def _named(verdict: Attribution, chosen: Tried, tried: Sequence[Tried]) -> Attribution:
    """The verdict with a candidate as its new explanation."""
    if verdict.error_type is None and chosen.proof.result is not Result.PROVED:
        return replace(verdict, proof=_encoded(chosen.proof, verdict, tried))
    others = [dict(one.said) | {"confidence": _lowered(one)} for one in tried if one is not chosen]
    told = {one.blame.operation_id for one in tried}
    others += [one for one in msgspec.json.decode(verdict.candidates) if one["operationId"] not in told]
    by = "replay proved it" if chosen.proof.result is Result.PROVED else "replay refuted what was likelier"
    return replace(
        verdict,
        error_type=chosen.blame.error_type,
        operation_id=chosen.blame.operation_id,
        confidence=after(chosen.confidence, chosen.proof.result),
        reason=f"{chosen.said['reason']} ({by})",
        evidence=_path(verdict, chosen.blame.operation_id),
        candidates=_text(others),
        proof=_encoded(chosen.proof, verdict, tried),
    )


def _given_up(verdict: Attribution, tried: Sequence[Tried]) -> Attribution:
    """The abstention after all explanations were refuted."""
    others = [dict(one.said) | {"confidence": _lowered(one)} for one in tried]
    return replace(
        verdict,
        error_type=None,
        operation_id=None,
        confidence=0.0,
        reason=f"replay refuted the verdict and its candidates: {tried[0].proof.reason}",
        evidence="[]",
        candidates=_text(others),
        proof=_encoded(tried[0].proof, verdict, tried),
    )


def _lowered(one: Tried) -> float:
    return after(one.confidence, one.proof.result)


def _encoded(proof: Proof, verdict: Attribution, tried: Sequence[Tried]) -> str:
    refuted = tuple(
        {
            "operationId": one.blame.operation_id,
            "errorType": one.blame.error_type,
            "reason": one.proof.reason,
        }
        for one in tried
        if one.proof.result is Result.REFUTED
    )
    document = replace(proof, confidence_before=verdict.confidence, refuted=refuted).as_json()
    document["before"] = {
        "errorType": verdict.error_type,
        "operationId": verdict.operation_id,
        "confidence": verdict.confidence,
        "reason": verdict.reason,
        "evidence": msgspec.json.decode(verdict.evidence),
        "candidates": msgspec.json.decode(verdict.candidates),
    }
    return _text(document)


def _path(verdict: Attribution, operation_id: str | None) -> str:
    """The stored path that proves the loss at an operation; empty JSON list if the verdict has none."""
    for loss in msgspec.json.decode(verdict.losses):
        if loss["operationId"] == operation_id:
            return _text(loss["path"])
    return "[]"


def _text(value: Any) -> str:
    return msgspec.json.encode(value).decode()
