"""Which values each setting takes, and which store and journal the settings name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from api.settings.credentials import neo4j_credentials, read_password, refuse_secrets
from api.settings.loading import client_secret, journal_path, load_settings, place_of
from schema.errors import InputError, StoreError
from store.open import Credentials

SIGN_IN = {"oidc_issuer": "https://login.example", "oidc_audience": "memtrace"}
SAFE = "an issuer needs https://"
ORIGIN = "write an address without a path"
SERVERS = "write addresses such as nats://host:4222"
RATE = "write a count and one of second, minute, hour, day"


@pytest.fixture(autouse=True)
def _quiet_environment(quiet_environment: None) -> None:
    """Nothing of the caller's settings."""


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        ({"nats": "nats://a:4222"}, None),
        ({"nats": "nats://a:4222, tls://b:4222"}, None),
        ({"nats": "nats://a:4222,http://b"}, SERVERS),
        ({"nats": "a:4222"}, SERVERS),
        ({"nats": "nats://a,"}, SERVERS),
        ({"nats": "nats://me@a"}, "without user and password"),
        ({"nats": "nats://a,nats://me:secret@b"}, "without user and password"),
        ({"otlp_endpoint": "http://collector:4318"}, None),
        ({"otlp_endpoint": "collector:4318"}, "begins with https://"),
        ({"otlp_endpoint": "ftp://collector"}, "begins with https://"),
        (SIGN_IN, None),
        (SIGN_IN | {"oidc_issuer": "http://localhost:8000/realm"}, None),
        (SIGN_IN | {"oidc_issuer": "http://127.0.0.1"}, None),
        (SIGN_IN | {"oidc_issuer": "http://[::1]:1"}, None),
        (SIGN_IN | {"oidc_issuer": "http://localhost.example"}, SAFE),
        (SIGN_IN | {"oidc_issuer": "http://login.example"}, SAFE),
        (SIGN_IN | {"oidc_issuer": "login.example"}, "begins with https://"),
        ({"oidc_issuer": "https://login.example"}, "needs oidc_audience too"),
        (SIGN_IN | {"oidc_client_id": "c"}, "needs oidc_issuer and public_url too"),
        ({"oidc_client_id": "c", "public_url": "https://m.example"}, "needs oidc_issuer and public_url too"),
        (SIGN_IN | {"oidc_client_id": "c", "public_url": "https://m.example"}, None),
        ({"public_url": "https://m.example"}, None),
        ({"public_url": "https://m.example/"}, None),
        ({"public_url": "http://localhost:8080"}, None),
        ({"public_url": "https://m.example/ui"}, ORIGIN),
        ({"public_url": "http://m.example"}, ORIGIN),
        ({"oidc_scopes": "openid profile"}, None),
        ({"oidc_scopes": "profile openid"}, None),
        ({"oidc_scopes": "profile"}, "openid must be among the scopes"),
        ({"oidc_scopes": "openids"}, "openid must be among the scopes"),
        ({"cors_origins": "https://a.example,http://b.example:8000"}, None),
        ({"cors_origins": "https://a.example/"}, "is not an origin"),
        ({"cors_origins": "https://a.example/path"}, "is not an origin"),
        ({"cors_origins": "a.example"}, "is not an origin"),
        ({"cors_origins": "https://*.example"}, "is not an origin"),
        ({"cors_origins": "https://a.example,*"}, "is not an origin"),
        *(({"rate_limit": f"1/{unit}"}, None) for unit in ("second", "minute", "hour", "day")),
        ({"rate_limit": "0/minute"}, RATE),
        ({"rate_limit": "-1/minute"}, RATE),
        ({"rate_limit": "1.5/minute"}, RATE),
        ({"rate_limit": "٣/minute"}, RATE),
        ({"rate_limit": "1/week"}, RATE),
        ({"rate_limit": "/minute"}, RATE),
        ({"rate_limit": "10"}, RATE),
        ({"trusted_documents_only": True}, "needs trusted_documents too"),
        ({"trusted_documents": "f.json"}, None),
        ({"trusted_documents_only": True, "trusted_documents": "f.json"}, None),
        ({"oidc_grants": "{"}, "this is not JSON; write {group: {project: role}}"),
        ({"oidc_grants": '{"g": {"a b": "reader"}}'}, "g"),
        ({"stores": "["}, 'this is not JSON; write {name: {"uri"'),
        ({"values": "s3://key:secret@bucket"}, "write the URI without user and password"),
        ({"uploads": "s3://key:secret@bucket"}, "write the URI without user and password"),
    ],
)
def test_a_value_is_taken_or_refused(said: dict[str, Any], problem: str | None) -> None:
    if problem is None:
        load_settings(None, said)
        return
    with pytest.raises(InputError) as refused:
        load_settings(None, said)
    assert problem in str(refused.value)
    assert "secret" not in str(refused.value)


