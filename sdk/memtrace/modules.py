"""The name under which people know a module: a script that is run is known by its file, not as ``__main__``."""

from __future__ import annotations

import sys
from pathlib import Path

_MAIN = "__main__"


def module_name(module: str) -> str:
    """A module's name; of the program that runs, the name of its file or, for ``python -m``, of its module."""
    if module != _MAIN:
        return module
    main = sys.modules.get(_MAIN)
    named = getattr(getattr(main, "__spec__", None), "name", None)
    if isinstance(named, str):
        return named.removesuffix(f".{_MAIN}")
    file = getattr(main, "__file__", None)  # not there in a notebook, and for ``python -c``
    return Path(file).name if isinstance(file, str) else module
