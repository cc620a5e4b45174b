"""Downloads a whole value as a file."""

from __future__ import annotations

from starlette.responses import Response

from api.http.dependencies import platform_of
from api.http.files import attachment
from api.http.windows import WINDOW_BYTES, Windows
from api.web.pages.asking import MissingError
from api.web.pages.shown import PageRequest
from schema.errors import NotFoundError
from schema.models import Variable
from store.contract.answers import Label


async def value(asked: PageRequest) -> Response:
    """The value, without a media type that browsers show or run: a value may be a hostile script."""
    try:
        door = asked.viewer.context.door(asked.project)
        found = await door.store.resolve(asked.id, Label.VARIABLE)
    except NotFoundError:
        raise MissingError("value") from None
    if not isinstance(found, Variable):
        raise MissingError("value")
    headers = attachment(found.name) | {"Content-Type": "application/octet-stream"}
    if found.size > WINDOW_BYTES:
        key = (door.project_id, found.trace_id, found.value_hash)
        copies = platform_of(asked.request).copies
        return Windows(copies, key, found.size, lambda: door.store.value(found), headers, None)
    return Response(await door.store.value(found), headers=headers)
