"""Static files of the pages, without a server."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from api.http.routing import door_of, route_of
from api.web.assets import STATIC, Assets

TYPES = {"vendor/graphiql.js": "text/javascript"}
SHEETS = {"own.css": "p { color: red }\n" * 8_000}
SCRIPT = (STATIC / "vendor/graphiql.js").read_bytes()


@pytest.fixture(scope="module")
def assets() -> Assets:
    return Assets(TYPES, SHEETS)


@pytest.fixture
def client(assets: Assets) -> TestClient:
    return TestClient(Starlette(routes=[assets.route("/ui/assets")]))


def test_files_come_whole_with_their_types(assets: Assets, client: TestClient) -> None:
    for name, content, kind in (
        ("vendor/graphiql.js", SCRIPT, "text/javascript"),
        ("own.css", SHEETS["own.css"].encode(), "text/css"),
    ):
        found = client.get(f"/ui/assets/{assets.version}/{name}")
        assert found.content == content
        assert len(content) > 2 * 65_536
        assert found.headers["content-length"] == str(len(content))
        assert found.headers["content-type"].startswith(kind)
        assert "immutable" in found.headers["cache-control"]


def test_other_versions_and_names_are_not_found(assets: Assets, client: TestClient) -> None:
    version = assets.version
    for path in (f"{'0' * 16}/own.css", f"{version}/other.css", f"{version}/", f"{version}/../own.css", "own.css"):
        assert client.get(f"/ui/assets/{path}").status_code == 404


def test_the_version_changes_with_any_file(assets: Assets) -> None:
    assert Assets(TYPES, SHEETS).version == assets.version
    others = [Assets(TYPES, {"own.css": SHEETS["own.css"] + " "}), Assets(TYPES), Assets({}, SHEETS)]
    assert len({assets.version, *(one.version for one in others)}) == 4


def test_logs_and_metrics_name_the_route_of_a_file(assets: Assets) -> None:
    route = assets.route("/ui/assets")
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": f"/ui/assets/{assets.version}/own.css"}
    found = dict(route.matches(scope)[1])
    assert route_of(scope | found) == "/ui/assets/{version}/{name:path}"
    assert door_of(scope | found) == "web"
    nothing = route.matches(scope | {"path": "/other"})[1]
    assert (nothing, route_of(scope)) == ({}, "unmatched")
