"""The list of data sets' forms, one line each, and the function that reads a file of any form."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ingest.files.opening import display_name, mapped
from optimization.harness.datasets.form import DatasetForm, with_known_evidence
from optimization.harness.datasets.lines import Lines
from optimization.harness.datasets.locomo import LoCoMo
from optimization.harness.datasets.longmemeval import LongMemEval
from optimization.harness.datasets.memtracebench import MemTraceBench
from optimization.harness.datasets.model import Conversation, Dataset
from optimization.harness.datasets.realmem import RealMem
from schema.errors import InputError
from schema.outside_json import JsonError, read_json

FORMS: tuple[DatasetForm, ...] = (
    LoCoMo(),
    LongMemEval(),
    RealMem(),
    MemTraceBench(),
    Lines(),
)

_LINES = frozenset({".jsonl", ".ndjson"})
_ENDINGS = _LINES | {".json"}


def read_dataset(path: Path) -> Dataset:
    """Read a data set, plain or compressed; the content shows the form.

    Most published files are one JSON value, so the whole file is held in memory. A data set with one file per user,
    such as RealMem, may be given as a folder.

    Raises:
        InputError: a file has no known form, or breaks the rules of its form; the message names the place in the file.
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
    """The JSON value of a file, or the list of its lines' JSON values."""
    whole: JsonError | None = None
    if not is_lines:
        try:
            return read_json(data)
        except JsonError as error:
            whole = error
    found: list[Any] = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            found.append(read_json(line))
        except JsonError as error:
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
