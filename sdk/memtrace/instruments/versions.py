"""Compares the installed version of a package with the versions that its instrument was tested with."""

from __future__ import annotations

import re

_RELEASE = re.compile(r"\d+(?:\.\d+)*")


def advice(name: str, version: str | None, tested: tuple[str, str]) -> str | None:
    """A warning for an untested version; None if the version is in the tested range or unknown.

    Args:
        name: the instrument's name.
        version: the installed version; None if unknown.
        tested: the oldest and the newest tested version.
    """
    oldest, newest = tested
    here = None if version is None else _release(version)
    if here is None or _release(oldest) <= here <= _release(newest):
        return None
    return (
        f"{name} {version} is recorded as far as it is like the versions that were tested, {oldest} to {newest}; "
        "what has changed is left out"
    )


def _release(version: str) -> tuple[int, ...]:
    found = _RELEASE.match(version)
    numbers = [int(part) for part in found[0].split(".")] if found else [0]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)
