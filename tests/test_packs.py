from __future__ import annotations

import threading
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema.errors import CorruptValueError
from schema.ids import hash_value
from store.values import packs
from store.values.packs import PACK_BYTES, Pack, PackCache, PackEntry, PackWriter, cut, decompress, read_all, verified

VALUES = st.lists(st.binary(max_size=300) | st.text(max_size=200).map(str.encode), max_size=20)


def pack_up(values: list[bytes], known: set[str] | None = None) -> list[Pack]:
    with PackWriter(known) as writer:
        for value in values:
            writer.add(hash_value(value), value)
        return list(writer.packs())


def read_value(data: bytes, entry: PackEntry) -> bytes:
    return cut(decompress(data, entry.value_hash), entry)


@given(VALUES)
def test_every_value_comes_back(values: list[bytes]) -> None:
    expected = list(dict.fromkeys(values))
    made = pack_up(values)
    assert [value for pack in made for _, value in read_all(pack.data, list(pack.entries))] == expected
    assert [read_value(pack.data, entry) for pack in made for entry in pack.entries] == expected


@given(VALUES, st.data())
def test_what_is_known_is_not_packed_again(values: list[bytes], data: st.DataObject) -> None:
    known = set(data.draw(st.lists(st.sampled_from(values)))) if values else set()
    made = pack_up(values, {hash_value(value) for value in known})
    packed = {entry.value_hash for pack in made for entry in pack.entries}
    assert packed == {hash_value(value) for value in set(values) - known}


@given(VALUES)
def test_the_same_values_are_the_same_pack(values: list[bytes]) -> None:
    assert pack_up(values) == pack_up(values + values[:3])


def test_the_order_of_values_is_part_of_a_pack() -> None:
    assert pack_up([b"one", b"two"])[0].id != pack_up([b"two", b"one"])[0].id


def test_nothing_makes_no_pack() -> None:
    assert pack_up([]) == []


def test_the_empty_value_is_a_value() -> None:
    (pack,) = pack_up([b""])
    assert (pack.raw_size, read_value(pack.data, pack.entries[0])) == (0, b"")


def test_packs_are_bounded_and_full() -> None:
    random = Random(5)
    values = [random.randbytes(PACK_BYTES // 3) for _ in range(10)]
    made = pack_up(values)
    assert [len(pack.entries) for pack in made] == [3, 3, 3, 1]
    assert all(pack.raw_size <= PACK_BYTES for pack in made)
    assert [pack.raw_size for pack in made] == [sum(entry.size for entry in pack.entries) for pack in made]
    assert [value for pack in made for _, value in read_all(pack.data, list(pack.entries))] == values


def test_a_value_larger_than_a_pack_has_a_pack_of_its_own() -> None:
    random = Random(6)
    values = [b"small", random.randbytes(2 * PACK_BYTES + 1), b"small too"]
    made = pack_up(values)
    assert [[entry.size for entry in pack.entries] for pack in made] == [[5], [2 * PACK_BYTES + 1], [9]]
    assert [read_value(pack.data, pack.entries[0]) for pack in made] == values


def test_what_values_share_is_stored_once() -> None:
    random = Random(7)
    buffer = random.randbytes(80_000).hex().encode()
    versions = [buffer + b"message %d" % number for number in range(40)]
    assert sum(len(pack.data) for pack in pack_up(versions)) < 1.5 * len(pack_up([buffer])[0].data)


def test_many_packs_wait_outside_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packs, "PACK_BYTES", 1000)
    monkeypatch.setattr(packs, "_SPOOL_BYTES", 4000)
    random = Random(8)
    values = [random.randbytes(600) for _ in range(50)]
    made = pack_up(values)
    assert len(made) == len(values)
    assert [read_value(pack.data, pack.entries[0]) for pack in made] == values


def test_a_failed_block_leaves_no_worker_behind() -> None:
    with pytest.raises(ZeroDivisionError), PackWriter() as writer:  # noqa: PT012  (the block is what is tested)
        for number in range(100):
            writer.add(str(number), b"x" * (PACK_BYTES // 2 + 1) if number < 4 else b"y")
        raise ZeroDivisionError
    assert [thread for thread in threading.enumerate() if thread.name.startswith("pack")] == []


@given(VALUES.filter(any), st.data())
def test_damage_is_never_read_as_a_value(values: list[bytes], data: st.DataObject) -> None:
    (pack,) = pack_up(values)
    place = data.draw(st.integers(0, len(pack.data) - 1))
    change = data.draw(st.integers(1, 255))
    damaged = bytearray(pack.data)
    damaged[place] ^= change
    for frame in (bytes(damaged), pack.data[:place], b""):
        try:
            read = list(read_all(frame, list(pack.entries)))
        except CorruptValueError:
            continue
        assert [value for _, value in read] == list(dict.fromkeys(values))


def test_a_value_is_not_read_under_another_hash() -> None:
    (pack,) = pack_up([b"one", b"two"])
    wanted = hash_value(b"three")
    with pytest.raises(CorruptValueError, match=wanted):
        read_value(pack.data, PackEntry(wanted, 0, 3))
    with pytest.raises(CorruptValueError, match=wanted):
        list(read_all(pack.data, [PackEntry(wanted, 3, 3)]))
    with pytest.raises(CorruptValueError, match=wanted):
        verified(b"one", wanted)
    assert verified(b"three", wanted) == b"three"


def test_a_place_outside_the_pack_is_damage() -> None:
    (pack,) = pack_up([b"one", b"two"])
    for offset, size in ((6, 3), (4, 3), (1_000_000, 3), (0, 1_000_000)):
        with pytest.raises(CorruptValueError):
            read_value(pack.data, PackEntry(hash_value(b"two"), offset, size))


def test_a_frame_that_claims_to_be_huge_is_damage() -> None:
    (pack,) = pack_up([b"one"])
    claim = bytes.fromhex("28b52ffd c0 00") + (1 << 60).to_bytes(8, "little") + pack.data[-6:]
    with pytest.raises(CorruptValueError):
        decompress(claim, pack.entries[0].value_hash)


def test_the_cache_keeps_the_packs_that_were_asked_for_last() -> None:
    cache = PackCache(2)
    assert cache.get("a") is None
    cache.put("a", b"A")
    cache.put("b", b"B")
    assert cache.get("a") == b"A"
    cache.put("c", b"C")
    assert [cache.get(name) for name in "abc"] == [b"A", None, b"C"]
    cache.put("a", b"A")
    cache.put("a", b"A")
    assert [cache.get(name) for name in "ac"] == [b"A", b"C"]
