"""Places for values, each empty."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from obstore.store import ObjectStore, from_url

from store.values.object_values import ObjectValues
from tests.object_store import ObjectServer, forget_settings
from tests.object_values.holding import use


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_settings(monkeypatch)


@pytest.fixture(params=["file", "s3"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, _no_settings: None) -> str:
    """The URI of an empty place; the environment names its server."""
    if request.param == "file":
        return (tmp_path / "val ues#1").as_uri()
    server: ObjectServer = request.getfixturevalue("object_store")
    use(monkeypatch, server.settings(server.owner))
    return server.uri()


@pytest.fixture
def values(place: str) -> ObjectValues:
    return ObjectValues(place)


@pytest.fixture
def objects(values: ObjectValues, place: str) -> ObjectStore:
    """The same place, opened by somebody who may read and change anything there."""
    return from_url(place)


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that refuses all connections."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
