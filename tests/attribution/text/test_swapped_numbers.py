"""Two things whose numbers were given to each other."""

from __future__ import annotations

import pytest

from attribution.needed.swapped_numbers import swaps

SAID = "Twelve Conference pears in the cellar, the three Victoria plums in the shed."


@pytest.mark.parametrize(
    ("told", "is_swapped"),
    [
        ("12 Victoria plums in the cellar, 3 Conference pears in the shed", True),
        ("3 Conference pears and 12 Victoria plums", True),
        ("12 Conference pears, 3 Victoria plums", False),
        ("3 Victoria plums and 12 Conference pears", False),
        ("12 pears altogether", False),
        ("12 Victoria plums", False),
        ("12 and 3", False),
    ],
)
def test_swaps(told: str, is_swapped: bool) -> None:
    assert swaps(SAID, told, {12.0}) is is_swapped


def test_only_wanted_numbers_count() -> None:
    assert not swaps(SAID, "12 Victoria plums, 3 Conference pears", {7.0})


def test_one_number_for_one_thing_is_never_swapped() -> None:
    assert not swaps("She has 12 pears.", "He has 12 plums.", {12.0})
