"""Deterministic ids: the same thing sent twice has the same id.

An id is BLAKE2b with 16 bytes, in hexadecimal, over the label and the parts that identify the thing, each with its
length in front, so that no two lists of parts run together.
"""

from __future__ import annotations

from hashlib import blake2b

ID_LENGTH = 32
MIN_PREFIX = 8
VALUE_HASH_PREFIX = "b2:"


def make_id(label: str, *parts: str) -> str:
    """The id of the thing that ``parts`` identify under ``label``: 32 hexadecimal digits."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in (label, *parts)]
    return blake2b(b"".join(b"%d:%b" % (len(part), part) for part in encoded), digest_size=16).hexdigest()


def trace_id(project_id: str, external_id: str) -> str:
    """The id of a trace."""
    return make_id("Trace", project_id, external_id)


def hash_value(data: bytes) -> str:
    """The address of a value: the algorithm's prefix ``b2:`` and BLAKE2b-16 in hexadecimal."""
    return VALUE_HASH_PREFIX + blake2b(data, digest_size=16).hexdigest()
