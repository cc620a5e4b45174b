"""A real Chromium without a screen, as the system or Playwright has it.

Environment:
    MEMTRACE_TEST_BROWSER: The program, if it is not found by itself.
    MEMTRACE_REQUIRE_BROWSER: With 1, tests that need a browser fail rather than skip where none can be had.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser, Error, Playwright, async_playwright

from tests.chromium import HOW, program
from tests.left_out import left_out

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
    as_root = hasattr(os, "geteuid") and os.geteuid() == 0
    arguments = [*_QUIET, *(["--no-sandbox"] if as_root else [])]
    return await playwright.chromium.launch(executable_path=program(), args=arguments)


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """A browser, one for all tests of a folder."""
    async with async_playwright() as playwright:
        try:
            opened = await launch(playwright)
        except Error as error:
            left_out("browser", f"no Chromium starts: {error.message.splitlines()[0]}", HOW)
        yield opened
        await opened.close()
