"""Where a request to stop reaches an import: before it writes nothing is stored, afterwards the whole file is.

And how an import that can't be done is refused: by the name that the sender gave the file.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from api.jobs.arguments import ImportArguments
from api.jobs.uploads import Uploads
from api.jobs.work import check, run
from api.jobs.work.context import Cancelled, Context
from schema.control import JobKind
from schema.errors import InputError
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


async def _refused(folder: Path, body: bytes | None, timezone: str = "UTC") -> InputError:
    """The error of an import of a file, or of one that is gone."""
    uploads = Uploads((folder / "uploads").as_uri())

    async def blocks() -> AsyncIterator[bytes]:
        yield body or b"{}"

    async with await open_database(f"sqlite:///{folder / 'test.db'}") as database:
        store = database.project("p")
        name, _ = await uploads.put("p", "job", blocks())
        if body is None:
            await uploads.delete(name)
        arguments = ImportArguments(upload=name, name="my notes.json", timezone=timezone)
        context = Context(store, database.records("p"), uploads, lambda *_: None, 1 << 30)
        try:
            await check(store, arguments)
            await run(JobKind.IMPORT, arguments.model_dump_json(), context)
        except InputError as error:
            assert (await store.traces()).items == []
            return error
    raise AssertionError


async def test_a_file_that_can_not_be_imported_is_named_as_its_sender_named_it(tmp_path: Path) -> None:
    gone = await _refused(tmp_path, None)
    assert (gone.source, gone.problem) == ("my notes.json", "the uploaded file is gone: send it again")
    broken = await _refused(tmp_path, b'{"graph_id": ')
    assert broken.source == "my notes.json"
    assert "uploads" not in str(broken)
    nowhere = await _refused(tmp_path, b"{}", "Mars/Olympus")
    assert (nowhere.source, nowhere.place) == ("import", "timezone")
    assert "'Mars/Olympus' is not an IANA time zone" in nowhere.problem
