"""Gives the traces of a recording the name and the tags that ``memtrace run --name NAME --tag TAG`` says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from schema.models import Trace

TAGS = "tags"
"""The attribute of a trace with its tags, a list of texts."""
_IS_TRACE = b'"type":"trace"'


def name_traces(files: Sequence[Path], name: str | None, tags: Sequence[str]) -> None:
    """Write the name and the tags into the events of a recording.

    A program with one trace gives it the name; of several traces, each gets the name before its own.

    Args:
        files: of the recording: events, line by line.
        name: for the traces; None keeps their names.
        tags: for the traces, beside the tags that the program gives them.
    """
    if name is None and not tags:
        return
    import msgspec

    lines = {file: file.read_bytes().splitlines() for file in files}
    events = {file: [_trace_event(line) for line in read] for file, read in lines.items()}
    traces = {event["trace"] for read in events.values() for event in read if event}
    for file, read in events.items():
        for at, event in enumerate(read):
            if event:
                lines[file][at] = msgspec.json.encode(_named(event, name, tags, len(traces) > 1))
        _replace(file, b"".join(line + b"\n" for line in lines[file]))


def _replace(file: Path, content: bytes) -> None:
    """Give a file another content, all or none; only its user can read it, as before."""
    part = file.with_suffix(".part")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
        out.write(content)
    part.replace(file)


def _trace_event(line: bytes) -> dict[str, Any] | None:
    """The event of a line if it tells of a trace; a line that can't be read is left to the import, which names it."""
    from schema.outside_json import JsonError, read_json

    if _IS_TRACE not in line[:200].replace(b" ", b""):
        return None
    try:
        event = read_json(line)
    except JsonError:
        return None
    return event if isinstance(event, dict) and event.get("type") == "trace" and "trace" in event else None


def _named(event: dict[str, Any], name: str | None, tags: Sequence[str], is_one_of_several: bool) -> dict[str, Any]:
    own = event.get("name")
    said = f"{name}: {own}" if name and own and is_one_of_several else name or own
    attributes = dict(event.get("attributes") or {})
    if tags:
        given = attributes.get(TAGS) or []
        own = given if isinstance(given, list) else [given]
        attributes[TAGS] = [*own, *(one for one in dict.fromkeys(tags) if one not in own)]
    return {**event, **({"name": said} if said else {}), "attributes": attributes}


def tags_of(trace: Trace) -> list[str]:
    """The tags of a trace."""
    from schema.outside_json import read_json

    said = read_json(trace.attributes).get(TAGS) if TAGS in trace.attributes else None
    return [one for one in said if isinstance(one, str)] if isinstance(said, list) else []
