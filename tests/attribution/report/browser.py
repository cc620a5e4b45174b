"""A real Chromium without a screen, as the system or Playwright has it.

Environment:
    MEMTRACE_TEST_BROWSER: The program, if it is not found by itself.
    MEMTRACE_REQUIRE_BROWSER: With 1, tests that need a browser fail rather than skip where none can be had.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import NoReturn

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Error, Playwright, async_playwright

_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Without a screen, the shell draws the same with the same engine: tests of pages take a third less of a processor."""
# No page of ours needs them, and in a closed network they fail, many at a time.
_QUIET = (
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


async def launch(playwright: Playwright) -> Browser:
    """Start a browser.

    Raises:
        Error: none can be had.
    """
    named = os.environ.get("MEMTRACE_TEST_BROWSER")
    program = named or next(filter(None, map(shutil.which, _PROGRAMS)), None)
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    arguments = [*_QUIET, *(["--no-sandbox"] if as_root else [])]
    return await playwright.chromium.launch(executable_path=program, args=arguments)


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def browser(request: pytest.FixtureRequest) -> AsyncIterator[Browser]:
    """A browser, one for all tests of a folder."""
    async with async_playwright() as playwright:
        try:
            opened = await launch(playwright)
        except Error as error:
            _unavailable(request.config, error.message.splitlines()[0])
        yield opened
        await opened.close()


@dataclass(frozen=True, slots=True)
class _Summary:
    reason: str

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Says clearly that no browser was found, and why."""
        terminalreporter.write_line(f"TESTS WITH A BROWSER DID NOT RUN: {self.reason}", red=True, bold=True)


def _unavailable(config: pytest.Config, reason: str) -> NoReturn:
    if not config.pluginmanager.has_plugin(__name__):
        config.pluginmanager.register(_Summary(reason), __name__)
    if os.environ.get("MEMTRACE_REQUIRE_BROWSER") == "1":
        pytest.fail(f"MEMTRACE_REQUIRE_BROWSER is 1, and no browser can be had: {reason}", pytrace=False)
    pytest.skip(f"no browser can be had: {reason}")
