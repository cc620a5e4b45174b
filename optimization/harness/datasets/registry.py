"""All forms of data sets, a line each, and the function that reads a file of any of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from ingest.files.opening import display_name, mapped
from optimization.harness.datasets.form import Form, with_known_evidence
from optimization.harness.datasets.lines import Lines
from optimization.harness.datasets.locomo import LoCoMo
from optimization.harness.datasets.longmemeval import LongMemEval
from optimization.harness.datasets.memtracebench import MemTraceBench
from optimization.harness.datasets.model import Conversation, Dataset
from optimization.harness.datasets.realmem import RealMem
from schema.errors import InputError

FORMS: tuple[Form, ...] = (
    LoCoMo(),
    LongMemEval(),
    RealMem(),
    MemTraceBench(),
    Lines(),
)

_LINES = frozenset({".jsonl", ".ndjson"})
_ENDINGS = _LINES | {".json"}


def read_dataset(path: Path) -> Dataset:
    """The conversations of a file, whose form is recognised by its content; it may be compressed.

    The whole file is held in memory, as most published files are one JSON value. A data set that is published as a file
    for each user, as RealMem is, may be given as the folder of these files.

    Raises:
        InputError: a file has no known form, or something in it is not as its form says; the message names the place.
    """
    if not path.is_dir():
        return _read_file(path)
    found = [_read_file(file) for file in sorted(path.iterdir()) if _ENDINGS & set(file.suffixes)]
    if not found:
        raise InputError(str(path), "", f"holds no data set ({', '.join(sorted(_ENDINGS))}, plain or compressed)")
    forms = sorted({one.form for one in found})
    if len(forms) > 1:
        raise InputError(str(path), "", f"holds data sets of several forms: {', '.join(forms)}")
    conversations = tuple(conversation for one in found for conversation in one.conversations)
    _check_users(str(path), conversations)
    return Dataset(forms[0], conversations, tuple(text for one in found for text in one.unknown_evidence))


def _read_file(path: Path) -> Dataset:
    source = display_name(path)
    with mapped(path) as data:
        content = _parsed(source, data[:], is_lines=bool(_LINES & set(path.suffixes)))
    for form in FORMS:
        if form.recognises(content):
            return _checked(source, form.name, form.read(source, content))
    known = ", ".join(form.name for form in FORMS)
    raise InputError(source, "", f"is no data set of a form that is known ({known})")


def _parsed(source: str, data: bytes, *, is_lines: bool) -> Any:
    """One JSON value, or else the list of those on its lines."""
    whole: msgspec.DecodeError | None = None
    if not is_lines:
        try:
            return msgspec.json.decode(data)
        except msgspec.DecodeError as error:
            whole = error
    found: list[Any] = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(msgspec.json.decode(line))
        except msgspec.DecodeError as error:
            if whole is not None and not found:
                raise InputError(source, "", f"is no JSON: {whole}") from None
            raise InputError(source, f"line {number}", f"is no JSON: {error}") from None
    return found


def _checked(source: str, form: str, conversations: list[Conversation]) -> Dataset:
    if not conversations:
        raise InputError(source, "", "has no conversation")
    _check_users(source, conversations)
    known: list[Conversation] = []
    unknown: list[str] = []
    for conversation in conversations:
        cleaned, missing = with_known_evidence(conversation)
        known.append(cleaned)
        unknown += missing
    return Dataset(form, tuple(known), tuple(unknown))


def _check_users(source: str, conversations: Iterable[Conversation]) -> None:
    users: set[str] = set()
    for conversation in conversations:
        if conversation.user in users:
            raise InputError(source, "", f"two conversations have the user {conversation.user!r}")
        users.add(conversation.user)
