"""What a server keeps of refused requests: nothing, even while its garbage collector does not run."""

from __future__ import annotations

import gc
from pathlib import Path

import httpx
import pytest
from strawberry.types.execution import ExecutionContext

from tests.server.inside import inside
from tests.server.running import Place

TIMES = 5


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ("{ viewer { actor } } #" + "x" * 60_000, "LIMIT"),
        ("{" + "projects { name } " * 2000 + "}", "LIMIT"),
        ("{" + "project{" * 50 + "name" + "}" * 50 + "}", "LIMIT"),
        ("{ viewer { ", "INVALID_DOCUMENT"),
        ("{ viewer { nobody } }", "INVALID_DOCUMENT"),
        ('{ projects { traces(after: "x") { nodes { id } } } }', "BAD_INPUT"),
    ],
    ids=["characters", "tokens", "depth", "syntax", "field", "cursor"],
)
def test_nothing_is_kept_of_a_refused_request(tmp_path: Path, document: str, code: str) -> None:
    with inside(tmp_path, log_level="error") as (_, url), httpx.Client(base_url=url, timeout=60) as client:
        key = Place(f"sqlite:///{tmp_path / 'inside.db'}").make_key()

        def ask() -> None:
            answer = client.post("/graphql", json={"query": document}, headers={"Authorization": f"Bearer {key}"})
            errors = answer.json()["errors"]
            assert not code or errors[0]["extensions"]["code"] == code, errors

        ask()
        gc.collect()
        gc.disable()
        try:
            before = _requests()
            for _ in range(TIMES):
                ask()
            # The last one may still be on its way out while its answer is already here.
            assert _requests() - before <= 1
        finally:
            gc.enable()


def _requests() -> int:
    return sum(isinstance(one, ExecutionContext) for one in gc.get_objects())
