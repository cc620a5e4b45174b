"""What a project may be called, at every door."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api.auth.keys import hash_secret, make_key
from api.jobs.places import Folder
from api.jobs.uploads import Uploads
from api.settings.loading import load_settings, open_store
from schema.control import ApiKey, Role
from schema.errors import InputError
from schema.projects import check_project
from tests.factory import START, TraceBuilder
from tests.server.running import ROOT, Place, RunningServer, certificates, running, sqlite_place

SAMPLE = ROOT / "examples" / "sample" / "assistant.json"
GOOD = ["default", "a", "A-b_c.d", "9lives", "_x", "x" * 128, "server-0123"]
BAD = [
    "..",
    ".",
    ".git",
    "-x",
    "a/b",
    "../up",
    "a b",
    "a\nb",
    "",
    "ü",
    "a\0b",
    "x" * 129,
    "a\u202eb",
    "a%2Fb",
    "\ud800",
]
SAID = "can't be the name of a project: write letters of ASCII"


def test_names() -> None:
    for name in GOOD:
        assert check_project(name) == name
    for name in BAD:
        with pytest.raises(InputError, match="can't be the name of a project") as caught:
            check_project(name)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    "command",
    [
        ("keys", "create"),
        ("keys", "list"),
        ("import", str(SAMPLE)),
        ("retention", "set", "--days", "30"),
        ("stats",),
        ("search", "x"),
        ("attribute", "--all"),
        ("worker",),
    ],
)
@pytest.mark.parametrize("name", ["..", "a/b"])
def test_the_command_line(tmp_path: Path, command: tuple[str, ...], name: str) -> None:
    place = sqlite_place(tmp_path)
    assert place.here("migrate").returncode == 0
    done = place.here(*command, "--project", name)
    assert done.returncode == 2, done
    assert SAID in done.stderr


@pytest.mark.parametrize(
    "settings",
    [
        {"job_projects": "good,.."},
        {"oidc_grants": '{"team": {"good": "reader", "..": "admin"}}'},
        {"stores": '{"eu": {"uri": "sqlite:///x.db", "projects": ["good", "a/b"]}}'},
    ],
)
@pytest.mark.usefixtures("quiet_environment")
def test_settings(settings: dict[str, str]) -> None:
    with pytest.raises(InputError, match="can't be the name of a project"):
        load_settings(None, settings)


def test_a_new_key() -> None:
    with pytest.raises(InputError, match="can't be the name of a project"):
        make_key("..", "", Role.READER, "test", START)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server on a SQLite file that is looked at from outside, too: names are checked before any engine."""
    folder = tmp_path_factory.mktemp("names")
    with running(sqlite_place(folder), folder, job_concurrency=0) as started:
        yield started


def test_http_and_graphql(alone: RunningServer) -> None:
    with alone.client("admin") as client:
        for name in ("..", "a/b", "x" * 200):
            refused = client.get("/v1/export/x", params={"project": name})
            assert (refused.status_code, SAID in refused.json()["detail"]) == (400, True)
            query = {"query": "query($name: String) { project(name: $name) { name } }", "variables": {"name": name}}
            (error,) = client.post("/graphql", json=query).json()["errors"]
            assert SAID in error["message"]


def keep_odd(place: Place, name: str) -> str:
    """A trace and a key of a project that could be made before names had a form; the key."""
    secret = "a" * 43
    key = ApiKey(uuid4().hex[:16], name, "", Role.ADMIN, hash_secret(secret), START, "test")

    async def keep() -> None:
        async with await open_store(place.settings()) as database:
            built = TraceBuilder(name)
            built.variable("v", "said")
            await built.write(database.project(name))
            await database.records(name).add_key(key)

    asyncio.run(keep())
    return f"mt_{key.id}_{secret}"


@pytest.mark.parametrize("name", ["..", "a/b", "équipe"])
def test_a_project_from_before(alone: RunningServer, name: str) -> None:
    place = alone.place
    key = keep_odd(place, name)
    answer = httpx.post(
        f"{alone.url}/v1/import",
        params={"name": "a.json"},
        content=b"{}",
        headers={"Authorization": f"Bearer {key}"},
        verify=certificates(),
        timeout=300,
    )
    assert (answer.status_code, SAID in answer.json()["detail"]) == (400, True)
    (trace,) = json.loads(place.here("traces", "--json", "--project", name).stdout)
    exported = place.here("export", trace["id"], "--project", name)
    assert "was recorded by tests" in exported.stderr  # it was found, and has no format
    assert place.here("delete", trace["id"], "--yes", "--project", name).returncode == 0
    assert json.loads(place.here("traces", "--json", "--project", name).stdout) == []


def files_of(folder: Path) -> list[Path]:
    """All files in a folder and its subfolders."""
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("name", BAD)
async def test_uploads_stay_in_their_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "deep" / "uploads"
    uploads = Uploads(folder.as_uri())

    async def blocks() -> Any:
        yield b"data"

    try:
        kept, _ = await uploads.put(name, "0" * 32, blocks())
    except InputError:
        kept = None  # no folder has such a name
    except UnicodeEncodeError:
        kept = None
    files = files_of(tmp_path)
    assert len(files) == (kept is not None)
    assert all(path.is_relative_to(folder) for path in files)
    asked = []

    async def is_needed(project: str, _job: str, _name: str) -> bool:
        asked.append(project)
        return False

    await uploads.clean(is_needed, grace_seconds=-5)
    assert asked == ([name] if kept else [])
    assert files_of(tmp_path) == []


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/etc/passwd", "a/..", "a/b/c", "a", "a/\0"])
async def test_no_name_leads_out(tmp_path: Path, name: str) -> None:
    place = Folder((tmp_path / "uploads").as_uri())
    with pytest.raises(InputError, match="no upload has such a name"):
        async with place.fetch(name):
            pass
    with pytest.raises(InputError, match="no upload has such a name"):
        await place.delete(name)


@pytest.mark.parametrize("said", [f"mt_{'0' * 16}_{'a' * 43}", "x-mt_0", "a b", "y" * 65, "ü", ""])
def test_a_request_id_that_is_none(alone: RunningServer, said: str) -> None:
    headers = {b"X-Request-Id": said.encode()}
    with alone.client() as client:
        answer = client.get("/v1/export/nothing", headers=headers)
    assert answer.headers["X-Request-Id"] != said
    assert len(answer.headers["X-Request-Id"]) == 32
    assert answer.json()["requestId"] == answer.headers["X-Request-Id"]
    assert said == "" or said not in alone.log_text


@pytest.mark.parametrize("path", ["/graphql/", "/v1/import/", "/healthz/", "/v1/export/x/"])
def test_nobody_is_sent_elsewhere(alone: RunningServer, path: str) -> None:
    with alone.client() as client:
        answer = client.post(path, headers={"Host": "evil.example"})
    assert answer.status_code in {404, 405}
    assert "location" not in answer.headers
