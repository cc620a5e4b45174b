"""Attributing the sample, whose causes are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from api.cli.context import DEFAULT_PROJECT
from api.cli.options import MethodName
from attribution.verdicts.verdict import Method
from schema.kinds import VariableKind
from tests.attribution.benchmark.sample import SAMPLE, truth
from tests.attribution.flow.stories import Story
from tests.attribution.flow.test_questions import PLACES
from tests.attribution.why_not.graphs import retrieval
from tests.cli.conftest import Cli
from tests.factory import TraceBuilder

ATTRIBUTION = (
    "id projectId traceId failureId errorType operationId confidence method model reason evidence candidates tokens "
    "cost seconds createdAt author losses questionKind questionExternalId "
    "operationExternalId"
)
LOSS = {"piece", "errorType", "operationId", "operationExternalId", "confidence", "path", "reason", "reached"}
WRONG = {record["query_id"]: (record["final_error_type"], record["final_op_id"]) for record in truth()["failures"]}


def found_by(verdicts: list[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    return {one["questionExternalId"]: (one["errorType"], one["operationExternalId"]) for one in verdicts}


def test_methods_have_the_same_names_everywhere() -> None:
    assert [name.value for name in MethodName] == [method.value for method in Method]


def test_attribute(cli: Cli) -> None:
    cli("import", SAMPLE)
    result = cli("attribute", "--all", "--json")
    assert found_by(result.json) == WRONG
    for verdict in result.json:
        assert set(verdict) >= set(ATTRIBUTION.split())
        assert verdict["method"] == "flow"
        assert verdict["evidence"]
        assert verdict["questionKind"] == "plain"
        (loss,) = verdict["losses"]
        assert set(loss) == LOSS
        for name in ("errorType", "operationId", "operationExternalId", "confidence"):
            assert loss[name] == verdict[name]
        assert loss["path"] == verdict["evidence"]
        assert loss["piece"] == verdict["evidence"][0]["quote"]
    again = cli("attribute", "--all", "--json").json
    assert again == result.json
    kept = [verdict for failure in cli("failures", "--json").json for verdict in failure["verdicts"]]
    assert {verdict["id"] for verdict in kept} == {verdict["id"] for verdict in result.json}
    losses = {verdict["id"]: verdict["losses"] for verdict in result.json}
    assert {verdict["id"]: verdict["losses"] for verdict in kept} == losses


def test_attribute_one_failure_or_one_trace(cli: Cli) -> None:
    cli("import", SAMPLE)
    first, second, third = (failure["id"] for failure in cli("failures", "--json").json)
    some = cli("attribute", "--failure", second[:8], "--failure", first, "--failure", first, "--json").json
    assert [verdict["failureId"] for verdict in some] == [second, first]
    (trace,) = cli("traces", "--json").json
    every = cli("attribute", "--trace", trace["id"], "--json").json
    assert {verdict["failureId"] for verdict in every} == {first, second, third}


def test_attribute_without_gold_answers_or_evidence_is_another_verdict(cli: Cli) -> None:
    cli("import", SAMPLE)
    plain, gold_free, no_evidence = (
        cli("attribute", "--all", *options, "--json").json for options in ([], ["--gold-free"], ["--no-evidence"])
    )
    ids = [{verdict["id"] for verdict in verdicts} for verdicts in (plain, gold_free, no_evidence)]
    assert len(set.union(*ids)) == 9
    assert not plain[0]["attributes"].get("retrieved")
    assert no_evidence[0]["attributes"]["retrieved"]


def test_what_is_not_sure_enough_is_an_abstention_that_shows_it(cli: Cli) -> None:
    cli("import", SAMPLE)
    named = {one["failureId"]: one for one in cli("attribute", "--all", "--min-confidence", "0", "--json").json}
    unsure = cli("attribute", "--all", "--min-confidence", "1", "--json").json
    for one in unsure:
        known = named[one["failureId"]]
        assert (one["errorType"], one["operationId"], one["evidence"]) == (None, None, [])
        first = one["candidates"][0]
        said = (first["errorType"], first["operationId"], first["confidence"])
        assert said == (known["errorType"], known["operationId"], known["confidence"])
        assert "sure enough" in one["reason"]
    assert {one["id"] for one in unsure}.isdisjoint(one["id"] for one in named.values())
    cli("attribute", "--all", "--min-confidence", "1.5", code=2)


def test_the_last_answer_of_a_method_counts_also_where_it_was_given_before(cli: Cli) -> None:
    cli("import", SAMPLE)
    first = cli("attribute", "--all", "--json").json
    cli("attribute", "--all", "--min-confidence", "1")
    assert cli("blame", "--by", "operation", "--json").json == []
    again = cli("attribute", "--all", "--json").json
    assert [one["id"] for one in again] == [one["id"] for one in first]
    assert len(cli("blame", "--by", "operation", "--json").json) == 3
    assert {one["verdict"] for one in cli("answers", "--json").json} > {one["errorType"] for one in first}


def test_attribute_shows_the_proof(cli: Cli) -> None:
    cli("import", SAMPLE)
    result = cli("attribute", "--all")
    assert "Extraction error at " in result.out
    assert "who found that chicken gives him itchy ears" in result.out
    assert "memory_system.extract_facts" in result.out
    assert "3 failures attributed, 0 abstained." in result.err


def test_attribute_shows_where_each_piece_ended(stored: Callable[[TraceBuilder], Cli]) -> None:
    """The answer should list two items; the search missed the second."""
    told = Story.of("default", *PLACES)
    dunes = told.store(0, PLACES[0], key="dunes")
    told.store(1, PLACES[1], key="ice")
    failure = told.ask("Where did the tent stand?", "dunes, glacier", "On the dunes.", [dunes])
    known = replace(failure, evidence_ids=tuple(told.evidence[number].id for number in (0, 1)))
    told.trace.failures[:] = [known]
    told.trace.operations[:] = [replace(one, location=f"agent.py:12 {one.name}") for one in told.trace.operations]
    cli = stored(told.trace)
    (verdict,) = cli("attribute", "--all", "--json").json
    assert verdict["questionKind"] == "several"
    lost, kept = verdict["losses"]
    assert (lost["piece"], lost["operationExternalId"], lost["reached"]) == (PLACES[1], "search", False)
    assert (kept["piece"], kept["errorType"], kept["operationId"], kept["reached"]) == (PLACES[0], None, None, True)
    assert kept["operationExternalId"] is None
    shown = " ".join(cli("attribute", "--all").out.split())
    assert "code agent.py:12 operation search" in shown
    assert f"“{PLACES[1]}” lost at {lost['operationId'][:8]} operation search (Retrieval error, confidence" in shown
    assert f"“{PLACES[0]}” reached the answer (confidence" in shown


def test_a_case_that_cannot_be_decided_is_an_abstention(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = TraceBuilder("default")
    trace.failure(trace.variable("question", "why?", kind=VariableKind.QUERY), gold_answers=())
    cli = stored(trace)
    (verdict,) = cli("attribute", "--all", "--json").json
    assert verdict["errorType"] is None
    assert verdict["operationExternalId"] is None
    assert verdict["reason"]
    assert (verdict["losses"], verdict["questionKind"]) == ([], "plain")
    assert "Not decided" in cli("attribute", "--all").out
    assert "1 failure attributed, 1 abstained." in cli("attribute", "--all").err


def test_many_verdicts_are_listed_one_line_each(stored: Callable[[TraceBuilder], Cli]) -> None:
    trace = TraceBuilder("default")
    for number in range(11):
        trace.failure(trace.variable(f"q{number}", f"why {number}?", kind=VariableKind.QUERY), gold_answers=())
    cli = stored(trace)
    shown = cli("attribute", "--all")
    rows = shown.out.splitlines()
    assert rows[0].split() == ["id", "verdict", "confidence", "operation", "question"]
    ids = sorted(one.id[:8] for one in trace.failures)
    assert sorted(row.split()[0] for row in rows[1:]) == ids
    assert all("Not decided" in row and "why " in row for row in rows[1:])
    assert f"memtrace why {rows[1][:8]}" in shown.err
    named = cli("attribute", *ids)
    assert named.out.count("reason") == 11


def test_attribute_where_nothing_failed(stored: Callable[[TraceBuilder], Cli]) -> None:
    cli = stored(TraceBuilder("default"))
    assert cli("attribute", "--all", "--json").json == []
    assert "no failure" in cli("attribute", "--all").err


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        ([], 2, "say which failures: ID, --trace TRACE, --since TIME, --type TYPE or --all"),
        (["--all", "--trace", "x"], 3, "no trace 'x' in this project. By its words: memtrace search x"),
        (["--failure", "x", "--all"], 2, "--all means all failures: leave out the ID"),
    ],
)
def test_attribute_must_be_told_what(judged: Cli, options: list[str], code: int, said: str) -> None:
    assert judged("attribute", *options, code=code).err == f"error: {said}\n"


def test_attribute_what_is_not_there(judged: Cli) -> None:
    judged("attribute", "--failure", "0123456789abcdef", code=3)
    judged("attribute", "--trace", "nowhere", code=3)
    judged("attribute", "--all", "--method", "guess", code=2)


@pytest.mark.parametrize("method", ["llm", "auto", "oneshot"])
def test_a_method_with_a_model_needs_one(judged: Cli, method: str) -> None:
    assert "MEMTRACE_LLM_BASE_URL is not set" in judged("attribute", "--all", "--method", method, code=4).err


def test_agreement(judged: Cli) -> None:
    found = judged("agreement", "flow", "human", "--json").json
    assert (found["first"], found["second"], found["cases"], found["abstained"]) == ("flow", "human", 3, 0)
    assert found["typeAccuracy"] == found["typeKappa"] == found["operationKappa"] == found["jointAccuracy"] == 1
    assert found["typeKappaInterval"] == {"low": 1.0, "high": 1.0}
    assert found["confusion"]["UpdateError"] == {"UpdateError": 1}
    assert judged("agreement", "flow", "annotation", "--json").json["typeKappa"] == 1
    assert "Cohen's kappa" in judged("agreement", "human", "flow").out
    result = judged("agreement", "flow", "nobody", code=3)
    assert "annotation, flow, human" in result.err
    assert "'nobody'" in result.err


def test_what_is_shown_has_names_for_people(stored: Callable[[TraceBuilder], Cli]) -> None:
    """A recorder uses digests as ids; people read the same names as in reports."""
    story, failure = retrieval(DEFAULT_PROJECT)
    trace = story.trace
    digests = [(f"{number:032x}", one) for number, one in enumerate(trace.variables, 1 << 80)]
    trace.variables = [replace(one, external_id=digest, name=one.external_id) for digest, one in digests]
    cli = stored(trace)
    asked, said = (
        next(f"{one.name}@{one.version}" for one in trace.variables if one.id == id_)
        for id_ in (failure.question_id, failure.evidence_ids[0])
    )
    for out in (cli("attribute", "--all").out, cli("why-not", failure.id).out, cli("report", "--format", "md").out):
        assert said in out.replace("\\", "")
        assert not any(digest[-12:] in out for digest, _ in digests)
    assert asked in cli("attribute", "--all").out
