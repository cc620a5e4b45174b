"""The description of the HTTP door is the committed one, and true."""

from __future__ import annotations

import json

import pytest

from api.openapi import FILE, text
from tests.server.running import RunningServer

pytestmark = pytest.mark.one_engine


def test_it_is_the_committed_one() -> None:
    """Where this fails on purpose: ``python -m api.openapi`` writes the file anew."""
    assert FILE.read_text("utf-8") == text()


def test_it_is_served(server: RunningServer) -> None:
    with server.client(None) as client:
        assert client.get("/openapi.json").json() == json.loads(text())
        assert client.get("/docs").status_code == client.get("/redoc").status_code == 404


def test_every_operation_has_its_problems() -> None:
    document = json.loads(text())
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert operation["security"] == ([] if path in {"/healthz", "/readyz"} else [{"bearer": []}])
            problems = [answer for status, answer in operation["responses"].items() if status in {"422", "500"}]
            assert problems
            for answer in problems:
                assert set(answer["content"]) == {"application/problem+json"}
