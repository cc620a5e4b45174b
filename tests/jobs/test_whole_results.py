"""Whole results of the work of jobs, and the reports that are made of them, without a server or a runner."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import time_machine

from api.jobs.arguments import AttributeArguments, ImportArguments, ReportArguments
from api.jobs.uploads import Uploads
from api.jobs.work import run
from api.jobs.work.context import Context
from attribution.report import html, markdown
from attribution.report.model import ReportData
from schema.control import JobKind
from schema.errors import MemTraceError
from store.open import open_database
from tests.expected import compare
from tests.fixed_project import NAMES, NOW, PROJECT, TRACES, write_fixed
from tests.graph_files import conversation
from tests.web.inside import outline

LOST = [failure.id for failure in TRACES[4].failures]

JOBS: dict[str, tuple[JobKind, Any]] = {
    "attribute-some": (JobKind.ATTRIBUTE, AttributeArguments(failure_ids=tuple(LOST))),
    "attribute-trace": (JobKind.ATTRIBUTE, AttributeArguments(trace_id=TRACES[0].trace.id, gold_free=True)),
    "attribute-nothing": (JobKind.ATTRIBUTE, AttributeArguments(failure_ids=("0" * 32,))),
    "report": (JobKind.REPORT, ReportArguments()),
    "report-of-source": (JobKind.REPORT, ReportArguments(trace_ids=(TRACES[3].trace.id,), source="annotation")),
    "report-of-some": (JobKind.REPORT, ReportArguments(failure_ids=tuple(LOST), person="Ada")),
    "report-of-nobody": (JobKind.REPORT, ReportArguments(source="nobody")),
    "import-of-nothing": (JobKind.IMPORT, ImportArguments(upload="gone", name="a file")),
}


async def _done(kind: JobKind, arguments: Any, folder: Path, upload: bytes | None = None) -> dict[str, Any]:
    """The result of a job, and how it told of its progress."""
    told: list[list[Any]] = []
    uploads = Uploads((folder / "uploads").as_uri())

    async def blocks() -> AsyncIterator[bytes]:
        yield upload or b""

    async with await open_database(f"sqlite:///{folder / 'test.db'}") as database:
        store = database.project(PROJECT)
        await write_fixed(database)
        if upload is not None:
            name, _ = await uploads.put(PROJECT, "job", blocks())
            arguments = arguments.model_copy(update={"upload": name})
        context = Context(store, database.records(PROJECT), uploads, lambda *said: told.append([*said]), 1 << 30)
        try:
            with time_machine.travel(NOW, tick=False):
                result = await run(kind, arguments.model_dump_json(), context)
        except MemTraceError as error:
            result = {"error": str(error)}
    return {"progress": told, "result": result}


@pytest.mark.parametrize("name", JOBS)
async def test_a_job(tmp_path: Path, name: str) -> None:
    found = await _done(*JOBS[name], tmp_path)
    compare(__file__, f"{name}.json", found, NAMES)
    if "cases" in found["result"]:
        data = msgspec.json.decode(json.dumps(found["result"]), type=ReportData)
        compare(__file__, f"{name}.md", markdown.render(data), NAMES)
        compare(__file__, f"{name}.txt", outline(html.render(data)), NAMES)


async def test_an_import(tmp_path: Path) -> None:
    found = await _done(
        JobKind.IMPORT, ImportArguments(upload="", name="a file"), tmp_path, conversation(4, 2, 100).as_bytes()
    )
    text = json.dumps(found, indent=1)
    compare(__file__, "import.json", re.sub(r'"seconds": [\d.e-]+', '"seconds": 0', text), NAMES)
