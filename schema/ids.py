"""Deterministic ids: an element that is sent twice has one id.

An id is BLAKE2b with 16 bytes, in hexadecimal, over the label and the parts that identify the element. The length of
each part is hashed before the part, so that different lists of parts never give equal bytes.
"""

from __future__ import annotations

from hashlib import blake2b

ID_LENGTH = 32
MIN_PREFIX = 8
VALUE_HASH_PREFIX = "b2:"


def make_id(label: str, *parts: str) -> str:
    """The id of the element that ``parts`` identify under ``label``: 32 hexadecimal digits."""
    return IdMaker(label)(*parts)


class IdMaker:
    """``make_id`` for many elements with common first parts, which are hashed once."""

    def __init__(self, label: str, *parts: str) -> None:
        self._start = blake2b(digest_size=16)
        for part in (label, *parts):
            self._start.update(_framed(part))

    def __call__(self, *parts: str) -> str:
        """The id from the common parts and the further ``parts``."""
        state = self._start.copy()
        for part in parts:
            state.update(_framed(part))
        return state.hexdigest()


def _framed(part: str) -> bytes:
    data = part.encode("utf-8", "surrogatepass")
    return b"%d:%b" % (len(data), data)


def trace_id(project_id: str, external_id: str) -> str:
    """The id of a trace."""
    return make_id("Trace", project_id, external_id)


def hash_value(data: bytes) -> str:
    """The hash of a value: the algorithm's prefix ``b2:`` and BLAKE2b-16 in hexadecimal."""
    return VALUE_HASH_PREFIX + blake2b(data, digest_size=16).hexdigest()
