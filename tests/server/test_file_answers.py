"""Answers that are files: their names, ranges, compression, and sending while they are written."""

from __future__ import annotations

import asyncio
import errno
import gzip
import io
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator
from typing import BinaryIO, cast

import pytest

from api.http import files
from api.http.files import attachment, begun, from_file, gzipped, one_range, streamed, takes_gzip
from api.http.windows import on_disk
from schema.errors import StoreError


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("a-b_1.json", 'attachment; filename="a-b_1.json"'),
        ("a b.json", "attachment; filename=\"a_b.json\"; filename*=UTF-8''a%20b.json"),
        ('a"\r\nb', "attachment; filename=\"a_b\"; filename*=UTF-8''a%22%0D%0Ab"),
        ("../x", "attachment; filename=\"x\"; filename*=UTF-8''..%2Fx"),
        ("é", "attachment; filename=\"file\"; filename*=UTF-8''%C3%A9"),
        ("\ud800", "attachment; filename=\"file\"; filename*=UTF-8''%3F"),
        ("", "attachment; filename=\"file\"; filename*=UTF-8''"),
        ("x" * 101, f"attachment; filename=\"{'x' * 100}\"; filename*=UTF-8''{'x' * 100}"),
    ],
)
def test_a_browser_saves_the_answer_under_a_safe_name(name: str, header: str) -> None:
    found = attachment(name)
    assert found["Content-Disposition"] == header
    assert found["X-Content-Type-Options"] == "nosniff"
    assert found["Content-Security-Policy"].startswith("default-src 'none'; sandbox")


@pytest.mark.parametrize(
    ("header", "takes"),
    [
        ("", False),
        ("gzip", True),
        ("br, GZip;q=0.5", True),
        ("x-gzip", True),
        ("*", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("gzip;q=0.001", True),
        ("br", False),
        ("gzip;q=0, *", False),
        ("gzipped", False),
    ],
)
def test_who_takes_gzip(header: str, takes: bool) -> None:
    assert takes_gzip(header) is takes


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (None, None),
        ("bytes=-", None),
        ("bytes=0-0", (0, 1)),
        ("bytes=0-9", (0, 10)),
        ("bytes=0-10", (0, 10)),
        ("bytes=9-9", (9, 10)),
        ("bytes=3-", (3, 10)),
        ("bytes=-3", (7, 10)),
        ("bytes=-10", (0, 10)),
        ("bytes=-11", (0, 10)),
        ("bytes=5-4", None),
        ("bytes=4-4", (4, 5)),
        (" bytes=1-2 ", (1, 3)),
        ("bytes=1-2,4-5", None),
        ("lines=1-2", None),
        (f"bytes=0-{'9' * 18}", (0, 10)),
        (f"bytes=0-{'9' * 19}", None),
        (f"bytes={'0' * 19}-3", None),
        ("bytes=٣-", None),
    ],
)
def test_a_range_is_read(header: str | None, found: tuple[int, int] | None) -> None:
    assert one_range(header, 10) == found


@pytest.mark.parametrize(
    ("header", "size"), [("bytes=10-", 10), ("bytes=10-12", 10), ("bytes=-0", 10), ("bytes=0-", 0)]
)
def test_a_range_outside_the_content_is_refused(header: str, size: int) -> None:
    with pytest.raises(ValueError, match=header):
        one_range(header, size)


async def blocks_of(*blocks: bytes) -> AsyncIterator[bytes]:
    for block in blocks:
        yield block


async def all_of(blocks: AsyncIterator[bytes]) -> bytes:
    return b"".join([block async for block in blocks])


@pytest.mark.parametrize("size", [0, 1, 9, 10, 11, 25])
async def test_the_whole_output_is_sent(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(files, "_BLOCK", 10)
    content = bytes(range(size))

    async def write(file: BinaryIO) -> None:
        for start in range(0, size, 7):
            file.write(content[start : start + 7])
            await asyncio.sleep(0)

    found = [block async for block in streamed(write)]
    assert b"".join(found) == content
    assert max(map(len, found), default=0) <= 10


async def test_output_is_sent_while_it_is_written() -> None:
    may_go_on = asyncio.Event()

    async def write(file: BinaryIO) -> None:
        file.write(b"first")
        file.flush()
        await may_go_on.wait()
        file.write(b"last")

    blocks = streamed(write)
    assert await anext(blocks) == b"first"
    may_go_on.set()
    assert await all_of(blocks) == b"last"


async def test_an_error_cuts_the_answer_off() -> None:
    async def write(file: BinaryIO) -> None:
        file.write(b"part")
        file.flush()
        raise KeyError("broken")

    blocks = streamed(write)
    with pytest.raises(KeyError):
        await all_of(blocks)


async def test_nobody_writes_for_a_client_that_has_gone() -> None:
    ended: list[str] = []

    async def write(file: BinaryIO) -> None:
        file.write(b"part")
        file.flush()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    blocks = streamed(write)
    assert await anext(blocks) == b"part"
    await blocks.aclose()  # type: ignore[attr-defined]
    assert ended == ["cancelled"]


@pytest.mark.parametrize("size", [0, 1, files._BLOCK - 1, files._BLOCK, files._BLOCK + 1, 3 * files._BLOCK])
async def test_a_file_is_sent_from_its_beginning_and_closed(size: int) -> None:
    content = bytes(number % 251 for number in range(size))
    file = on_disk([content[: size // 2], content[size // 2 :]])
    assert b"".join([block async for block in from_file(file)]) == content
    assert file.closed


async def test_a_file_whose_reader_has_gone_is_closed() -> None:
    file = on_disk([bytes(files._BLOCK), b"more"])
    blocks = cast(AsyncGenerator[bytes], from_file(file))
    assert len(await anext(blocks)) == files._BLOCK
    await blocks.aclose()
    assert file.closed


def test_a_full_disk_is_an_error_that_names_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Full] = []

    class Full(io.BytesIO):
        def __init__(self) -> None:
            super().__init__()
            opened.append(self)

        def flush(self) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", Full)
    with pytest.raises(StoreError) as raised:
        on_disk([b"x"])
    assert str(raised.value) == f"{tempfile.gettempdir()}: an answer can't wait here: No space left on device"
    assert [file.closed for file in opened] == [True]


async def test_the_first_block_is_awaited() -> None:
    async def failing() -> AsyncIterator[bytes]:
        raise KeyError("broken")
        yield b""

    with pytest.raises(KeyError):
        await begun(failing())
    assert await all_of(await begun(blocks_of(b"a", b"b"))) == b"ab"
    assert await all_of(await begun(blocks_of())) == b""


@pytest.mark.parametrize("blocks", [(), (b"",), (b"a" * 100_000, b"b", bytes(range(256)) * 1_000)])
async def test_blocks_are_compressed_as_one_file(blocks: tuple[bytes, ...]) -> None:
    packed = await all_of(gzipped(blocks_of(*blocks)))
    assert packed[:2] == b"\x1f\x8b"
    assert gzip.decompress(packed) == b"".join(blocks)
