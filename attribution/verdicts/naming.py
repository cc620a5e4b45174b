"""What people know operations and variables by."""

from __future__ import annotations

import re

from schema.models import Operation, Session, Variable

_DIGEST = re.compile(r"[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4,}){2,}")


def plain(external_id: str) -> str:
    """An id of the source without the digests in it, which say nothing to people: ``extracted_facts:list:…@1``."""
    return _DIGEST.sub("…", external_id)


def operation_label(operation: Operation) -> str:
    """The name of an operation; where it has none, its category or kind."""
    return operation.name or operation.category or operation.kind.value


def variable_label(variable: Variable) -> str:
    """What people know a variable by: its id in the source; where that is a digest, its name and version."""
    known = plain(variable.external_id)
    if known == variable.external_id or plain(variable.name) != variable.name:
        return known
    return f"{variable.name}@{variable.version}"


def session_label(session: Session) -> str:
    """The name of a session, or its category, and its number in the trace, from 1."""
    named = session.name or session.category
    number = f"session {session.sequence + 1}"
    return f"{named}, {number}" if named else number
