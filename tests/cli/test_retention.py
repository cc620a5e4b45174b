"""`memtrace retention`: policies, dry runs and deletions."""

from __future__ import annotations

import asyncio
import signal
from datetime import UTC, datetime, timedelta

import pytest

from api.cli.context import DEFAULT_PROJECT
from store.open import open_database
from tests.cli.conftest import Cli
from tests.contract.ageing import age
from tests.contract.samples import assistant

POLICY = {"projectId", "days", "traces", "changedAt", "changedBy", "dueAt"}
TRACE = {"id", "externalId", "name", "writtenAt", "reason", "counts"}


def write(cli: Cli, *days: float, project: str = DEFAULT_PROJECT) -> list[str]:
    """Write a trace for each number of days since its last event, and return the ids."""

    async def work() -> list[str]:
        made = []
        async with await open_database(cli.store) as database:
            for number, ago in enumerate(days):
                trace = assistant(project, f"trace {number}")
                await trace.write(database.project(project))
                await age(database, trace.trace.id, datetime.now(UTC) - timedelta(days=ago))
                made.append(trace.trace.id)
        return made

    return asyncio.run(work())


def names(cli: Cli, *arguments: str) -> list[str]:
    return [trace["externalId"] for trace in cli("traces", "--json", *arguments).json]


def test_a_policy_is_set_shown_and_cleared(cli: Cli) -> None:
    assert cli("retention", "set", "--days", "30", "--traces", "1000").out == (
        "Traces go that nothing was written to for 30 days, or are not among the 1,000 that were written to last.\n"
    )
    shown = cli("retention", "show", "--json").json
    assert set(shown) == POLICY
    assert (shown["days"], shown["traces"], shown["changedBy"]) == (30, 1000, "command line")
    assert cli("retention", "set", "--traces", "5", "--json").json["days"] is None
    assert cli("retention", "show").out == "Traces go that are not among the 5 that were written to last.\n"
    assert cli("retention", "show", "--project", "another").out == "Traces are kept for good.\n"
    cli("retention", "clear", "--project", "another")
    assert cli("retention", "clear").out == "Traces are kept for good.\n"
    shown = cli("retention", "show", "--json").json
    assert shown == {"projectId": "default"} | dict.fromkeys(POLICY - {"projectId"})


@pytest.mark.parametrize(
    "arguments", [(), ("--days", "0"), ("--traces", "0"), ("--days", "x"), ("--days", "40000"), ("--traces", "-1")]
)
def test_a_policy_that_says_nothing_is_a_slip(cli: Cli, arguments: tuple[str, ...]) -> None:
    cli("retention", "set", *arguments, code=2)
    cli("retention", "show", code=5)


def test_a_dry_run_changes_nothing_and_a_run_does_what_it_said(cli: Cli) -> None:
    ids = write(cli, 50, 3, 40)
    write(cli, 50, project="another")
    cli("retention", "set", "--days", "30")
    planned = cli("retention", "run", "--dry-run", "--json").json
    assert (planned["dryRun"], planned["stopped"], planned["counts"]["Trace"]) == (True, False, 2)
    assert [trace["id"] for trace in planned["traces"]] == [ids[0], ids[2]]
    assert all(set(trace) == TRACE and trace["reason"] == "days" for trace in planned["traces"])
    listed = cli("retention", "run", "--dry-run")
    assert [line.split()[0] for line in listed.out.splitlines()] == [ids[0], ids[2]]
    assert listed.err.startswith("Would delete: 2 Trace, ")
    assert len(names(cli)) == 3
    done = cli("retention", "run", "--json").json
    assert done == planned | {"dryRun": False}
    assert names(cli) == ["trace 1"]
    assert names(cli, "--project", "another") == ["trace 0"]
    assert cli("retention", "run").err == "Deleted: nothing.\n"


def test_only_so_many_are_kept(cli: Cli) -> None:
    write(cli, 3, 1, 2)
    cli("retention", "set", "--traces", "1")
    assert cli("retention", "run").err.startswith("Deleted: 2 Trace, ")
    assert names(cli) == ["trace 1"]


def test_a_project_without_a_policy_keeps_all(cli: Cli) -> None:
    write(cli, 4000)
    result = cli("retention", "run", code=3)
    assert "keeps its traces for good" in result.err
    assert names(cli) == ["trace 0"]


def test_what_nobody_has_made_has_no_policy(cli: Cli) -> None:
    for command in ("show", "clear", "run"):
        cli("retention", command, code=5)


def test_an_interrupted_run_ends_after_the_trace_in_hand(cli: Cli) -> None:
    write(cli, *range(2, 202))
    cli("retention", "set", "--days", "1")
    with cli.process("retention", "run") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        # Not `communicate`, which loses the lines that arrived together with the first line.
        rest, said = process.stdout.read(), process.stderr.read()
    deleted = len([first, *rest.splitlines()])
    assert process.returncode == 130, said
    assert b"running it again goes on" in said
    left = names(cli)
    assert len(left) == 200 - deleted
    assert cli("retention", "run", "--json").json["counts"]["Trace"] == len(left)
    assert names(cli) == []


def test_a_killed_run_leaves_whole_traces_and_the_next_goes_on(cli: Cli) -> None:
    write(cli, *range(2, 102))
    counts = cli("traces", "--json").json[0]["counts"]
    cli("retention", "set", "--days", "1")
    process = cli.process("retention", "run")
    assert process.stdout is not None
    process.stdout.readline()
    process.kill()
    process.communicate()
    left = cli("traces", "--json").json
    assert 0 < len(left) < 100
    assert all(trace["counts"] == counts for trace in left)
    assert cli("retention", "run", "--json").json["counts"]["Trace"] == len(left)
    assert names(cli) == []
