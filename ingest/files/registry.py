"""The list of file formats, one line each."""

from __future__ import annotations

from ingest.files.opening import fault
from ingest.files.protocol import Format, WritableFormat
from ingest.files.smartcomment.format import Smartcomment
from ingest.files.wire.format import WireEvents
from schema.errors import InputError
from schema.models import Trace

FORMATS: tuple[Format, ...] = (
    Smartcomment(),
    WireEvents(),
)

HEAD_BYTES = 64 << 10
"""Number of bytes from which the format of a file is recognised."""


def format_of_file(name: str, head: bytes) -> Format:
    """The format of a file.

    Args:
        name: the name of the file in messages.
        head: its first ``HEAD_BYTES``, unpacked.

    Raises:
        InputError: no format recognises the file.
    """
    for one in FORMATS:
        if one.recognises(head):
            return one
    if found := fault(head):
        raise InputError(name, *found)
    known = ", ".join(one.name for one in FORMATS)
    raise InputError(name, "", f"is of no format that is known ({known})")


def format_of_trace(trace: Trace) -> WritableFormat:
    """The format of a trace's source, for an export.

    Raises:
        InputError: the format has no export.
    """
    for one in FORMATS:
        if one.source == trace.source and isinstance(one, WritableFormat):
            return one
    raise InputError(f"trace {trace.external_id}", "", f"was recorded by {trace.source}, which has no file format")
