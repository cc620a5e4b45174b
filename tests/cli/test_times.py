"""Times that people type after --since and --until."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

from api.cli.context import DEFAULT_PROJECT
from api.cli.errors import UsageError
from api.cli.option_names import spelled
from api.cli.times import span
from schema.kinds import OperationKind, VariableKind
from store.contract.answers import ALWAYS, Span
from tests.cli.conftest import Cli
from tests.factory import TraceBuilder

NOW = datetime(2026, 3, 29, 12, 0, tzinfo=UTC)
"""A Sunday on which Berlin's clocks are put forward at 01:00 UTC."""


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def _utc(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC)


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("said", "begin", "end"),
    [
        ("2h", _utc(29, 10), _utc(29, 10)),
        ("90m", _utc(29, 10, 30), _utc(29, 10, 30)),
        ("3 days ago", _utc(26, 12), _utc(26, 12)),
        ("1w", _utc(22, 12), _utc(22, 12)),
        ("now", NOW, NOW),
        ("today", _utc(28, 23), _utc(29, 22)),
        ("sunday", _utc(28, 23), _utc(29, 22)),
        ("Saturday", _utc(27, 23), _utc(28, 23)),
        ("Yesterday", _utc(27, 23), _utc(28, 23)),
        ("2026-03-29", _utc(28, 23), _utc(29, 22)),
        ("14:30", _utc(29, 12, 30), _utc(29, 12, 30)),
        ("9:05", _utc(29, 7, 5), _utc(29, 7, 5)),
        ("2026-03-28T14:30", _utc(28, 13, 30), _utc(28, 13, 30)),
        ("2026-03-28 14:30", _utc(28, 13, 30), _utc(28, 13, 30)),
        ("2026-03-28T14:30:00+05:00", _utc(28, 9, 30), _utc(28, 9, 30)),
        ("2026-03-28T14:30Z", _utc(28, 14, 30), _utc(28, 14, 30)),
    ],
)
def test_a_time_is_of_this_machine_and_a_day_ends_at_midnight(said: str, begin: datetime, end: datetime) -> None:
    assert span(said, None, NOW) == Span(since=begin)
    assert span(None, said, NOW) == Span(until=end)


@pytest.mark.parametrize(
    "said", ["", "soon", "2x", "25:00", "2026-02-30", "2026-13-01", "999999w", "-2h", "2h30", "0001-01-01T00:00+10:00"]
)
def test_what_is_no_time_is_refused(said: str) -> None:
    for since, until, option in ((said, None, "--since"), (None, said, "--until")):
        with pytest.raises(UsageError, match=f"{option} .* is no time; a time is written such as 2h, 3d"):
            span(since, until, NOW)


def test_the_end_comes_after_the_beginning() -> None:
    assert span(None, None) == ALWAYS
    with pytest.raises(UsageError, match="--until 3d is not after --since 2d"):
        span("2d", "3d")
    assert span("2026-11-27", "2026-11-27", NOW).until == span("2026-11-28", None, NOW).since


@pytest.fixture
def aged(stored: Callable[[TraceBuilder], Cli]) -> Cli:
    """Three wrong answers, recorded five days ago, one hour ago, and without a time."""
    trace = TraceBuilder(DEFAULT_PROJECT, "aged")
    now = datetime.now(UTC)
    for name, at in (("early", now - timedelta(days=5)), ("late", now - timedelta(hours=1)), ("timeless", None)):
        said = trace.variable(f"m-{name}", f"said {name}", kind=VariableKind.MESSAGE, created_at=at)
        asked = trace.variable(f"q-{name}", f"What is {name}?", kind=VariableKind.QUERY, created_at=at)
        step = trace.operation(f"o-{name}", kind=OperationKind.GENERATION, started_at=at, ended_at=None)
        trace.use(step, said, asked)
        answer = trace.variable(f"a-{name}", name, by=step, kind=VariableKind.ANSWER, created_at=at)
        trace.derive(answer, asked, by=step)
        trace.failure(asked, answer, created_at=at)
    return stored(trace)


@pytest.mark.parametrize("command", ["answers", "failures", "operations", "messages", "variables"])
def test_lists_of_a_time(aged: Cli, command: str) -> None:
    def names(*more: str) -> set[str]:
        shown = aged(command, *more, "--json").out
        return {name for name in ("early", "late", "timeless") if name in shown}

    assert names() == {"early", "late", "timeless"}
    assert names("--since", "2d") == {"late"}
    assert names("--until", "2d") == {"early"}
    assert names("--since", "6d", "--before", "4d") == {"early"}
    assert names("--since", "6d", "--limit", "1") == {"early"}
    assert names("--since", "10m") == set()
    assert "is no time" in aged(command, "--since", "soon", code=2).err


def test_a_report_of_a_time(aged: Cli) -> None:
    assert aged("report", "--since", "2d", "--json").json["totals"]["failures"] == 1
    assert aged("report", "--since", "10m", "--json").json["totals"]["failures"] == 0
    assert "leave out --since" in aged("report", "--failure", "last", "--since", "2d", code=2).err


def test_nothing_in_a_time_is_not_nothing_at_all(aged: Cli) -> None:
    assert "`memtrace answers` lists all" in aged("answers", "--since", "1m").err
    assert "`memtrace failures` lists all" in aged("failures", "--since", "1m").err


def test_a_day_as_an_option_is_that_day() -> None:
    options = {"--since": True, "--until": True}
    assert spelled(["--yesterday"], options) == ["--since", "yesterday", "--until", "yesterday"]
    assert spelled(["--today"], {}) == ["--today"]
