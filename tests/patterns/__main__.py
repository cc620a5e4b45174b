"""Attack each pattern of the product: ``python -m tests.patterns [WORD]``; exit code 1 where an attack succeeds."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor

from tests.patterns.attack import attack
from tests.patterns.collect import uses


def main(word: str) -> int:
    """Attack the patterns of files whose path has ``word`` in it; an empty word means all files."""
    chosen = [use for use in uses() if word in use.place]
    chosen.sort(key=lambda use: len(use.pattern.pattern), reverse=True)  # the longest take longest, so they begin
    broken = 0
    with ProcessPoolExecutor() as processes:
        for use, found in zip(chosen, processes.map(attack, chosen), strict=True):
            if found is not None:
                broken += 1
                sys.stdout.write(
                    f"{use.place}: time grows {found.growth:.0f} times for 4 times the length"
                    f" of {found.start!r} + {found.pump!r} * n + {found.end!r}: {use.pattern.pattern!r}\n"
                )
    sys.stdout.write(f"{len(chosen)} patterns, {broken} of them more than linear\n")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
