"""`memtrace ui` signs one browser in; nobody can read the key, and nothing stays after the end."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from api.auth.browsers import COOKIE
from tests.data import SAMPLE
from tests.server.running import ROOT, certificates, command, sqlite_place
from tests.web.test_doors import OWN_PAGE


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_browser_is_signed_in_once(tmp_path: Path, stop: signal.Signals) -> None:
    place = sqlite_place(tmp_path)
    assert place.here("import", str(SAMPLE)).returncode == 0
    process = subprocess.Popen(
        command("ui", "--no-browser"),
        env=place.variables(),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        listens, opens = process.stderr.readline(), process.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/ui/open#\S+", opens)
        assert address is not None, opens
        page, _, code = address[0].partition("#")
        assert listens.split()[-1] == page.removesuffix("/ui/open")
        with httpx.Client(timeout=300, verify=certificates()) as client:
            assert "mt_" not in client.get(page).text
            assert client.post(page, data={"code": code}).status_code == 403
            assert client.post(page, data={"code": "x"}, headers=OWN_PAGE).status_code == 401
            entered = client.post(page, data={"code": code}, headers=OWN_PAGE)
            assert (entered.status_code, entered.headers["location"]) == (303, "/ui")
            key = re.search(rf"{COOKIE}=([^;]+)", entered.headers["set-cookie"])
            assert key is not None
            seen = client.get(
                page.replace("/ui/open", "/ui/projects/default"), headers={"Cookie": f"{COOKIE}={key[1]}"}
            )
            assert "MemoryAgent mara" in seen.text
            assert client.post(page, data={"code": code}, headers=OWN_PAGE).status_code == 401
    finally:
        process.send_signal(stop)
        said, told = process.communicate(timeout=300)
    assert process.returncode == 0, told
    assert key[1] not in said + told + listens + opens
    keys = json.loads(place.here("keys", "list", "--json").stdout)
    assert [(one["name"], one["role"], one["revokedAt"] is not None) for one in keys] == [
        ("memtrace ui", "writer", True)
    ]
