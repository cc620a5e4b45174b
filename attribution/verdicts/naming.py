"""Labels of operations, variables and sessions for people."""

from __future__ import annotations

import re

from schema.models import Operation, Session, Variable

_DIGEST = re.compile(r"[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4,}){2,}")


def plain(external_id: str) -> str:
    """An id of the source without digests, such as ``extracted_facts:list:…@1``."""
    return _DIGEST.sub("…", external_id)


def operation_label(operation: Operation) -> str:
    """The name of an operation, else its category or kind."""
    return operation.name or operation.category or operation.kind.value


def variable_label(variable: Variable) -> str:
    """A variable's id in the source; if that is a digest, the variable's name and version."""
    known = plain(variable.external_id)
    if known == variable.external_id or plain(variable.name) != variable.name:
        return known
    return f"{variable.name}@{variable.version}"


def session_label(session: Session) -> str:
    """The name of a session, else its category, and its number in the trace, from 1."""
    named = session.name or session.category
    number = f"session {session.sequence + 1}"
    return f"{named}, {number}" if named else number
