"""Says what did not run because a part of it can't be had on this machine, and how to get that part."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

_MARK = "TESTS LEFT OUT, no "


def left_out(what: str, reason: str, how: str) -> NoReturn:
    """Skip the test; where ``MEMTRACE_REQUIRE_<WHAT>`` is 1, fail it.

    Args:
        what: the missing part: ``browser``, ``Neo4j``, ``NATS`` or ``S3``.
        reason: why the part is missing, in one line.
        how: what brings it, for instance a command.
    """
    required = f"MEMTRACE_REQUIRE_{what.upper()}"
    if os.environ.get(required) == "1":
        pytest.fail(f"{required} is 1, and there is no {what}: {reason}", pytrace=False)
    pytest.skip(f"{_MARK}{what}: {reason}. {how}")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for each missing part. The reports of all processes come together here."""
    reports = terminalreporter.stats.get("skipped", [])
    said = [str(report.longrepr[2]) for report in reports if isinstance(report.longrepr, tuple)]
    for line in sorted({text[text.index(_MARK) :] for text in said if _MARK in text}):
        terminalreporter.write_line(line, red=True, bold=True)
