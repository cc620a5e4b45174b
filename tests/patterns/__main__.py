"""Attack each pattern of the product: ``python -m tests.patterns [WORD]``; exit code 1 where an attack succeeds."""

from __future__ import annotations

import sys

from tests.patterns.attack import attack
from tests.patterns.collect import uses


def main(word: str) -> int:
    """Attack the patterns of files whose path has ``word`` in it; an empty word means all files."""
    count, broken = 0, 0
    for use in uses():
        if word not in use.place:
            continue
        count += 1
        found = attack(use)
        if found is not None:
            broken += 1
            sys.stdout.write(
                f"{use.place}: time grows {found.growth:.0f} times for 4 times the length"
                f" of {found.start!r} + {found.pump!r} * n + {found.end!r}: {use.pattern.pattern!r}\n"
            )
    sys.stdout.write(f"{count} patterns, {broken} of them more than linear\n")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
