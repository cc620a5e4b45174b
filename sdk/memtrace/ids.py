"""Ids of what is recorded."""

from __future__ import annotations

import os

_IDS_AT_ONCE = 256
_ids: list[str] = []
_is_armed: list[bool] = []


def new_id() -> str:
    """An id that nobody else has and nobody guesses: 32 hexadecimal digits."""
    while True:
        try:
            return _ids.pop()
        except IndexError:
            # Randomness is asked for in large pieces: a call of the system for each id would cost more than the rest.
            _ids.extend(os.urandom(16 * _IDS_AT_ONCE).hex(" ", 16).split())
            if not _is_armed and hasattr(os, "register_at_fork"):
                _is_armed.append(True)
                os.register_at_fork(after_in_child=_ids.clear)
