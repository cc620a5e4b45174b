from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from schema.errors import CorruptValueError, InputError, StoreError
from schema.ids import hash_value
from store.values.object_values import ObjectValues
from tests.object_store import BUCKET, Keys, ObjectServer
from tests.object_values.holding import PROJECT, TRACE, VALUES, assert_holds, pack_up, scanned, use


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
    with pytest.raises(StoreError, match=r"^values at file:///.*: (File exists|Not a directory)$"):
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
