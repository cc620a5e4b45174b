"""Ids of what is recorded."""

from __future__ import annotations

import os
from hashlib import blake2b

_IDS_AT_ONCE = 256
_ids: list[str] = []
_is_armed: list[bool] = []


def digest(*parts: str) -> str:
    """An id that every process computes from the same texts: 32 hexadecimal digits."""
    state = blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(b"%d:%b" % (len(data), data))
    return state.hexdigest()


def trace_id(*parts: str) -> str:
    """The id of the trace of a memory. All processes that share the memory compute the same id and add to one trace.

    Args:
        parts: texts that identify the memory, such as the address of the store and the id of the user.
    """
    return digest("memtrace.trace", *parts)


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
