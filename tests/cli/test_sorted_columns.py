"""Each list can be sorted by each column that its table shows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from api.cli.context import DEFAULT_PROJECT
from tests.cli.conftest import Cli
from tests.factory import TraceBuilder

LISTS = ("answers", "operations", "prompts", "sessions", "traces", "units", "variables")


@pytest.mark.parametrize("words", [*((one,) for one in LISTS), ("search", "the")], ids=" ".join)
def test_the_columns_of_the_table(sample: Cli, words: tuple[str, ...]) -> None:
    header = sample(*words).out.splitlines()[0].split("  ")
    for column in (one.strip() for one in header if one.strip()):
        sample(*words, "--sort", column)


def test_traces_by_what_they_have(stored: Callable[[TraceBuilder], Cli]) -> None:
    for name, count in (("few", 1), ("many", 3), ("some", 2)):
        trace = TraceBuilder(DEFAULT_PROJECT, name)
        for number in range(count):
            trace.variable(f"v{number}", "text")
        cli = stored(trace)
    order = [one["externalId"] for one in cli("traces", "--sort", "variables", "--json").json]
    assert order == ["few", "some", "many"]
