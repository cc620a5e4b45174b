"""Labels of operations, variables and sessions for people."""

from __future__ import annotations

import re

from attribution.text.said import said
from schema.models import Operation, Session, Variable

_MADE_UP = " output"
"""The end of the names that the recorder gives to results."""
_SAID = 60
_DIGEST = re.compile(r"[0-9a-fA-F]{8}(?:-?[0-9a-fA-F]{4,}){2,}")


def plain(external_id: str) -> str:
    """An id of the source without digests, such as ``extracted_facts:list:…@1``."""
    return _DIGEST.sub("…", external_id)


def operation_label(operation: Operation) -> str:
    """The name of an operation, else its category or kind."""
    return operation.name or operation.category or operation.kind.value


def given_name(variable: Variable) -> str | None:
    """The name that people gave a variable; None for a digest, and for a name that the recorder made up."""
    name = variable.name
    if plain(name) != name or name.endswith(_MADE_UP) or name.casefold() == variable.kind.value.casefold():
        return None
    return name


def variable_label(variable: Variable) -> str:
    """What to call a variable: its id in the source; if that is a digest, its name and version; else what it says."""
    if plain(variable.external_id) == variable.external_id:
        return variable.external_id
    name = given_name(variable)
    return f"{name}@{variable.version}" if name else said(variable.preview, _SAID) or variable.kind.value


def session_label(session: Session) -> str:
    """The name of a session, else its category, and its number in the trace, from 1."""
    named = session.name or session.category
    number = f"session {session.sequence + 1}"
    return f"{named}, {number}" if named else number
