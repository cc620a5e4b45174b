"""Ids of what is recorded."""

from __future__ import annotations

import os

_IDS_AT_ONCE = 256
_ids: list[str] = []
_is_armed: list[bool] = []


def new_id() -> str:
    """A unique id that nobody can guess: 32 hexadecimal digits."""
    while True:
        try:
            return _ids.pop()
        except IndexError:
            # Random bytes are read in large pieces: a system call for each id would take longer than everything else.
            _ids.extend(os.urandom(16 * _IDS_AT_ONCE).hex(" ", 16).split())
            if not _is_armed and hasattr(os, "register_at_fork"):
                _is_armed.append(True)
                os.register_at_fork(after_in_child=_ids.clear)
