"""Every error type is known wherever the code asks about one: a new one fails here until it is declared everywhere."""

from __future__ import annotations

from itertools import product

import pytest

from api.web.pages import words
from attribution.review.people import problem_of
from schema.kinds import ERROR_TYPES, MEMORY_ERRORS, NOT_THE_MEMORY, ErrorType, OperationKind
from tests.data import ROOT
from tests.factory import TraceBuilder


@pytest.mark.parametrize("error_type", ErrorType)
def test_every_error_type_is_declared(error_type: ErrorType) -> None:
    assert error_type in ERROR_TYPES
    assert (error_type in NOT_THE_MEMORY) is not (error_type in MEMORY_ERRORS)
    assert error_type in words.ERROR_TYPES
    named_in = (
        "api/graphql/schema.graphql",
        "attribution/llm/agent/prompts/taxonomy.md",
        "attribution/report/shared/types.css",
        "attribution/report/summary.md",
        "docs/attribution.md",
        "schema/bloom/memtrace.json",
    )
    assert [name for name in named_in if error_type not in (ROOT / name).read_text("utf-8")] == []


@pytest.mark.parametrize(("error_type", "kind"), list(product(ErrorType, OperationKind)))
def test_a_person_may_blame_what_can_cause_the_error(error_type: ErrorType, kind: OperationKind) -> None:
    operation = TraceBuilder("project").operation("step", kind=kind)
    rule = ERROR_TYPES[error_type]
    can_cause = rule.is_memory and kind is not OperationKind.JUDGE and kind not in rule.not_by
    assert (problem_of(error_type, operation) is None) is can_cause
    assert (problem_of(error_type, None) is None) is not rule.is_memory
