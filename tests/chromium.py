"""The path of a headless Chromium: the system's browser, else Playwright's."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

HOW = "To get one: `.venv/bin/playwright install --only-shell chromium`, or your system's package of Chromium"
_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Without a screen, the shell draws the same with the same engine: tests of pages take a third less of a processor."""
_FETCH = (sys.executable, "-m", "playwright", "install", "--only-shell", "chromium")
_FETCH_SECONDS = 300


def program() -> str | None:
    """The program that ``MEMTRACE_TEST_BROWSER`` names, else the system's; None leaves the choice to Playwright."""
    named = os.environ.get("MEMTRACE_TEST_BROWSER")
    return named or next(filter(None, map(shutil.which, _PROGRAMS)), None)


def fetching() -> subprocess.Popen[bytes] | None:
    """Start to fetch Playwright's Chromium, unless it is there, or the system has one: then None.

    Without a network the process gives up within seconds.
    """
    if program() is not None:
        return None
    soon = {"PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": "10000"}
    return subprocess.Popen(_FETCH, env=os.environ | soon, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def fetched(process: subprocess.Popen[bytes]) -> None:
    """Wait until the process has ended or its time is over."""
    try:
        process.wait(_FETCH_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
