"""Proofs are stored beside their verdicts, on both engines, and doors show them; a refuted verdict is reopened."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import cast

import msgspec
import pytest
from memtrace.exporters.memory import MemoryExporter

from api.graphql.proof import proof_in
from api.web.pages.render import _environment
from attribution.report.gather import cases_of
from attribution.run import Options as AttributionOptions
from attribution.run import attribute
from optimization.proof.bench import Options
from optimization.proof.confidence import after, rates
from optimization.proof.correction import Corrector
from optimization.proof.model import Result, proof_of
from optimization.proof.run import ReplayedVerdict, prove_verdicts
from optimization.replay.recorded import NOT_KEPT
from schema.ids import make_id
from schema.kinds import HUMAN_METHOD, ErrorType
from schema.models import Attribution, Batch, Trace
from store.contract.answers import Label
from store.contract.protocol import Database
from tests.examples.agents import FACTS
from tests.optimization.faults import Faulty, faulty
from tests.optimization.test_examples import CORRECTED

(RETRIEVAL,) = (one for one in FACTS.faults if one.name == "retrieval")
SEARCH = "it may be the search"


async def replayed(found: Faulty, verdict: Attribution, corrector: Corrector = CORRECTED) -> ReplayedVerdict:
    """The verdict of a failure, after it was replayed."""
    pairs = [(found.failure, verdict)]
    (outcome,) = [one async for one in prove_verdicts(found.kept.store, pairs, corrector, Options())]
    return outcome


async def stored(found: Faulty) -> Attribution:
    """The stored verdict."""
    (one,) = await found.kept.store.attributions([found.failure.id])
    return one


async def blaming(found: Faulty, operation: str, *candidates: str) -> Attribution:
    """A stored verdict that blames another operation, with candidates."""
    others = [
        {"errorType": "RetrievalError", "operationId": one, "confidence": 0.2, "reason": SEARCH} for one in candidates
    ]
    verdict = replace(
        found.verdict,
        operation_id=operation,
        confidence=0.7,
        reason="it was this one",
        candidates=msgspec.json.encode(others).decode(),
    )
    (trace,) = cast("list[Trace]", await found.kept.store.get(Label.TRACE, [found.failure.trace_id]))
    await found.kept.store.write(Batch(trace, attributions=[verdict]))
    return verdict


def others(found: Faulty, name: str) -> list[str]:
    """The operations named ``name`` that are not at fault."""
    return [one.id for one in found.kept.graph.operations.values() if one.name == name and one.id != found.operation_id]


async def test_a_proof_is_stored_and_shown(database: Database, recorded: MemoryExporter, replay_folder: Path) -> None:
    found = await faulty(database, recorded, FACTS, RETRIEVAL)
    outcome = await replayed(found, found.verdict)
    verdict = await stored(found)
    assert verdict == outcome.attribution
    assert (verdict.error_type, verdict.operation_id) == (ErrorType.RETRIEVAL, found.operation_id)
    assert found.verdict.confidence is not None
    assert verdict.confidence == after(found.verdict.confidence, Result.PROVED) > found.verdict.confidence
    proof = proof_of(verdict)
    assert proof is not None
    assert (proof["result"], proof["p0"], proof["p1"], proof["draws"]) == ("proved", 0.0, 1.0, 5)
    assert proof["confidenceBefore"] == found.verdict.confidence
    shown = proof_in(verdict)
    assert shown is not None
    assert (shown.result, shown.reason, shown.runs) == (Result.PROVED, proof["reason"], 11)
    (case,) = await cases_of(found.kept.store, [(found.failure, verdict)])
    assert case.proof is not None
    assert (case.proof.result, case.proof.p1) == ("proved", 1.0)
    again = await replayed(found, verdict)
    assert again.attribution.confidence == verdict.confidence, "a proof does not count twice"
    (kept,) = [one async for one in attribute(found.kept.store, [found.failure], AttributionOptions())]
    assert kept.cached
    assert kept.attribution.proof == again.attribution.proof


@pytest.mark.full
@pytest.mark.one_engine
async def test_a_refuted_verdict_is_reopened(database: Database, recorded: MemoryExporter, replay_folder: Path) -> None:
    found = await faulty(database, recorded, FACTS, RETRIEVAL)
    wrong, other = others(found, "write_prompt")[:2]
    outcome = await replayed(found, await blaming(found, wrong, other, found.operation_id))
    verdict = await stored(found)
    assert outcome.is_reopened
    assert (verdict.error_type, verdict.operation_id) == (ErrorType.RETRIEVAL, found.operation_id)
    assert verdict.reason == f"{SEARCH} (replay proved it)"
    assert verdict.confidence == after(0.2, Result.PROVED)
    said = {one["operationId"]: one["confidence"] for one in msgspec.json.decode(verdict.candidates)}
    assert said == {wrong: after(0.7, Result.REFUTED), other: after(0.2, Result.REFUTED)}
    shown = proof_in(verdict)
    assert shown is not None
    assert [one.operation_id for one in shown.refuted()] == [wrong, other]
    again = await replayed(found, verdict)
    assert (again.attribution.operation_id, again.attribution.confidence) == (found.operation_id, verdict.confidence)


async def test_where_all_is_refuted_the_verdict_is_an_abstention(
    sqlite_database: Database, recorded: MemoryExporter, replay_folder: Path
) -> None:
    found = await faulty(sqlite_database, recorded, FACTS, RETRIEVAL)
    wrong, other = others(found, "write_prompt")[:2]
    outcome = await replayed(found, await blaming(found, wrong, other))
    verdict = outcome.attribution
    assert (verdict.error_type, verdict.operation_id, verdict.confidence) == (None, None, 0.0)
    assert "replay refuted the verdict and its candidates" in (verdict.reason or "")
    assert [one["operationId"] for one in msgspec.json.decode(verdict.candidates)] == [wrong, other]
    again = await replayed(found, verdict)
    assert replace(again.attribution, proof=None) == replace(verdict, proof=None)


async def test_what_a_person_said_stays_as_it_was_said(
    database: Database, recorded: MemoryExporter, replay_folder: Path
) -> None:
    found = await faulty(database, recorded, FACTS, RETRIEVAL)
    wrong = others(found, "write_prompt")[0]
    own = make_id("Attribution", found.failure.id, HUMAN_METHOD, "Ada")
    verdict = replace(await blaming(found, wrong, found.operation_id), id=own, method=HUMAN_METHOD, author="Ada")
    (trace,) = cast("list[Trace]", await found.kept.store.get(Label.TRACE, [found.failure.trace_id]))
    await found.kept.store.write(Batch(trace, attributions=[verdict]))
    after_it = (await replayed(found, verdict)).attribution
    proof = proof_of(after_it)
    assert proof is not None
    assert proof["result"] == "refuted"
    assert replace(after_it, proof=None) == verdict
    assert await found.kept.store.verdict_changes([found.failure.id]) == []


async def test_what_was_not_recorded_for_a_replay_is_unsettled(
    sqlite_database: Database, recorded: MemoryExporter, replay_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = await faulty(sqlite_database, recorded, FACTS, RETRIEVAL)
    monkeypatch.setenv("MEMTRACE_REPLAY", str(replay_folder / "elsewhere"))
    outcome = await replayed(found, found.verdict)
    assert (outcome.proof.result, outcome.proof.reason) == (Result.UNSETTLED, NOT_KEPT)
    assert replace(outcome.attribution, proof=None) == found.verdict


def test_the_page_of_a_failure_shows_a_proof() -> None:
    proof = {
        "result": "refuted",
        "reason": "the correction does <not> help",
        "correction": "the evidence was put in",
        "draws": 5,
        "nullDraws": 5,
        "p0": 0.0,
        "p1": 0.2,
        "p": 0.5,
        "answer": "Perhaps.",
        "refuted": [{"errorType": "UpdateError", "reason": "not this one", "operation": None}],
    }
    page = _environment().get_template("failure_parts.html.j2")
    shown = unescape(re.sub(r"<[^>]+>", "", str(page.module.proof({"name": "p"}, proof))))  # type: ignore[attr-defined]
    text = " ".join(shown.split())
    assert text.startswith("Refuted by replay The correction does <not> help. The program was run again")
    assert "Right in 20 % of 5 runs with the correction, and in 0 % of 5 without it." in text
    assert "Refuted before: Update error: Not this one." in text


def test_a_proof_changes_confidence_as_it_was_measured() -> None:
    assert rates().right == {Result.PROVED: 11, Result.REFUTED: 0, Result.UNSETTLED: 5}
    assert after(0.5, Result.UNSETTLED) == 0.5
    assert after(0.5, Result.PROVED) > 0.9
    assert after(0.5, Result.REFUTED) < 0.1
    for result in Result:
        assert (after(0.0, result), after(1.0, result)) == (0.0, 1.0)
