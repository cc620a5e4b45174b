"""The explorer's page and files over HTTP: served without a key, but no data is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from api.web.vendor import VENDOR
from tests.server.running import RunningServer, running, sqlite_place

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
_ASSET = re.compile(r'"(graphql/assets/[^"]+)"')
_QUERY = "{ viewer { actor } }"


def _assets(server: RunningServer) -> list[str]:
    with server.client(None) as client:
        return [f"/{path}" for path in _ASSET.findall(client.get("/graphql", headers=BROWSER).text)]


def test_a_browser_gets_the_page_without_a_key(explorer: RunningServer) -> None:
    with explorer.client(None) as client:
        page, again = (client.get("/graphql", headers=BROWSER) for _ in range(2))
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["cache-control"] == "no-store"
    policy = dict(part.split(" ", 1) for part in page.headers["content-security-policy"].split("; "))
    (nonce,) = re.findall(r'nonce="([\w-]{20,})"', page.text)
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": f"'self' 'nonce-{nonce}'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }
    assert nonce not in again.text
    # All requests get the same page, except for the nonce.
    assert re.sub(r'nonce="[^"]+"', "", page.text) == re.sub(r'nonce="[^"]+"', "", again.text)
    assert explorer.project not in page.text
    assert re.findall(r"(?:src|href)=\"(?!graphql/assets/)", page.text) == []
    assert "<style" not in page.text
    assert re.findall(r"<script[^>]*>(.*?)</script>", page.text, re.DOTALL) == [""]


def test_its_files_may_be_kept_and_are_what_they_say(explorer: RunningServer) -> None:
    assets = _assets(explorer)
    assert {Path(asset).suffix for asset in assets} == {".css", ".js", ".svg"}
    base = assets[0].rpartition("/")[0]
    kinds = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".txt": "text/plain"}
    with explorer.client(None) as client:
        for asset in [*assets, f"{base}/vendor/graphiql.js", f"{base}/vendor/graphiql.LICENSES.txt"]:
            answer = client.get(asset)
            assert answer.status_code == 200, asset
            assert answer.headers["content-type"].partition(";")[0] == kinds[Path(asset).suffix]
            assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"
            name = asset.removeprefix(f"{base}/")
            assert answer.content == (VENDOR.parent / name).read_bytes()


def test_there_are_no_other_files(explorer: RunningServer) -> None:
    base = _assets(explorer)[0].rpartition("/")[0]
    before = base.rpartition("/")[0]
    with explorer.client(None) as client:
        for path in (
            f"{base}/explorer.html",
            f"{base}/vendor/manifest.json",
            f"{base}/",
            f"{base}/%2e%2e/explorer.py",
            f"{base}/vendor/%2e%2e/%2e%2e/vendor.py",
            f"{base}/..%2f..%2fexplorer.py",
            f"{base}//etc/passwd",
            f"{base}/explorer.js%00.css",
            f"{before}/{'0' * 16}/explorer.js",
        ):
            answer = client.get(path)
            assert answer.status_code == 404, path
            assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("role", [None, "reader"])
def test_the_page_answers_no_query(explorer: RunningServer, role: str | None) -> None:
    """Only the page itself needs no key: queries by GET are refused, and queries by POST need a key."""
    with explorer.client(role) as client:
        refused = 401 if role is None else 400
        for query in ({"query": _QUERY}, {"extensions": "{}"}, {"": ""}):
            answer = client.get("/graphql", params=query, headers=BROWSER)
            assert answer.status_code == (refused if "query" in query or role is None else 404), query
            assert "data" not in answer.json()
        assert client.get("/graphql", headers={"Accept": "application/json"}).status_code == refused
        assert client.get("/graphql").status_code == (401 if role is None else 404)
        posted = client.post("/graphql", json={"query": _QUERY}, headers=BROWSER)
        assert posted.status_code == (401 if role is None else 200)
        assert posted.headers["content-type"].partition(";")[0] != "text/html"
        for method in ("HEAD", "PUT", "DELETE"):
            assert client.request(method, "/graphql", headers=BROWSER).status_code == 405


def test_without_the_setting_there_is_neither_page_nor_file(explorer: RunningServer, tmp_path: Path) -> None:
    assets = _assets(explorer)
    with running(sqlite_place(tmp_path), tmp_path) as server:
        with server.client(None) as client:
            assert client.get("/graphql", headers=BROWSER).status_code == 401
            assert {client.get(asset).status_code for asset in assets} == {404}
        with server.client() as client:
            assert client.get("/graphql", headers=BROWSER).status_code == 404
