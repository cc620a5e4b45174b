from __future__ import annotations

import asyncio
from random import Random

import obstore
import pytest
from obstore.store import ObjectStore

from schema.errors import CorruptValueError
from schema.ids import hash_value, trace_id
from store.values.object_values import ObjectValues
from store.values.packs import PACK_BYTES
from tests.object_values.holding import (
    PROJECT,
    TRACE,
    VALUES,
    assert_damaged,
    assert_holds,
    by_hash,
    names,
    pack_up,
    scanned,
)

OTHER = trace_id(PROJECT, "other")


async def test_nothing_is_there_at_first(values: ObjectValues, objects: ObjectStore) -> None:
    await assert_holds(values, [])
    assert await values.size() == 0
    await assert_damaged(values, b"one")
    await values.delete(PROJECT, TRACE)
    await values.put(PROJECT, TRACE, [])
    assert names(objects) == []


async def test_values_come_back(values: ObjectValues, objects: ObjectStore, place: str) -> None:
    packs = [*pack_up(VALUES[:3]), *pack_up(VALUES[3:])]
    await values.put(PROJECT, TRACE, packs)
    await assert_holds(values, VALUES)
    await assert_holds(ObjectValues(place), VALUES)
    assert len(names(objects)) == len(packs)
    assert await values.size() == sum(obstore.head(objects, name)["size"] for name in names(objects))


async def test_what_is_deleted_is_gone_for_all(values: ObjectValues, objects: ObjectStore, place: str) -> None:
    await values.put(PROJECT, TRACE, pack_up(VALUES))
    reader = ObjectValues(place)
    await assert_holds(reader, VALUES)
    await values.delete(PROJECT, TRACE)
    assert (names(objects), await values.size()) == ([], 0)
    for one in (values, reader):
        await assert_holds(one, [])
    await assert_damaged(values, VALUES[2])
    await values.put(PROJECT, TRACE, pack_up(VALUES[:2]))
    for one in (values, reader):
        await assert_holds(one, VALUES[:2])


async def test_others_see_what_is_added(values: ObjectValues, place: str) -> None:
    reader = ObjectValues(place)
    await assert_holds(reader, [])
    for count in range(1, len(VALUES) + 1):
        await values.put(PROJECT, TRACE, pack_up(VALUES[count - 1 : count]))
        assert await reader.get(PROJECT, TRACE, hash_value(VALUES[count - 1])) == VALUES[count - 1]
        await assert_holds(reader, VALUES[:count])


async def test_the_same_pack_again_changes_nothing(values: ObjectValues, objects: ObjectStore) -> None:
    await values.put(PROJECT, TRACE, pack_up(VALUES))
    before = (names(objects), await values.size())
    await values.put(PROJECT, TRACE, pack_up(VALUES) * 2)
    assert (names(objects), await values.size()) == before
    await assert_holds(values, VALUES)


async def test_a_value_may_be_in_several_packs(values: ObjectValues) -> None:
    await values.put(PROJECT, TRACE, [*pack_up(VALUES[:3]), *pack_up(VALUES[1:])])
    expected = by_hash(VALUES)
    assert await values.hashes(PROJECT, TRACE) == set(expected)
    assert dict(await scanned(values)) == expected
    assert [await values.get(PROJECT, TRACE, value_hash) for value_hash in expected] == VALUES


async def test_two_writers_of_the_same_values_at_once(place: str, objects: ObjectStore) -> None:
    random = Random(1)
    contents = [random.randbytes(300_000) for _ in range(40)]
    packs = pack_up(contents)
    writers = [ObjectValues(place) for _ in range(4)]
    await asyncio.gather(*(writer.put(PROJECT, TRACE, packs) for writer in writers))
    assert len(names(objects)) == len(packs)
    for reader in (*writers, ObjectValues(place)):
        await assert_holds(reader, contents)


@pytest.mark.full
async def test_many_packs_and_many_readers(values: ObjectValues, place: str) -> None:
    contents = [b"value %d " % number * 300 for number in range(60)]
    await values.put(PROJECT, TRACE, [pack for content in contents for pack in pack_up([content])])
    reader = ObjectValues(place)
    assert await asyncio.gather(*(reader.get(PROJECT, TRACE, hash_value(one)) for one in contents)) == contents
    await assert_holds(reader, contents)


