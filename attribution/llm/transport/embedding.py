"""Prepares texts for a server of embeddings, and vectors for a cache."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

_BATCH_TEXTS = 64
_BATCH_BYTES = 100_000
_LONGEST_TEXT = 8_000
_TEXT_TOKENS = 16
_FLOAT_BYTES = 4


def prepared(text: str) -> str:
    """The text to send: not empty, because servers refuse empty texts, and cut to a length that models accept."""
    return text[:_LONGEST_TEXT] if text.strip() else " "


def batches(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in batches of a bounded size, in order."""
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode("utf-8", "replace"))
        if batch and (len(batch) == _BATCH_TEXTS or size + length > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    if batch:
        yield batch


def bound(batch: Sequence[str]) -> int:
    """An upper bound of the tokens of the texts, because no token is shorter than a byte."""
    return sum(len(text.encode("utf-8", "replace")) + _TEXT_TOKENS for text in batch)


def pack(vector: Sequence[float]) -> bytes:
    """A vector as bytes in single precision."""
    return struct.pack(f"<{len(vector)}f", *vector)


def unpack(data: bytes) -> list[float]:
    """The vector from the bytes of ``pack``."""
    return list(struct.unpack(f"<{len(data) // _FLOAT_BYTES}f", data))
