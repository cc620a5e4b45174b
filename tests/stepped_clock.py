"""Sets the clock of a running process, by as many seconds as a file says.

Only the wall clock is set; the monotonic one goes on. The modules of the platform and ``time.time`` see the change;
compiled code, such as a database, does not.
"""

from __future__ import annotations

import builtins
import datetime
import os
import sys
import time
from pathlib import Path
from typing import Any

VARIABLE = "STEPPED_CLOCK"
_OURS = {"api", "attribution", "ingest", "jwt", "schema", "store"}
"""And what looks at the times of tokens for them."""


def install() -> None:
    """Have this process's clock stepped, if its environment names a file for it."""
    path = os.environ.get(VARIABLE)
    if path is None:
        return
    file, true_time, true_ns, true_import = Path(path), time.time, time.time_ns, builtins.__import__
    seen: set[str] = set()

    def step() -> int:
        return int(file.read_text("ascii") or 0)

    class Stepped(datetime.datetime):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return datetime.datetime.now(tz) + datetime.timedelta(seconds=step())

    def imported(*arguments: Any, **named: Any) -> Any:
        result = true_import(*arguments, **named)
        for name in sys.modules.keys() - seen:
            module = sys.modules[name]
            if name.partition(".")[0] in _OURS and hasattr(module, "__spec__"):
                if getattr(module.__spec__, "_initializing", False):
                    continue  # the file is only partly written
                if getattr(module, "datetime", None) is datetime.datetime and _asks_for_now(module):
                    vars(module)["datetime"] = Stepped
            seen.add(name)
        return result

    time.time = lambda: true_time() + step()
    time.time_ns = lambda: true_ns() + step() * 10**9
    builtins.__import__ = imported


def _asks_for_now(module: Any) -> bool:
    """Whether a module takes the time from ``datetime``. Others keep the real class, which compiled code relies on."""
    return "datetime.now(" in Path(module.__file__).read_text("utf-8")


def set_clock(file: Path, seconds: int) -> None:
    """Set the clock of all processes that have it from this file."""
    temporary = file.with_suffix(".new")
    temporary.write_text(str(seconds), "ascii")
    temporary.replace(file)
