"""Recorded graph files, unpacked piece by piece, to keep the memory of the benchmark process small."""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path

from benchmarks.context import plain_name
from ingest.files.opening import mapped

_BLOCK = 1 << 20


def unpack(file: Path, folder: Path) -> Path:
    """A plain JSON file with the content of a graph file, compressed or not."""
    plain = folder / f"{plain_name(file)}.json"
    with mapped(file) as mapping, plain.open("wb") as target:
        shutil.copyfileobj(mapping, target, _BLOCK)
    return plain


def gzip_size(file: Path) -> int:
    """Bytes of a file after ``gzip -9``."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    size = 0
    with file.open("rb") as source:
        while block := source.read(_BLOCK):
            size += len(packer.compress(block))
    return size + len(packer.flush())
