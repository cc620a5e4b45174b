"""The store of values outside the database: in a folder, and in a real S3-compatible server."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import obstore
import pytest
from obstore.store import ObjectStore, from_url

from ingest.importing import import_path
from schema.errors import CorruptValueError, InputError, MemTraceError, StoreError
from schema.ids import hash_value, trace_id
from schema.models import Variable
from store.object_values import ObjectValues
from store.open import open_database
from store.packs import PACK_BYTES, Pack, PackWriter
from store.protocol import GraphStore, Label
from tests.data import SAMPLE
from tests.graph_files import conversation
from tests.object_store import BUCKET, Keys, ObjectServer

PROJECT = "acme"
TRACE = trace_id(PROJECT, "first")
OTHER = trace_id(PROJECT, "other")
VALUES = [b"", b"one", b"two " * 5_000, "ünï 東京 🚀".encode(), bytes(range(256)) * 40]


@pytest.fixture(params=["file", "s3"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """The URI of an empty place; the environment names its server."""
    if request.param == "file":
        return (tmp_path / "val ues#1").as_uri()
    server: ObjectServer = request.getfixturevalue("object_store")
    use(monkeypatch, server.settings(server.owner))
    return server.uri()


def use(monkeypatch: pytest.MonkeyPatch, settings: dict[str, str]) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def values(place: str) -> ObjectValues:
    return ObjectValues(place)


@pytest.fixture
def objects(values: ObjectValues, place: str) -> ObjectStore:
    """The place as others see it, who may do what they like there."""
    return from_url(place)


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


async def assert_damaged(values: ObjectValues, content: bytes) -> None:
    with pytest.raises(CorruptValueError, match=hash_value(content)) as caught:
        await values.get(PROJECT, TRACE, hash_value(content))
    assert caught.value.value_hash == hash_value(content)


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
    obstore.delete(objects, f"{max(names(objects), key=lambda name: obstore.head(objects, name)['size'])}")
    assert len(before) == len(VALUES)
    await assert_holds(values, VALUES[:3])


def calls(values: ObjectValues) -> dict[str, Coroutine[Any, Any, Any]]:
    return {
        "check": values.check(),
        "put": values.put(PROJECT, TRACE, pack_up(VALUES)),
        "get": values.get(PROJECT, TRACE, hash_value(VALUES[1])),
        "hashes": values.hashes(PROJECT, TRACE),
        "scan": scanned(values),
        "size": values.size(),
        "delete": values.delete(PROJECT, TRACE),
    }


def shown(error: BaseException) -> str:
    """All that a log could show of an error."""
    parts = [str(error), repr(error)]
    for cause in (error.__cause__, None if error.__suppress_context__ else error.__context__):
        parts += [shown(cause)] if cause else []
    return "\n".join(parts)


async def assert_refused(values: ObjectValues, keys: Keys, expected: str) -> None:
    for call in calls(values).values():
        with pytest.raises(StoreError, match=expected) as caught:
            await call
        assert not isinstance(caught.value, CorruptValueError)
        assert str(caught.value).startswith("values at s3://")
        assert keys.access_key not in shown(caught.value)
        assert keys.secret_key not in shown(caught.value)


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that refuses all who come."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


async def test_a_server_that_is_away(monkeypatch: pytest.MonkeyPatch, closed_port: int) -> None:
    keys = Keys()
    settings = ObjectServer(f"http://127.0.0.1:{closed_port}", keys, keys).settings(keys)
    use(monkeypatch, settings)
    values = ObjectValues("s3://nobody/there")
    results = await asyncio.gather(*calls(values).values(), return_exceptions=True)
    for result in results:
        assert isinstance(result, StoreError)
        assert str(result) == "values at s3://nobody/there: the storage can't be reached (Connect)"
        assert keys.access_key not in shown(result)
        assert keys.secret_key not in shown(result)


async def test_keys_that_are_wrong(monkeypatch: pytest.MonkeyPatch, object_store: ObjectServer) -> None:
    for keys, expected in (
        (Keys(access_key=object_store.owner.access_key), "SignatureDoesNotMatch"),
        (Keys(), "InvalidAccessKeyId"),
    ):
        use(monkeypatch, object_store.settings(keys))
        await assert_refused(ObjectValues(object_store.uri()), keys, f"the storage answers {expected}$")


async def test_a_bucket_that_may_not_be_used(monkeypatch: pytest.MonkeyPatch, object_store: ObjectServer) -> None:
    guest = object_store.guest
    use(monkeypatch, object_store.settings(guest))
    values = ObjectValues(object_store.uri())
    await values.put(PROJECT, TRACE, pack_up(VALUES))
    await values.check()
    await assert_holds(values, VALUES)
    await assert_refused(
        ObjectValues(f"s3://not-{BUCKET}/x"), guest, "the storage answers (AccessDenied|NoSuchBucket)$"
    )


async def test_a_bucket_that_does_not_exist(monkeypatch: pytest.MonkeyPatch, object_store: ObjectServer) -> None:
    use(monkeypatch, object_store.settings(object_store.owner))
    values = ObjectValues("s3://missing/x")
    for call in (values.hashes(PROJECT, TRACE), values.get(PROJECT, TRACE, hash_value(b"")), values.size()):
        with pytest.raises(StoreError, match=r"values at s3://missing/x: the storage answers NoSuchBucket$"):
            await call


@pytest.mark.parametrize(
    ("uri", "problem"),
    [
        ("http://me:topsecret@host/values", "is neither file:///folder nor s3://bucket/prefix"),
        ("/a/folder", "is neither"),
        ("s3://me:topsecret@bucket/x", "keys and settings do not belong here"),
        ("s3://bucket/x?aws_secret_access_key=topsecret", "keys and settings do not belong here"),
        ("s3://bucket/x#topsecret", "keys and settings do not belong here"),
        ("s3://", "Unable to recognise URL"),
        ("s3:///x", "Unable to recognise URL"),
        ("s3://a bucket/x", "invalid domain character"),
        ("s3://bucket//x", "empty path segment"),
        ("file://host/folder", "write file:///absolute/folder"),
        ("file:folder", "write file:///absolute/folder"),
        ("file:///%00", "is no name of a folder"),
    ],
)
def test_a_uri_that_is_none(uri: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        ObjectValues(uri)
    assert problem in str(caught.value)
    assert str(caught.value).startswith("values: ")
    assert "topsecret" not in shown(caught.value)


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"])
@pytest.mark.parametrize("address", ["", "localhost:9000", "ftp://host", "http://", "not a url", "http://a b"])
def test_an_endpoint_that_is_none(monkeypatch: pytest.MonkeyPatch, name: str, address: str) -> None:
    monkeypatch.setenv(name, address)
    with pytest.raises(InputError, match=f"^{name}: is no address such as https://host:port$"):
        ObjectValues("s3://bucket/x")


def test_an_endpoint_without_tls_must_be_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, {"AWS_ENDPOINT_URL": "http://localhost:9000", "AWS_ALLOW_HTTP": "false"})
    with pytest.raises(InputError, match=r"^AWS_ENDPOINT_URL: is without TLS: AWS_ALLOW_HTTP=true allows that$"):
        ObjectValues("s3://bucket/x")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    ObjectValues("s3://bucket/x")


@pytest.mark.parametrize("name", ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"])
async def test_the_endpoint_has_several_names(
    monkeypatch: pytest.MonkeyPatch, object_store: ObjectServer, name: str
) -> None:
    settings = object_store.settings(object_store.owner)
    use(monkeypatch, {**settings, name: settings.pop("AWS_ENDPOINT_URL")})
    await ObjectValues(object_store.uri()).check()


def test_a_folder_that_can_not_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("file", "file/below"):
        with pytest.raises(StoreError, match=r"^values at file:///.*: (File exists|Not a directory)$"):
            ObjectValues((tmp_path / name).as_uri())


async def test_a_folder_that_can_not_be_written(tmp_path: Path) -> None:
    values = ObjectValues(tmp_path.as_uri())
    (tmp_path / hash_value(PROJECT.encode()).partition(":")[2]).touch()
    with pytest.raises(StoreError, match=r"^values at file:///.*: Not a directory$"):
        await values.put(PROJECT, TRACE, pack_up(VALUES))


async def test_a_new_folder_is_for_its_owner_only(tmp_path: Path) -> None:
    ObjectValues((tmp_path / "new" / "values").as_uri())
    assert (tmp_path / "new" / "values").stat().st_mode & 0o077 == 0


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_what_a_killed_writer_left_goes_with_its_trace(tmp_path: Path) -> None:
    values = ObjectValues(tmp_path.as_uri())
    await values.put(PROJECT, TRACE, pack_up(VALUES))
    (pack,) = files(tmp_path)
    pack.with_name(f"{pack.name}#1").write_bytes(b"half a pa")
    await assert_holds(values, VALUES)
    await values.delete(PROJECT, TRACE)
    assert files(tmp_path) == []
    await assert_holds(values, [])


async def all_variables(store: GraphStore, trace: str) -> AsyncIterator[Variable]:
    after = None
    while True:
        page = await store.page(Label.VARIABLE, trace, 1000, after)
        for variable in page.items:
            assert isinstance(variable, Variable)
            yield variable
        after = page.next
        if after is None:
            return


async def test_an_import_with_its_values_outside(place: str, objects: ObjectStore, tmp_path: Path) -> None:
    recorded = conversation(messages=60, questions=6)
    contents = by_hash(node["value"].encode() for node in recorded.nodes.values())
    file = recorded.write(tmp_path / "graph.json")
    async with await open_database(f"sqlite:///{tmp_path / 'test.db'}", place) as database:
        store = database.project(PROJECT)
        sample = await import_path(store, SAMPLE)
        report = await import_path(store, file)
        large = {value_hash for value_hash, content in contents.items() if len(content) > 2048}
        assert len(large) > 50
        assert await store.known_values(report.trace_id) == large
        async for variable in all_variables(store, report.trace_id):
            assert await store.value(variable) == contents[variable.value_hash]
        assert len((await store.scan("message 17:", report.trace_id)).hits) == 1
        buffers = (await store.scan("\n17: ", report.trace_id, limit=100)).hits
        assert {hit.variable.version for hit in buffers} >= set(range(18, 40))
        stats = await store.stats()
        assert stats.value_bytes == sum(obstore.head(objects, name)["size"] for name in names(objects)) > 0
        health = await database.health()
        assert health.problems == []
        await store.delete_trace(report.trace_id)
        assert names(objects) == []
        await store.delete_trace(sample.trace_id)
        assert (await store.stats()).value_bytes == 0


async def test_a_database_whose_values_are_out_of_reach(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, closed_port: int
) -> None:
    keys = Keys()
    use(monkeypatch, ObjectServer(f"http://127.0.0.1:{closed_port}", keys, keys).settings(keys))
    file = conversation(messages=20, questions=1).write(tmp_path / "graph.json")
    async with await open_database(f"sqlite:///{tmp_path / 'test.db'}", "s3://nobody/there") as database:
        store = database.project(PROJECT)
        with pytest.raises(MemTraceError, match="can't be reached"):
            await import_path(store, file)
        assert (await store.traces()).items == []
        (problem,) = (await database.health()).problems
        assert problem == "values at s3://nobody/there: the storage can't be reached (Connect)"
