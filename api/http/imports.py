"""Importing files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from secrets import token_hex
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from api.http.dependencies import Writer, platform_of
from api.http.documented import answers
from api.http.receipts import LOCATION, IdempotencyKey, Receipt, accepted, job_id_of
from api.jobs.arguments import ImportArguments
from api.jobs.work import check
from ingest.files.registry import FORMATS
from schema.control import JobKind
from schema.errors import InputError

router = APIRouter(prefix="/v1", tags=["traces"])

CONTENT_TYPES = (
    *dict.fromkeys(one.media_type for one in FORMATS),
    "application/gzip",
    "application/zstd",
    "application/x-xz",
    "application/octet-stream",
)
_ENCODINGS = ("identity", "gzip", "x-gzip", "zstd")
_SILENCE_SECONDS = 60.0

_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The file, plain or compressed (gzip, xz or zstd); its first bytes show which.",
        "content": {kind: {"schema": {"type": "string", "format": "binary"}} for kind in CONTENT_TYPES},
    }
}


@router.post(
    "/import",
    status_code=202,
    openapi_extra=_BODY,
    responses=answers(
        413, 415, ok={202: {"description": "The file is stored, and will be imported.", "headers": LOCATION}}
    ),
)
async def import_file(
    door: Writer,
    request: Request,
    response: Response,
    name: Annotated[
        str, Query(min_length=1, max_length=255, description="A name for the file, which error messages show.")
    ] = "upload",
    timezone: Annotated[
        str,
        Query(
            max_length=100, description="The IANA name of the time zone of times in the file that don't name a zone."
        ),
    ] = "UTC",
    key: IdempotencyKey = None,
) -> Receipt:
    """Import a trace from a file of any size, which is the request's body.

    The response comes when the file is stored safely; the import itself is a job, which you can follow. You may send a
    file again, or a longer version of it: only what is new is added.
    """
    _check_type(request)
    job_id = job_id_of(door.project_id, JobKind.IMPORT, key) or token_hex(16)
    arguments = ImportArguments(upload="", name=name, timezone=timezone)
    await check(door.store, arguments)
    platform = platform_of(request)
    if key is not None and (known := await door.records.jobs([job_id])):
        async for _ in _blocks(request):
            """Reads the rest: many clients read no answer before they have sent everything."""
        return accepted(known[0], response)
    settings = platform.settings
    unpacked = (settings.max_inflated_bytes, settings.max_inflated_ratio)
    upload, size = await platform.uploads.put(
        door.project_id, job_id, _blocks(request), settings.max_upload_bytes, unpacked
    )
    if size == 0:
        await platform.uploads.delete(upload)
        raise InputError("body", "", "is empty: send the file as the request's body")
    arguments = arguments.model_copy(update={"upload": upload})
    # If this fails, the job may exist nevertheless, so the file stays. The runner deletes files that no job needs.
    job = await platform.queue.submit(door, JobKind.IMPORT, arguments, job_id)
    if job.arguments != arguments.model_dump_json():
        # Another request with the same key came first.
        await platform.uploads.delete(upload)
    return accepted(job, response)


def _check_type(request: Request) -> None:
    kind = request.headers.get("content-type", CONTENT_TYPES[-1]).partition(";")[0].strip().lower()
    if kind not in CONTENT_TYPES:
        raise HTTPException(415, f"a body of type {kind!r} is not taken; send one of {', '.join(CONTENT_TYPES)}")
    # A packed file is recognised by its first bytes, whether a header names the packing as type or as encoding.
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in _ENCODINGS:
        taken = ", ".join(_ENCODINGS)
        raise HTTPException(
            415, f"the encoding {encoding!r} is not taken; send one of {taken}", {"Accept-Encoding": taken}
        )


async def _blocks(request: Request) -> AsyncIterator[bytes]:
    """The body in blocks, as they arrive.

    Raises:
        InputError: the body ends too early.
    """
    stream = request.stream()
    while True:
        try:
            block = await asyncio.wait_for(anext(stream, None), _SILENCE_SECONDS)
        except ClientDisconnect:
            raise InputError("body", "", "the connection ended before the body did") from None
        except TimeoutError:
            raise InputError("body", "", f"nothing came for {_SILENCE_SECONDS:.0f} seconds") from None
        if block is None:
            return
        yield block
