"""Settings of further stores, and errors of invalid settings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from api.settings.loading import load_settings, open_databases, place_of
from schema.errors import InputError, StoreError
from store.open import Credentials
from store.project_map import SpreadDatabase
from tests.server.running import ROOT

SAMPLE = ROOT / "examples" / "sample" / "assistant.json"
EU = """
[stores.eu]
uri = "sqlite:///eu.db"
projects = ["acme", "globex"]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "memtrace.toml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.usefixtures("quiet_environment")
def test_settings_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("open sesame\n", "utf-8")
    text = f"""
    store = "sqlite:///main.db"
    {EU}
    [stores.us]
    uri = "neo4j://us.example:7687"
    database = "traces"
    user = "memtrace"
    password_file = "{tmp_path / "secret"}"
    values = "s3://bucket/us"
    projects = ["initech"]
    """
    found = load_settings(write(tmp_path, text))
    assert [name for name, store in found.stores.items() if "globex" in store.projects] == ["eu"]
    assert place_of(found, "acme") == ("sqlite:///eu.db", None, None)
    assert place_of(found, "initech") == ("neo4j://us.example:7687", Credentials("memtrace", "open sesame"), "traces")
    assert place_of(found, "another") == ("sqlite:///main.db", None, None)
    assert "sesame" not in repr(found)


@pytest.mark.usefixtures("quiet_environment")
def test_the_environment_takes_the_place_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, EU)
    monkeypatch.setenv("MEMTRACE_STORES", '{"us": {"uri": "sqlite:///us.db", "projects": ["initech"]}}')
    assert {name: store.projects for name, store in load_settings(path).stores.items()} == {"us": ["initech"]}
    monkeypatch.setenv("MEMTRACE_STORES", "{}")
    assert load_settings(path).stores == {}
    monkeypatch.setenv("MEMTRACE_NEO4J_DATABASE", "traces")
    assert place_of(load_settings(path), "any")[2] == "traces"


BAD: dict[str, tuple[Mapping[str, Any], str]] = {
    "unknown key": (
        {"eu": {"url": "sqlite:///eu.db", "uri": "sqlite:///eu.db", "projects": []}},
        "eu.url: there is no such setting",
    ),
    "no uri": ({"eu": {"projects": []}}, "eu.uri: Field required"),
    "no projects": ({"eu": {"uri": "sqlite:///eu.db"}}, "eu.projects: Field required"),
    "no name": ({"eu": {"uri": "sqlite:///eu.db", "projects": [""]}}, "eu.projects.0: String should have at least 1"),
    "twice": (
        {"eu": {"uri": "sqlite:///eu.db", "projects": ["a"]}, "us": {"uri": "sqlite:///us.db", "projects": ["b", "a"]}},
        "project 'a' is named twice: by eu and by us",
    ),
    "twice in one": ({"eu": {"uri": "sqlite:///eu.db", "projects": ["a", "a"]}}, "named twice: by eu and by eu"),
    "scheme": ({"eu": {"uri": "http://eu", "projects": []}}, "eu.uri: 'http://eu' is neither sqlite:///path nor neo4j"),
    "no file": ({"eu": {"uri": "sqlite:///", "projects": []}}, "eu.uri: 'sqlite:///' names no file"),
    "no URI": ({"eu": {"uri": "neo4j://[eu", "projects": []}}, "eu.uri: this is not a URI"),
    "secret in the URI": (
        {"eu": {"uri": "neo4j://me:sesame@eu", "projects": [], "values": "file:///v"}},
        "eu.uri: write the URI without user and password; they are user and password_file",
    ),
    "secret": (
        {"eu": {"uri": "neo4j://eu", "projects": [], "values": "file:///v", "password": "sesame"}},
        "eu: a secret does not stand here: name a file of it with password_file",
    ),
    "no values": ({"eu": {"uri": "neo4j://eu", "projects": []}}, "eu: say where its values lie"),
    "name": ({"e u": {"uri": "sqlite:///eu.db", "projects": []}}, "'e u' can't be the name of a store"),
    "no table": ({"eu": "sqlite:///eu.db"}, "eu: Input should be a valid dictionary"),
}


@pytest.mark.usefixtures("quiet_environment")
@pytest.mark.parametrize("case", BAD)
def test_settings_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    stores, said = BAD[case]
    monkeypatch.setenv("MEMTRACE_STORES", json.dumps(stores))
    with pytest.raises(InputError) as raised:
        load_settings()
    assert str(raised.value).startswith("MEMTRACE_STORES: ")
    assert said in str(raised.value)
    monkeypatch.delenv("MEMTRACE_STORES")
    tables = "".join(
        f"[stores.{json.dumps(name)}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in store.items())
        for name, store in stores.items()
        if isinstance(store, dict)
    )
    path = write(tmp_path, tables or f"[stores]\neu = {json.dumps(stores['eu'])}\n")
    with pytest.raises(InputError) as raised:
        load_settings(path)
    assert str(raised.value).startswith(f"{path}: stores")
    assert said in str(raised.value)
    assert "sesame" not in str(raised.value)


@pytest.mark.usefixtures("quiet_environment")
def test_values_are_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deletion in one store must not delete values of another store, to which a project may have moved."""
    path = write(tmp_path, f'values = "s3://bucket/values"\n{EU}values = "s3://bucket/values/"\n')
    with pytest.raises(InputError, match=r"stores\.eu\.values: those of the main store lie there"):
        load_settings(path)
    monkeypatch.setenv("MEMTRACE_STORES", "nothing")
    with pytest.raises(InputError, match=r"^MEMTRACE_STORES: this is not JSON; write \{name: "):
        load_settings(path)


@pytest.mark.usefixtures("quiet_environment")
async def test_opening_says_which_store(tmp_path: Path) -> None:
    main = f'store = "sqlite:///{tmp_path / "main.db"}"\n[stores.eu]\nprojects = []\n'
    values = f'values = "{(tmp_path / "values").as_uri()}"\n'
    for text, said in {
        f'uri = "sqlite:///{tmp_path / "nowhere" / "eu.db"}"\n': "store eu: the folder of",
        f'uri = "neo4j://eu"\npassword_file = "{tmp_path / "none"}"\n{values}': "store eu: the password file",
        'uri = "neo4j://eu"\nvalues = "s4://eu"\n': r"stores\.eu: values: ",
    }.items():
        with pytest.raises((InputError, StoreError), match=said):
            await open_databases(load_settings(write(tmp_path, main + text)))
    away = f'uri = "neo4j://127.0.0.1:1"\n{values}'
    async with await open_databases(load_settings(write(tmp_path, main + away))) as opened:
        assert isinstance(opened, SpreadDatabase)
        assert (await opened.project("another").traces()).items == []
