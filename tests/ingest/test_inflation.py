"""The largest size to which a compressed file may unpack."""

from __future__ import annotations

import gzip
import lzma
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
import zstandard

from ingest.files import inflation_check
from ingest.files.inflation_check import check_unpacked
from ingest.files.opening import FREE_BYTES, UnpacksTooMuchError, limit_of, mapped

PACKERS: list[Callable[[bytes], bytes]] = [gzip.compress, lzma.compress, zstandard.compress]
TEXT = b"two words " * 70_000
"""More than a block of unpacking."""


@pytest.mark.parametrize("pack", PACKERS, ids=["gz", "xz", "zst"])
@pytest.mark.parametrize("parts", [1, 3])
def test_exactly_the_limit_may_be_unpacked(tmp_path: Path, pack: Callable[[bytes], bytes], parts: int) -> None:
    packed, size = pack(TEXT) * parts, len(TEXT) * parts
    file = tmp_path / "packed"
    file.write_bytes(packed)
    check_unpacked(BytesIO(packed), "packed", size, 1 << 40)
    with mapped(file, size) as data:
        assert bytes(data) == TEXT * parts
    with pytest.raises(UnpacksTooMuchError) as checked:
        check_unpacked(BytesIO(packed), "packed", size - 1, 1 << 40)
    with pytest.raises(UnpacksTooMuchError) as unpacked, mapped(file, size - 1):
        pass
    for error in (checked.value, unpacked.value):
        assert (error.limit, error.why) == (size - 1, "")


@pytest.mark.parametrize("pack", PACKERS, ids=["gz", "xz", "zst"])
def test_what_the_check_cannot_read_is_left_to_the_import(pack: Callable[[bytes], bytes]) -> None:
    packed = pack(TEXT)
    for data in (packed[:-9], packed[:20] + b"?" * 200, TEXT, b"", pack(b"") * (inflation_check._MOST_MEMBERS + 1)):
        check_unpacked(BytesIO(data), "file", len(TEXT), 1 << 40)


@pytest.mark.parametrize("pack", PACKERS, ids=["gz", "xz", "zst"])
def test_as_many_parts_are_checked_as_may_be(monkeypatch: pytest.MonkeyPatch, pack: Callable[[bytes], bytes]) -> None:
    monkeypatch.setattr(inflation_check, "_MOST_MEMBERS", 3)
    with pytest.raises(UnpacksTooMuchError):
        check_unpacked(BytesIO(pack(b"") * 2 + pack(TEXT)), "file", 10, 1 << 40)
    check_unpacked(BytesIO(pack(b"") * 3 + pack(TEXT)), "file", 10, 1 << 40)


def test_a_file_that_is_read_for_its_limit_is_read_from_its_beginning() -> None:
    raw = BytesIO(gzip.compress(TEXT))
    raw.seek(0)
    with pytest.raises(UnpacksTooMuchError):
        check_unpacked(raw, "file", 10, 1 << 40)


@pytest.mark.parametrize(
    ("size", "max_bytes", "max_ratio", "limit"),
    [
        (7, None, None, None),
        (7, 5, None, (5, "")),
        (7, None, 3, (FREE_BYTES, "3")),
        (FREE_BYTES, None, 3, (FREE_BYTES * 3, "3")),
        (FREE_BYTES, FREE_BYTES * 3, 3, (FREE_BYTES * 3, "")),
        (FREE_BYTES, FREE_BYTES * 3 + 1, 3, (FREE_BYTES * 3, "3")),
        (7, FREE_BYTES - 1, 1_000, (FREE_BYTES - 1, "")),
    ],
)
def test_the_smaller_of_two_limits_counts(
    size: int, max_bytes: int | None, max_ratio: int | None, limit: tuple[int, str] | None
) -> None:
    found = limit_of(BytesIO(bytes(size)), max_bytes, max_ratio)
    assert (found and found[0]) == (limit and limit[0])
    assert (found[1] if found else "") == (
        f" for one that is so small (at most {limit[1]} times its size)" if limit and limit[1] else ""
    )
