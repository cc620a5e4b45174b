"""Which step of a path is the break."""

from __future__ import annotations

import pytest

from attribution.spine.choose import break_of
from attribution.verdicts.verdict import Link, PieceLoss, Step
from schema.kinds import ErrorType


@pytest.mark.parametrize(
    ("holds", "operation", "expected"),
    [
        ([True, False, True, False], "operation 1", 1),
        ([True, False, True, False], "operation 3", 3),
        ([True, False, True, False], None, 3),
        ([True, True, False, False], "operation 3", 2),
        ([True, True], "operation 1", None),
        ([], None, None),
    ],
)
def test_the_blamed_operation_breaks_a_path_that_breaks_twice(
    holds: list[bool], operation: str | None, expected: int | None
) -> None:
    path = tuple(
        Step(f"variable {place}", f"operation {place}", Link.DERIVATION, "", holds=one)
        for place, one in enumerate(holds)
    )
    assert break_of(PieceLoss("a piece", ErrorType.UPDATE, operation, 0.9, "a reason", path)) == expected
