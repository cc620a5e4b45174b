"""Writes the locks of environments anew: ``python -m tests.environments NAME...``, or all of them without a name."""

from __future__ import annotations

import sys

from tests.environments import HERE, write_lock

for name in sys.argv[1:] or sorted(path.stem for path in HERE.glob("*.in")):
    write_lock(name)
    sys.stdout.write(f"{name}.lock is written\n")
