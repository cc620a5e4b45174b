"""Whole values."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Header, Path, Request, Response

from api.http.dependencies import Reader, platform_of
from api.http.documented import answers, binary
from api.http.files import attachment, one_range
from api.http.problems import problem
from api.http.windows import WINDOW_BYTES, Windows
from schema.errors import NotFoundError
from schema.models import Variable
from store.contract.answers import Label

router = APIRouter(prefix="/v1", tags=["traces"])

_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+")
_ANY = "application/octet-stream"
_ETAG = {"ETag": "The hash of the value.", "Accept-Ranges": "bytes"}


@router.get(
    "/values/{variable}",
    response_class=Response,
    responses=answers(
        409,
        416,
        ok={
            200: binary("The whole value, as its media type.", "*/*", headers=_ETAG),
            206: binary(
                "The part of the value that was asked for.",
                "*/*",
                headers=_ETAG | {"Content-Range": "Which bytes these are, and how many the whole value has."},
            ),
            304: {"description": "The client already has this value."},
        },
    ),
)
async def value(
    door: Reader,
    request: Request,
    reference: Annotated[
        str,
        Path(
            alias="variable",
            max_length=1000,
            description="The variable's id, a unique prefix of it of 8 or more characters, or its external id.",
        ),
    ],
    range_: Annotated[
        str | None, Header(alias="Range", max_length=200, description="One range of bytes, such as `bytes=0-499`.")
    ] = None,
    if_range: Annotated[str | None, Header(max_length=200)] = None,
    if_none_match: Annotated[str | None, Header(max_length=1000)] = None,
) -> Response:
    """The whole value of a variable, checked against its hash."""
    variable = await door.store.resolve(reference, Label.VARIABLE)
    if not isinstance(variable, Variable):
        raise NotFoundError(reference, Label.VARIABLE.value)
    etag = f'"{variable.value_hash}"'
    # A value never changes, but the right to read it is checked each time.
    headers = {"ETag": etag, "Accept-Ranges": "bytes", "Cache-Control": "private, no-cache"}
    if if_none_match is not None and _matches(if_none_match, etag):
        return Response(status_code=304, headers=headers)
    headers |= attachment(variable.name)
    headers["Content-Type"] = variable.media_type if _MEDIA_TYPE.fullmatch(variable.media_type) else _ANY
    if headers["Content-Type"].startswith("text/"):
        headers["Content-Type"] += "; charset=utf-8"
    size = variable.size
    try:
        part = one_range(range_, size) if if_range in {None, etag} else None
    except ValueError:
        there = {"Content-Range": f"bytes */{size}"}
        return problem(request.scope, 416, f"the value has {size:,} bytes: there is no such part of it", there)
    if part is not None:
        headers["Content-Range"] = f"bytes {part[0]}-{part[1] - 1}/{size}"
    if size > WINDOW_BYTES:
        key = (door.project_id, variable.trace_id, variable.value_hash)
        return Windows(platform_of(request).copies, key, size, lambda: door.store.value(variable), headers, part)
    data = await door.store.value(variable)
    return Response(data, headers=headers) if part is None else Response(data[slice(*part)], 206, headers)


def _matches(if_none_match: str, etag: str) -> bool:
    named = {part.strip().removeprefix("W/") for part in if_none_match.split(",")}
    return "*" in named or etag in named
