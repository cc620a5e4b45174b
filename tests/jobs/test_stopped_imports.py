"""Where a request to stop reaches an import: before it writes nothing is stored, afterwards the whole file is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.jobs.arguments import ImportArguments
from api.jobs.uploads import Uploads
from api.jobs.work import run
from api.jobs.work.context import Cancelled, Context
from schema.control import JobKind
from store.open import open_database
from tests.graph_files import conversation


async def _imported(folder: Path, stage: str, least: int) -> tuple[bool, int, list[str]]:
    """Import a file, asked to stop from a moment on: whether it ended, the stored traces, and the stages told."""
    uploads = Uploads((folder / "uploads").as_uri())
    told: list[str] = []

    async def blocks() -> AsyncIterator[bytes]:
        yield conversation(4, 2, 100).as_bytes()

    def tell(now: str, done: int, total: int) -> None:
        told.append(now)
        if now == stage and done >= least:
            raise Cancelled

    async with await open_database(f"sqlite:///{folder / 'test.db'}") as database:
        store = database.project("p")
        name, _ = await uploads.put("p", "job", blocks())
        arguments = ImportArguments(upload=name, name="a.json").model_dump_json()
        context = Context(store, database.records("p"), uploads, tell, 1 << 30)
        try:
            result = await run(JobKind.IMPORT, arguments, context)
        except Cancelled:
            has_ended = False
        else:
            has_ended = result["file"] == "a.json"
        return has_ended, len((await store.traces()).items), told


@pytest.mark.parametrize(
    ("stage", "least", "wanted"),
    [("read", 0, (False, 0)), ("write", 0, (False, 0)), ("write", 1, (True, 1)), ("never", 0, (True, 1))],
)
async def test_a_stop_leaves_nothing_or_all(tmp_path: Path, stage: str, least: int, wanted: tuple[bool, int]) -> None:
    has_ended, traces, told = await _imported(tmp_path, stage, least)
    assert (has_ended, traces) == wanted
    assert stage == "never" or stage in told