async def test_more_traces_than_are_remembered(values: ObjectValues) -> None:
    traces = [trace_id(PROJECT, str(number)) for number in range(40)]
    for number, trace in enumerate(traces):
        await values.put(PROJECT, trace, pack_up([b"of %d" % number, b"of all"]))
    for _ in range(2):
        for number, trace in enumerate(traces):
            await assert_holds(values, [b"of %d" % number, b"of all"], trace=trace)


async def test_a_large_value(values: ObjectValues, objects: ObjectStore) -> None:
    large = Random(2).randbytes(20_000_000)
    await values.put(PROJECT, TRACE, pack_up([b"before", large, b"after"]))
    assert max(obstore.head(objects, name)["size"] for name in names(objects)) > len(large) > PACK_BYTES
    await assert_holds(values, [b"before", large, b"after"])


async def test_thousands_of_small_values_in_a_pack(values: ObjectValues, objects: ObjectStore, place: str) -> None:
    contents = [b"value %d" % number for number in range(8_000)]
    (pack,) = pack_up(contents)
    await values.put(PROJECT, TRACE, [pack])
    (name,) = names(objects)
    assert obstore.head(objects, name)["size"] - len(pack.data) > 5 * 65_536, "an index of one read"
    reader = ObjectValues(place)
    for number in (0, 7_999, 4_000):
        assert await reader.get(PROJECT, TRACE, hash_value(contents[number])) == contents[number]
    await assert_holds(values, contents)


ODD_PROJECTS = [
    "",
    " ",
    ".",
    "..",
    "../acme",
    "/",
    "a/b",
    "a/b/../c",
    "a\\b",
    "%2e%2e",
    "x" * 3_000,
    "ünï/東京 🚀",
    "u\u0308ni",
    "line\nbreak\0",
    "\udcff",
    "acme",
    "ACME",
    "acme#1",
    "acme.pack",
    hash_value(b"acme").partition(":")[2],
]


async def test_projects_may_have_any_name(values: ObjectValues, objects: ObjectStore) -> None:
    for number, project in enumerate(ODD_PROJECTS):
        await values.put(project, TRACE, pack_up([b"of %d" % number, b"of all"]))
    for number, project in enumerate(ODD_PROJECTS):
        await assert_holds(values, [b"of %d" % number, b"of all"], project)
    assert len(names(objects)) == len(ODD_PROJECTS)
    for number, project in enumerate(ODD_PROJECTS):
        await values.delete(project, TRACE)
        await assert_holds(values, [], project)
        assert len(names(objects)) == len(ODD_PROJECTS) - number - 1


async def test_a_project_does_not_meet_another_ones_values(values: ObjectValues) -> None:
    await values.put(PROJECT, TRACE, pack_up(VALUES))
    for project in set(ODD_PROJECTS) - {PROJECT}:
        await assert_holds(values, [], project)
        with pytest.raises(CorruptValueError):
            await values.get(project, TRACE, hash_value(VALUES[1]))
        await values.delete(project, TRACE)
    await assert_holds(values, VALUES)


@pytest.mark.parametrize("trace", [OTHER, TRACE[:-1], TRACE[:8], TRACE.upper(), "", ".", "..", "/", f"x/../{TRACE}"])
async def test_a_trace_does_not_meet_another_ones_values(values: ObjectValues, trace: str) -> None:
    await values.put(PROJECT, TRACE, pack_up(VALUES))
    await assert_holds(values, [], trace=trace)
    with pytest.raises(CorruptValueError):
        await values.get(PROJECT, trace, hash_value(VALUES[1]))
    await values.delete(PROJECT, trace)
    await assert_holds(values, VALUES)


async def test_equal_values_of_two_traces_are_kept_twice(values: ObjectValues) -> None:
    for trace in (TRACE, OTHER):
        await values.put(PROJECT, trace, pack_up(VALUES))
    await values.delete(PROJECT, TRACE)
    await assert_holds(values, [])
    await assert_holds(values, VALUES, trace=OTHER)


async def test_the_check_leaves_nothing(place: str, objects: ObjectStore) -> None:
    checkers = [ObjectValues(place) for _ in range(5)]
    await asyncio.gather(*(checker.check() for checker in checkers))
    assert names(objects) == []
    assert await checkers[0].size() == 0
