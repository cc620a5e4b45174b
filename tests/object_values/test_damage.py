from __future__ import annotations

from collections.abc import Callable
from random import Random

import obstore
import pytest
from obstore.store import ObjectStore

from schema.errors import CorruptValueError, StoreError
from schema.ids import hash_value
from store.values.object_values import ObjectValues
from tests.object_values.holding import (
    PROJECT,
    TRACE,
    VALUES,
    assert_damaged,
    assert_holds,
    names,
    pack_up,
    scanned,
)


def change(objects: ObjectStore, edit: Callable[[bytes], bytes]) -> None:
    """Change the largest object behind everybody's back."""
    name = max(names(objects), key=lambda name: obstore.head(objects, name)["size"])
    obstore.put(objects, name, edit(bytes(obstore.get(objects, name).bytes())))


def flipped(body: bytes, place: int) -> bytes:
    changed = bytearray(body)
    changed[place] ^= 0x55
    return bytes(changed)


RANDOM = Random(3)
LARGE = [RANDOM.randbytes(40_000) for _ in range(3)]
"""Too varied to be compressed: a byte of the object is a byte of a value."""


async def test_a_changed_byte_is_found(values: ObjectValues, objects: ObjectStore, place: str) -> None:
    await values.put(PROJECT, TRACE, pack_up(LARGE))
    await values.put(PROJECT, TRACE, pack_up([b"in another pack"]))
    change(objects, lambda body: flipped(body, 60_000))
    for reader in (values, ObjectValues(place)):
        await assert_damaged(reader, LARGE[1])
        for content in (LARGE[0], LARGE[2], b"in another pack"):
            assert await reader.get(PROJECT, TRACE, hash_value(content)) == content
        with pytest.raises(CorruptValueError, match=hash_value(LARGE[1])):
            await scanned(reader)


LENGTHS = [0, 1, 7, 8, 9, 5_000, -1, -8, -9, -20, -150]


@pytest.mark.parametrize("length", LENGTHS)
async def test_a_pack_that_was_cut_short_is_found(
    values: ObjectValues, objects: ObjectStore, place: str, length: int
) -> None:
    await values.put(PROJECT, TRACE, pack_up(LARGE))
    await values.put(PROJECT, TRACE, pack_up([b"in another pack"]))
    change(objects, lambda body: body[:length])
    reader = ObjectValues(place)
    await assert_damaged(reader, LARGE[1])
    assert await reader.get(PROJECT, TRACE, hash_value(b"in another pack")) == b"in another pack"
    assert await reader.hashes(PROJECT, TRACE) == {hash_value(b"in another pack")}
    with pytest.raises(StoreError, match="is damaged"):
        await scanned(reader)


EDITS: dict[str, Callable[[bytes], bytes]] = {
    "no object": lambda body: b"x" * 1_000,
    "a length that is too large": lambda body: body[:-8] + (1 << 62).to_bytes(8, "big"),
    "a length of nothing": lambda body: body[:-8] + bytes(8),
    "an index that is not JSON": lambda body: flipped(body, -10),
    "an index that is not text": lambda body: body.replace(b"b2:", b"b2\xff"),
    "an index of large numbers": lambda body: body.replace(b",40000,40000]", b",1e300,99999999999999999999]"),
    "an index of other things": lambda body: body[:-8] + b'{"a":1}' + (7).to_bytes(8, "big"),
    "an index of nothing": lambda body: body[:-8] + b"[]" + (2).to_bytes(8, "big"),
    "places outside": lambda body: body.replace(b",40000,40000]", b",40000,90000]"),
    "places before": lambda body: body.replace(b",40000,40000]", b",-9000,40000]"),
    "a place of another": lambda body: body.replace(b",40000,40000]", b",80000,40000]"),
    "a frame that is none": lambda body: flipped(body, 0),
    "a frame of another": lambda body: pack_up(LARGE[:1])[0].data + body[len(pack_up(LARGE)[0].data) :],
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
async def test_damage_is_found_and_mended(
    values: ObjectValues, objects: ObjectStore, place: str, edit: Callable[[bytes], bytes]
) -> None:
    await values.put(PROJECT, TRACE, pack_up(LARGE))
    change(objects, edit)
    reader = ObjectValues(place)
    await assert_damaged(reader, LARGE[1])
    await values.put(PROJECT, TRACE, pack_up(LARGE))
    for one in (reader, values):
        await assert_holds(one, LARGE)


async def test_a_missing_object_is_found(values: ObjectValues, objects: ObjectStore, place: str) -> None:
    await values.put(PROJECT, TRACE, pack_up(LARGE))
    await values.put(PROJECT, TRACE, pack_up([b"in another pack"]))
    reader = ObjectValues(place)
    assert len(await reader.hashes(PROJECT, TRACE)) == len(LARGE) + 1
    obstore.delete(objects, max(names(objects), key=lambda name: obstore.head(objects, name)["size"]))
    for one in (reader, ObjectValues(place)):
        await assert_damaged(one, LARGE[1])
        await assert_holds(one, [b"in another pack"])


async def test_a_value_that_is_gone_from_one_pack_is_read_from_another(
    values: ObjectValues, objects: ObjectStore
) -> None:
    for contents in (VALUES, VALUES[:3]):
        await values.put(PROJECT, TRACE, pack_up(contents))
    before = await values.hashes(PROJECT, TRACE)
    obstore.delete(objects, max(names(objects), key=lambda name: obstore.head(objects, name)["size"]))
    assert len(before) == len(VALUES)
    await assert_holds(values, VALUES[:3])
