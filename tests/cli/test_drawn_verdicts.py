"""Verdicts, proofs and changes of texts as blocks of text: each field in its place, and nothing for a missing field."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs
from rich.table import Table
from rich.text import Text

from api.cli.render import changes, proofs, verdicts
from api.cli.render.text import short
from attribution.report.failure_report import (
    CitedCandidate,
    CitedLoss,
    CitedStep,
    FailureReport,
    OperationRef,
    ReportedProof,
)
from attribution.statistics.intervals import Interval
from attribution.statistics.kappa import SourceAgreement
from schema.kinds import ErrorType, OperationKind, VariableKind
from schema.models import Operation, Variable
from tests.factory import TraceBuilder

ID = "0123456789abcdef" * 2
REF = OperationRef(ID, "o", "k", "Agent.update", OperationKind.UPDATE, {}, "a.py:7")


def lines(made: Table) -> dict[str, str]:
    """The lines of a sheet, by their names."""
    names, values = (list(column.cells) for column in made.columns)
    return {
        str(name): value.plain if isinstance(value, Text) else str(value)
        for name, value in zip(names, values, strict=True)
    }


def _report(**more: Any) -> FailureReport:
    fields: dict[str, Any] = {
        "failure_id": ID,
        "trace_id": "t",
        "trace_external_id": "t",
        "trace": "t",
        "question_id": "q",
        "question_external_id": None,
        "answer_external_id": None,
        "question": "Which pet?",
        "prediction": "a cat",
        "gold_answers": ["a dog", "Bo"],
    }
    return FailureReport(**(fields | more))


def test_what_to_do_at_the_end_of_a_long_reason_is_shown() -> None:
    reason = f"the way was lost{' in a long way' * 60}; decorate find"
    assert lines(verdicts.case(_report(method="flow", reason=reason)))["reason"] == reason


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "Not decided  ()"),
        ({"method": "flow"}, "Not decided  (flow)"),
        (
            {"error_type": ErrorType.UPDATE, "method": "llm", "model": "m", "author": "ada", "confidence": 0.256},
            "Update error  (llm m ada, confidence 0.26)",
        ),
        (
            {"error_type": ErrorType.UPDATE, "method": "flow", "confidence": 0.0, "operation": REF},
            f"Update error at {short(ID)} Agent.update  (flow, confidence 0.00)",
        ),
    ],
)
def test_a_verdict_is_one_line(more: dict[str, Any], said: str) -> None:
    assert lines(verdicts.case(_report(**more)))["verdict"] == said


def test_the_model_tells_operations_of_one_name_apart() -> None:
    named = OperationRef(ID, "o", "k", "ChatOpenAI", OperationKind.GENERATION, {"model": "en-ru"}, "a.py:7")
    step = CitedStep("v", None, VariableKind.RESPONSE, "another", "another", "ChatOpenAI", "derivation", "", False)
    said = {
        number: lines(verdicts.case(_report(error_type=ErrorType.RESPONSE, operation=named, path=path)))["verdict"]
        for number, path in enumerate(([], [structs.replace(step, operation_id=ID)], [step]))
    }
    assert said[0] == said[1] == f"Response error at {short(ID)} ChatOpenAI  ()"
    assert said[2] == f"Response error at {short(ID)} ChatOpenAI (en-ru)  ()"


STEP: dict[str, Any] = {
    "variable_id": ID,
    "external_id": "v",
    "kind": VariableKind.MEMORY_UNIT,
    "operation_id": ID,
    "operation_external_id": None,
    "operation": "Agent.update",
    "link": "",
    "quote": "I have a dog",
    "holds": True,
}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, f"has the fact: MemoryUnit {short(ID)} v by Agent.update “I have a dog”"),
        ({"holds": False, "quote": ""}, f"does not have it: MemoryUnit {short(ID)} v by Agent.update"),
        ({"kind": None, "operation": None}, f"has the fact: {short(ID)} v “I have a dog”"),
        ({"label": "the pet"}, f"has the fact: MemoryUnit {short(ID)} the pet by Agent.update “I have a dog”"),
        ({"label": "I have a dog"}, f"has the fact: MemoryUnit {short(ID)} by Agent.update “I have a dog”"),
        ({"external_id": None}, f"has the fact: MemoryUnit {short(ID)} by Agent.update “I have a dog”"),
    ],
)
def test_a_step_of_the_path_is_one_line(more: dict[str, Any], said: str) -> None:
    assert verdicts._step(CitedStep(**(STEP | more))).plain == said


LOSS: dict[str, Any] = {
    "piece": "a dog",
    "error_type": None,
    "operation_id": None,
    "operation_external_id": None,
    "operation": None,
    "operation_key": None,
    "confidence": 0.756,
    "reason": "nobody recorded it",
    "reached": False,
    "path": [],
}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"reached": True}, "“a dog” reached the answer  (confidence 0.76)"),
        (
            {"error_type": ErrorType.UPDATE, "operation_id": ID, "operation": "Agent.update"},
            f"“a dog” lost at {short(ID)} Agent.update  (Update error, confidence 0.76)",
        ),
        ({"error_type": ErrorType.JUDGE}, "“a dog” was not lost  (Judge error, confidence 0.76)"),
        ({}, "“a dog” unknown where: nobody recorded it"),
        ({"reason": "said before"}, "“a dog” unknown where"),
    ],
)
def test_the_end_of_a_piece_is_one_line(more: dict[str, Any], said: str) -> None:
    assert verdicts._loss(CitedLoss(**(LOSS | more)), "said before").plain == said


@pytest.mark.parametrize(
    ("operation", "confidence", "said"),
    [
        (ID, 0.5, f"Update error at {short(ID)} Agent.update (0.50) why"),
        (ID, None, f"Update error at {short(ID)} Agent.update why"),
        (None, 0.0, "Update error (0.00) why"),
    ],
)
def test_a_candidate_is_one_line(operation: str | None, confidence: float | None, said: str) -> None:
    name = "Agent.update" if operation else None
    candidate = CitedCandidate(ErrorType.UPDATE, operation, None, name, confidence, "why")
    assert verdicts._candidate(candidate).plain == said


def test_a_case_has_a_line_for_each_thing_that_is_known() -> None:
    bare = lines(verdicts.case(_report()))
    assert {name: text for name, text in bare.items() if name != "verdict"} == {
        "failure": short(ID),
        "question": "Which pet?",
        "answer": "a cat",
        "gold": "a dog | Bo",
        "reason": "",
    }
    candidates = [CitedCandidate(ErrorType.UPDATE, None, None, None, sure, "why") for sure in (0.5, 0.0)]
    full = lines(
        verdicts.case(
            _report(
                operation=REF,
                reason="it was dropped",
                question_label="about a pet",
                proof=ReportedProof(result="proved", reason="it rescues", **_PROOF),
                losses=[CitedLoss(**LOSS), CitedLoss(**(LOSS | {"reached": True}))],
                path=[CitedStep(**STEP)],
                candidates=candidates,
            ),
            "graph.json",
        )
    )
    assert list(full) == [
        "verdict",
        "code",
        "file",
        "question",
        "answer",
        "gold",
        "reason",
        "replay",
        "pieces",
        "path",
        "or else",
    ]
    assert (full["code"], full["file"], full["reason"]) == ("a.py:7", "graph.json", "it was dropped")
    assert full["question"] == "Which pet?  (about a pet)"
    assert full["replay"] == "proved: it rescues"
    assert full["pieces"].count("\n") == 1
    assert full["or else"] == "Update error (0.50) why"
    same = lines(verdicts.case(_report(question_label="Which pet?")))
    assert same["question"] == "Which pet?"


_PROOF: dict[str, Any] = {name: None for name in ReportedProof.__struct_fields__ if name not in {"result", "reason"}}


def _agreement(**more: Any) -> SourceAgreement:
    fields: dict[str, Any] = {
        "first": "flow",
        "second": "human",
        "cases": 1_200,
        "abstained": 30,
        "type_accuracy": 0.5,
        "type_accuracy_interval": Interval(0.25, 0.755),
        "type_kappa": -0.1,
        "type_kappa_interval": Interval(-0.5, 0.25),
        "operation_accuracy": 0.125,
        "operation_kappa": 0.2,
        "joint_accuracy": 1.0,
        "joint_kappa": 0.3,
        "confusion": {},
    }
    return SourceAgreement(**(fields | more))


def test_an_agreement_has_shares_kappas_and_intervals() -> None:
    (only,) = verdicts.agreement(_agreement())
    assert isinstance(only, Table)
    assert lines(only) == {
        "cases": "1,200 judged by both (30 more with an abstention)",
        "same error type": "50.0 % (25.0 to 75.5 %)",
        "Cohen's kappa": "-0.10 (-0.50 to 0.25)",
        "same operation": "12.5 %",
        "its kappa": "0.20",
        "both": "100.0 %",
        "their kappa": "0.30",
    }
    names = ("type_accuracy", "type_kappa", "operation_accuracy", "operation_kappa", "joint_accuracy", "joint_kappa")
    (none,) = verdicts.agreement(_agreement(**dict.fromkeys([*names, "type_accuracy_interval", "type_kappa_interval"])))
    assert isinstance(none, Table)
    assert list(lines(none).values())[1:] == ["n/a"] * 6


def test_pairs_of_error_types_are_counted_in_a_table() -> None:
    counts = {"UpdateError": {"ResponseError": 1_500, "odd": 2}, "odd": {"UpdateError": 3}}
    _, _, title, made = verdicts.agreement(_agreement(confusion=counts))
    assert str(title) == "flow down, human across"
    assert isinstance(made, Table)
    columns = [str(column.header) for column in made.columns]
    assert columns == ["", "Update", "Response", "odd"]
    assert [column.justify for column in made.columns] == ["left", "right", "right", "right"]
    rows = list(zip(*([str(cell) for cell in column.cells] for column in made.columns), strict=True))
    assert rows == [("Update error", "·", "1,500", "2"), ("odd", "3", "·", "·")]


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({}, {}),
        ({"correction": "say dog"}, {"correction": "say dog"}),
        ({"p1": 0.756, "draws": 9}, {"rates": "76 % right with it (9 runs)"}),
        (
            {"p1": 1.0, "draws": 9, "p0": 0.25, "nullDraws": 4, "p": 0.01234},
            {"rates": "100 % right with it (9 runs), 25 % without (4 runs), p = 0.0123"},
        ),
        ({"p0": 0.5}, {}),
        ({"answer": "a dog"}, {"then answered": "a dog"}),
        ({"firstDivergence": {"call": "chat", "given": "dog"}}, {"first change": "chat dog"}),
        (
            {"refuted": [{"errorType": "UpdateError", "operationId": "o", "reason": "no"}]},
            {"refuted": "UpdateError at o: no"},
        ),
    ],
)
def test_a_proof_has_a_line_for_each_thing_that_is_known(more: dict[str, Any], found: dict[str, str]) -> None:
    made = proofs.rows({"result": "proved", "reason": "it rescues", **more})
    said = {name: value.plain for name, value in made}
    assert said == {"proof": "proved: it rescues"} | found


def _operation(**more: Any) -> Operation:
    return TraceBuilder("p").operation("o", **more)


def test_a_replayed_verdict_is_one_line() -> None:
    operation = _operation(name="Agent.update")
    unnamed = _operation(name="", kind=OperationKind.RETRIEVAL)
    failure = SimpleNamespace(id=ID, question="Which pet?")
    proof = SimpleNamespace(as_json=lambda: {"result": "refuted", "reason": "no"})

    def said(operations: dict[str, Operation], is_reopened: bool, **verdict: Any) -> str:
        fields = {"error_type": ErrorType.UPDATE, "operation_id": operation.id, "confidence": None} | verdict
        replayed: Any = SimpleNamespace(
            attribution=SimpleNamespace(**fields), proof=proof, failure=failure, is_reopened=is_reopened
        )
        found = lines(proofs.proved(replayed, operations))
        assert (found["failure"], found["question"], found["proof"]) == (short(ID), "Which pet?", "refuted: no")
        return found["verdict"]

    known = {operation.id: operation}
    assert (
        said(known, False, confidence=0.5) == f"Update error at {short(operation.id)} Agent.update  (confidence 0.50)"
    )
    assert said({}, True) == "Update error  reopened by the replay"
    assert said({unnamed.id: unnamed}, False).endswith(" Retrieval")
    assert said(known, False, operation_id=None) == "Update error"


def test_an_answer_with_a_change_is_told() -> None:
    def told(**more: Any) -> dict[str, str]:
        fields = {
            "failure_id": ID,
            "recorded": "a cat",
            "answers": ("a dog", "a dog", "a cow"),
            "right": 2,
            "p0": 0.25,
            "p": 0.01234,
            "first_divergence": SimpleNamespace(call="chat", given="dog"),
        }
        made: Any = SimpleNamespace(**(fields | more))
        return lines(proofs.answered(made))

    assert told() == {
        "failure": short(ID),
        "answered": "a cat",
        "with it": "a dog\na cow",
        "right": "2 of 3, 25 % without, p = 0.0123",
        "first change": "chat dog",
    }
    assert "first change" not in told(first_divergence=None)


def _versions() -> tuple[TraceBuilder, list[Variable]]:
    trace = TraceBuilder("p")
    step = trace.operation("o", name="Agent.update")
    first = trace.variable("u0", "I have a cat", name="unit")
    second = trace.variable("u1", "I have a dog", by=step, name="unit", revision_of=first.id)
    same = trace.variable("u2", "I have a dog", by=step, name="unit", revision_of=second.id)
    other = trace.variable("x", "else", name="unit")
    return trace, [first, second, same, other]


def _told(asked: Variable, texts: dict[str, str] | None = None) -> list[str]:
    trace, found = _versions()
    makers = {one.id: one for one in trace.operations}
    known = trace.texts if texts is None else texts
    return [one.plain for one in changes.versions(found, makers, known, False, asked.id)]


def test_versions_of_the_asked_thing_are_shown_and_others_are_counted() -> None:
    trace, (first, second, same, other) = _versions()
    told = _told(second)
    step = trace.operations[0]
    assert len(told) == 7
    assert told[0].startswith(f"version 1 of 3  {short(first.id)}  from outside  ")
    assert told[2].startswith(f"version 2 of 3  {short(second.id)}  by Agent.update {short(step.id)}  ")
    assert told[4].startswith(f"version 3 of 3  {short(same.id)}")
    assert (told[1], told[5]) == ("  I have a cat", "  the same text")
    assert "cat" in told[3]
    assert "dog" in told[3]
    said = "1 other variable is also called unit; nothing says that they are versions of this one."
    assert told[6] == said
    alone = _told(other)
    assert alone[0].startswith(f"version 1 of 1  {short(other.id)}")
    assert alone[2] == said  # the three versions are one thing


def test_a_version_whose_text_is_too_long_is_named() -> None:
    trace, (first, second, _, _) = _versions()
    without = {hash_: text for hash_, text in trace.texts.items() if hash_ != first.value_hash}
    told = _told(second, without)
    assert told[1] == f"  12 B: memtrace value {short(first.id)} prints it"
    assert told[3] == "  I have a dog"  # without the text before, there is nothing to compare
