"""The form of a verdict: how it is read, and how it shows a verdict or a draft."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from api.web.pages import judging
from api.web.pages.judging import Refused
from attribution.spine.model import Box, Role

FULL = {
    "type": "UpdateError",
    "operation": "o1",
    "also-type-0": "RetrievalError",
    "also-operation-0": "o2",
    "also-type-1": "AnnotationError",
    "reason": "  it was overwritten \n",
    "shows:v1": "tea at four",
    "shows:v2": "",
}


def test_all_fields_of_the_form_are_read() -> None:
    assert judging.verdict_of("f1", FULL) == {
        "failure": "f1",
        "errorType": "UpdateError",
        "operation": "o1",
        "also": [
            {"errorType": "RetrievalError", "operation": "o2"},
            {"errorType": "AnnotationError", "operation": None},
        ],
        "reason": "it was overwritten",
        "evidence": [{"variable": "v1", "quote": "tea at four"}, {"variable": "v2", "quote": ""}],
    }


@pytest.mark.parametrize(
    ("form", "kind", "operation"),
    [
        ({"type": "RetrievalError", "operation": "o1", "other": "o2"}, "RetrievalError", "o1"),
        ({"type": "RetrievalError", "operation": "other", "other": " o2 "}, "RetrievalError", "o2"),
        ({"type": "AnnotationError"}, "AnnotationError", None),
        ({"type": "AnnotationError", "operation": "o1"}, "AnnotationError", None),
        ({"type": "LLMAsAJudgeError", "operation": "o1"}, "LLMAsAJudgeError", None),
        ({"type": "unknown", "operation": "o1"}, None, None),
    ],
)
def test_an_operation_is_of_a_memory_error_only(form: dict[str, str], kind: str | None, operation: str | None) -> None:
    assert judging.verdict_of("f1", form) == {
        "failure": "f1",
        "errorType": kind,
        "operation": operation,
        "also": [],
        "reason": None,
        "evidence": [],
    }


@pytest.mark.parametrize(
    ("form", "problem"),
    [
        ({}, "Choose what went wrong"),
        ({"type": "", "operation": "o1"}, "Choose what went wrong"),
        ({"type": "DeletionError"}, "Choose the operation that made the deletion error, too"),
        ({"type": "DeletionError", "operation": "other", "other": " "}, "Choose the operation that made the deletion"),
        (
            {"type": "AnnotationError", "also-type-0": "UpdateError"},
            "Choose the operation of the update error that you",
        ),
        (
            {"type": "AnnotationError", "also-type-0": "AnnotationError", "also-type-2": "UpdateError"},
            "Choose the operation of the update error that you",
        ),
    ],
)
def test_a_form_that_lacks_something_is_refused(form: dict[str, str], problem: str) -> None:
    found = judging.verdict_of("f1", form)
    assert isinstance(found, Refused)
    assert found.problem.startswith(problem)


@pytest.mark.parametrize(
    ("form", "rows"),
    [
        ({}, 1),
        ({"also-type-0": ""}, 1),
        ({"also-type-0": "UpdateError"}, 2),
        ({"also-type-4": "UpdateError"}, 6),
        ({"also-type-18": "UpdateError"}, 20),
        ({"also-type-19": "UpdateError"}, 20),
        ({"also-type-20": "UpdateError"}, 1),
    ],
)
def test_there_is_a_row_more_than_were_filled_up_to_twenty(form: dict[str, str], rows: int) -> None:
    assert judging.also_rows(form) == rows


def test_the_form_of_a_verdict_shows_all_of_it() -> None:
    own = {
        "errorType": "UpdateError",
        "operation": {"id": "o1"},
        "reason": "it was overwritten",
        "candidates": [
            {"errorType": "RetrievalError", "operation": {"id": "o2"}},
            {"errorType": "AnnotationError", "operation": None},
        ],
        "evidence": [
            {"variable": {"id": "v1"}, "quote": "tea at four"},
            {"variable": None, "quote": "of a value that is gone"},
            {"variable": {"id": "v2"}, "quote": None},
        ],
    }
    form = judging.form_of_verdict(own)
    assert form == {**FULL, "reason": "it was overwritten", "also-operation-1": ""}
    assert judging.verdict_of("f1", form) == judging.verdict_of("f1", FULL)
    assert judging.form_of_verdict(None) == {}
    nothing: dict[str, Any] = {"errorType": None, "operation": None, "reason": None, "candidates": [], "evidence": []}
    assert judging.form_of_verdict(nothing) == {"type": "unknown", "operation": "", "reason": ""}


def test_the_form_of_a_draft_shows_all_of_it() -> None:
    draft = {
        "error_type": "UpdateError",
        "operation_id": "o1",
        "reason": "it was overwritten",
        "also": [["RetrievalError", "o2"], ["AnnotationError", None]],
        "evidence": [["v1", "tea at four"], ["v2", None]],
    }
    expected = {**FULL, "reason": "it was overwritten", "also-operation-1": ""}
    assert judging.form_of_draft(draft) == judging.form_of_draft(json.dumps(draft)) == expected


def operation(sequence: int) -> dict[str, Any]:
    return {"id": f"o{sequence}", "sequence": str(sequence)}


def test_all_operations_of_verdicts_can_be_chosen_in_the_order_of_the_trace() -> None:
    verdict = {
        "operation": operation(30),
        "candidates": [{"operation": operation(4)}, {"operation": None}],
        "losses": [
            {"operation": operation(9), "path": [{"operation": operation(100)}, {"operation": None}]},
            {"operation": None, "path": [{"operation": operation(8)}]},
        ],
    }
    failure = {"suspects": [operation(5), operation(30)]}
    found = judging.operations(failure, iter([verdict]), [operation(2), None])
    assert [one["id"] for one in found] == ["o2", "o4", "o5", "o8", "o9", "o30", "o100"]


def test_keys_are_given_up_to_the_last_letter() -> None:
    most = len(judging.LETTERS)
    suspects = {"suspects": [operation(number) for number in range(most)]}
    assert list(judging.letters(suspects, [])) == [f"o{number}" for number in range(most)]
    assert "".join(judging.letters(suspects, [operation(99)]).values()) == judging.LETTERS
    more = judging.letters({"suspects": [operation(number) for number in range(most + 1)]}, [])
    assert list(more) == [*(f"o{number}" for number in range(most - 1)), f"o{most}"]


def box(roles: list[Role], variables: list[str], count: int) -> Box:
    nothing: dict[str, Any] = {"kinds": [], "operations": [], "layer": 0, "states": []}
    own: dict[str, Any] = {"kind": "MemoryUnit", "label": "a unit", "text": "tea at four"}
    return Box(**own, **nothing, count=count, variables=variables, roles=roles, is_decisive=False, is_past=False)


def test_evidence_own_proof_the_spine_and_the_form_can_show_the_cause() -> None:
    def variable(name: str) -> dict[str, str]:
        return {"id": name, "kind": "Message", "preview": f"said {name}", "externalId": name, "name": name}

    failure = {"questionId": "q", "evidence": [variable("e"), variable("q")]}
    own = {"evidence": [{"variable": variable("e")}, {"variable": None}, {"variable": variable("own")}]}
    spine: Any = SimpleNamespace(
        boxes=[
            box([Role.EVIDENCE], ["s"], 1),
            box([Role.EVIDENCE], ["e"], 1),
            box([], ["off"], 1),
            box([Role.EVIDENCE], ["two", "of"], 2),
            box([Role.EVIDENCE], ["one of more"], 3),
        ]
    )
    found = judging.texts(failure, own, spine, {"shows:e": "", "shows:chosen": "x", "type": "UpdateError"})
    assert [one["id"] for one in found] == ["e", "own", "s", "chosen"]
    assert found[0] == {"id": "e", "kind": "Message", "label": "said e", "text": "said e"}
    assert found[2] == {"id": "s", "kind": "MemoryUnit", "label": "a unit", "text": "tea at four"}
    assert found[3] == {"id": "chosen", "kind": "Variable", "label": "that you chose before", "text": ""}
    assert [one["id"] for one in judging.texts(failure, None, None, {})] == ["e"]