def test_the_address_of_the_server_has_no_slash_at_its_end() -> None:
    assert load_settings(None, {"public_url": "https://m.example/"}).public_url == "https://m.example"


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ({"journal": "/j/own", "store": "sqlite:////a/m.db"}, "/j/own"),
        ({"store": "sqlite:////a/m.db"}, "/a/m.db-queue"),
        ({"store": "sqlite:///m.db"}, "m.db-queue"),
        ({"store": "sqlite:////a/m.db", "values": "file:///v"}, "/a/m.db-queue"),
        ({"store": "neo4j://h", "values": "file:///v/of%20mine/"}, "/v/of mine-queue"),
    ],
)
def test_the_journal_is_beside_the_data(said: dict[str, Any], path: str) -> None:
    assert journal_path(load_settings(None, said)) == Path(path)


def test_events_can_not_wait_in_a_bucket() -> None:
    with pytest.raises(InputError, match="say where events wait"):
        journal_path(load_settings(None, {"store": "neo4j://h", "values": "s3://bucket/v"}))


def test_a_project_has_the_place_of_its_store(tmp_path: Path) -> None:
    for name in ("main", "mapped"):
        (tmp_path / name).write_text(f"{name} words\n")
    mapped = {"uri": "neo4j://b", "values": "s3://b/v", "user": "eve", "database": "shop"}
    said: dict[str, Any] = {
        "store": "neo4j://a",
        "values": "s3://a/v",
        "neo4j_user": "ada",
        "neo4j_password_file": str(tmp_path / "main"),
        "neo4j_database": "all",
        "stores": {"second": mapped | {"password_file": str(tmp_path / "mapped"), "projects": ["p", "q"]}},
    }
    settings = load_settings(None, said)
    assert place_of(settings, "other") == ("neo4j://a", Credentials("ada", "main words"), "all")
    for project in ("p", "q"):
        assert place_of(settings, project) == ("neo4j://b", Credentials("eve", "mapped words"), "shop")
    direct = load_settings(None, said | {"neo4j_password": "own words"})
    assert place_of(direct, "other")[1] == Credentials("ada", "own words")


def test_the_secret_of_the_client_stands_in_a_file_or_in_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "words"
    file.write_text("from a file\n")
    assert client_secret(load_settings(None, {})) is None
    assert client_secret(load_settings(None, {"oidc_client_secret_file": str(file)})) == "from a file"
    both = {"oidc_client_secret_file": str(file), "oidc_client_secret": "given"}
    assert client_secret(load_settings(None, both)) == "given"
    file.unlink()
    with pytest.raises(StoreError):
        client_secret(load_settings(None, {"oidc_client_secret_file": str(file)}))


@pytest.mark.parametrize("ends", ["", "\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("secret", ["words", " words ", "two  words", "\twörter", ""])
def test_a_password_is_all_of_its_file_but_the_line_end(tmp_path: Path, secret: str, ends: str) -> None:
    file = tmp_path / "secret"
    file.write_bytes(f"{secret}{ends}".encode())
    assert read_password(str(file)) == secret
    assert neo4j_credentials("neo4j://h", None, None, str(file)) == Credentials("neo4j", secret)
    assert neo4j_credentials("neo4j://h", "ada", " own ", str(file)) == Credentials("ada", " own ")
    assert neo4j_credentials("sqlite:///a.db", "ada", "own", str(file)) is None


@pytest.mark.parametrize(("content", "told"), [(b"\xff\xfe", "it is not UTF-8"), (None, "No such file or directory")])
def test_a_password_that_can_not_be_read_is_told_and_not_shown(
    tmp_path: Path, content: bytes | None, told: str
) -> None:
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(StoreError, match=told):
        read_password(str(file))


@pytest.mark.parametrize(
    "uri",
    ["neo4j://ada:words@host", "neo4j://ada@host", "sqlite://a@b/x.db", "s3://b/a@b", "ada:words@host", "neo4j://[::1"],
)
def test_a_uri_with_a_secret_is_refused_and_not_shown(uri: str) -> None:
    with pytest.raises(InputError) as caught:
        refuse_secrets("store", uri)
    assert uri not in str(caught.value)


@pytest.mark.parametrize("uri", ["neo4j://host:7687", "sqlite:////home/a@b/test.db", "file:///home/a@b/values"])
def test_a_path_may_have_the_sign_of_a_user(uri: str) -> None:
    refuse_secrets("store", uri)
