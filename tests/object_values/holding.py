"""Filling a place with values, and looking whether it holds them."""

from __future__ import annotations

from collections.abc import Iterable

import obstore
import pytest
from obstore.store import ObjectStore

from schema.errors import CorruptValueError
from schema.ids import hash_value, trace_id
from store.values.object_values import ObjectValues
from store.values.packs import Pack, PackWriter

PROJECT = "acme"
TRACE = trace_id(PROJECT, "first")
VALUES = [b"", b"one", b"two " * 5_000, "ünï 東京 🚀".encode(), bytes(range(256)) * 40]


def use(monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)


def pack_up(contents: Iterable[bytes]) -> list[Pack]:
    with PackWriter() as writer:
        for content in contents:
            writer.add(hash_value(content), content)
        return list(writer.packs())


async def scanned(values: ObjectValues, project: str = PROJECT, trace: str = TRACE) -> list[tuple[str, bytes]]:
    return [item async for item in values.scan(project, trace)]


def names(objects: ObjectStore) -> list[str]:
    return [item["path"] for chunk in obstore.list(objects) for item in chunk if item["path"] != "ready"]


def by_hash(contents: Iterable[bytes]) -> dict[str, bytes]:
    return {hash_value(content): content for content in contents}


async def assert_holds(
    values: ObjectValues, contents: Iterable[bytes], project: str = PROJECT, trace: str = TRACE
) -> None:
    expected = by_hash(contents)
    assert await values.hashes(project, trace) == set(expected)
    assert sorted(await scanned(values, project, trace)) == sorted(expected.items())
    for value_hash, content in reversed(expected.items()):
        assert await values.get(project, trace, value_hash) == content
    assert await values.get_many(project, trace, list(expected)) == expected


async def assert_damaged(values: ObjectValues, content: bytes) -> None:
    with pytest.raises(CorruptValueError, match=hash_value(content)) as caught:
        await values.get(PROJECT, TRACE, hash_value(content))
    assert caught.value.value_hash == hash_value(content)
