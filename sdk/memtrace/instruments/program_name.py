"""The name of the running program, and the namespace of the ids that it chooses for conversations and users."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path


@cache
def program() -> str:
    """The name of the running program: its file, or its module for ``python -m``."""
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    name = getattr(spec, "name", None)
    if isinstance(name, str):
        return name.removesuffix(".__main__")
    return Path(sys.argv[0]).name if sys.argv and sys.argv[0] not in {"", "-c", "-"} else "python"


@cache
def namespace() -> str:
    """Where the ids of conversations and users belong that a program chooses: ``MEMTRACE_NAMESPACE``, else the program.

    The program is its file with its folder. A module or a command of the environment, such as a web server, counts with
    the folder in which it was started.
    """
    chosen = os.environ.get("MEMTRACE_NAMESPACE", "").strip()
    if chosen:
        return chosen
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if getattr(main, "__spec__", None) is None and isinstance(file, str):
        path = Path(file).resolve()
        if not path.is_relative_to(Path(sys.prefix).resolve()):
            return str(path)
    return str(Path.cwd() / program())
