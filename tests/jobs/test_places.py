"""Storages of uploads: a folder, and a bucket of a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.errors import TooLargeError
from api.jobs.uploads import Uploads, uploads_uri
from api.settings import Settings
from schema.errors import InputError
from tests.object_store import BUCKET, ObjectServer
from tests.object_values.holding import use

DATA = bytes(range(256)) * 50_000


@pytest.fixture(params=["folder", "bucket"])
def uploads(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Uploads:
    if request.param == "folder":
        return Uploads((tmp_path / "uploads").as_uri())
    server: ObjectServer = request.getfixturevalue("object_store")
    use(monkeypatch, server.settings(server.owner))
    return Uploads(f"s3://{BUCKET}/{tmp_path.name}")


async def blocks(data: bytes = DATA) -> AsyncIterator[bytes]:
    for start in range(0, len(data), 100_000):
        yield data[start : start + 100_000]


async def names(uploads: Uploads) -> list[str]:
    found: list[str] = []

    async def keep(project: str, job_id: str, name: str) -> bool:
        found.append(name)
        return True

    await uploads.clean(keep, 0)
    return found


async def test_a_file_comes_back_until_it_is_deleted(uploads: Uploads) -> None:
    name, size = await uploads.put("a/b ü", "job1", blocks())
    assert size == len(DATA)
    async with uploads.fetch(name) as path:
        assert path is not None
        assert path.read_bytes() == DATA
    await uploads.delete(name)
    await uploads.delete(name)
    async with uploads.fetch(name) as path:
        assert path is None


async def test_too_much_leaves_nothing(uploads: Uploads) -> None:
    with pytest.raises(TooLargeError):
        await uploads.put("p", "job1", blocks(), 1_000_000)
    assert await names(uploads) == []


async def test_what_no_job_needs_is_cleaned(uploads: Uploads) -> None:
    kept, _ = await uploads.put("a/b ü", "job1", blocks(b"1"))
    dropped, _ = await uploads.put("p", "job2", blocks(b"2"))
    asked: list[tuple[str, str]] = []

    async def needed(project: str, job_id: str, name: str) -> bool:
        asked.append((project, job_id))
        return name == kept

    await uploads.clean(needed)
    assert asked == [], "they are too new to be left over"
    await uploads.clean(needed, 0)
    assert sorted(asked) == [("a/b ü", "job1"), ("p", "job2")]
    assert await names(uploads) == [kept]
    assert dropped != kept


@pytest.mark.parametrize("uploads", ["folder"], indirect=True)
async def test_what_is_being_written_is_not_cleaned(uploads: Uploads) -> None:
    async def blocks_and_cleaning() -> AsyncIterator[bytes]:
        yield b"first, "
        await names(uploads)
        yield b"second"

    name, _ = await uploads.put("p", "job1", blocks_and_cleaning())
    async with uploads.fetch(name) as path:
        assert path is not None
        assert path.read_bytes() == b"first, second"


def test_where_they_lie_unless_told() -> None:
    at = uploads_uri
    assert at(Settings(uploads="file:///there")) == "file:///there"
    assert at(Settings(store="sqlite:////data/a.db")) == "file:///data/a.db-uploads"
    assert at(Settings(store="sqlite:////data/a.db", values="s3://bucket/values/")) == "s3://bucket/values-uploads"
    assert at(Settings(store="bolt://host", values="file:///data/values")) == "file:///data/values-uploads"
    with pytest.raises(InputError, match="uploads"):
        at(Settings(store="bolt://host", values="s3://bucket"))
