"""Whether the server lives, and whether it can do its work."""

from __future__ import annotations

from tests.server.running import RunningServer


def test_healthy(server: RunningServer) -> None:
    with server.client(None) as client:
        assert client.get("/healthz").json() == {"status": "ok"}
