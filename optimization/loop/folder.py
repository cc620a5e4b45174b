"""The folder of an optimization, and acceptance and rollback of the prompts that it found.

Contents:

* ``found.json``: the result.
* ``report.md``: the result as a report for people.
* ``evaluations/``: runs of the program, by candidate.
* ``replies/``, ``reflections/``: replies of models.
* ``originals/``: the prompts' files from before ``accept``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optimization.harness.folder import write
from optimization.harness.prompts import SUFFIX
from schema.errors import InputError


def found(folder: Path) -> dict[str, Any]:
    """Read the result of an optimization.

    Raises:
        InputError: the folder has no result.
    """
    path = folder / "found.json"
    if not path.exists():
        raise InputError(str(folder), "", "holds no finished optimization")
    said: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return said


def accept(folder: Path, prompts: Path) -> list[str]:
    """Write the accepted prompts into the folder of prompts, and keep copies of the old files.

    Returns:
        The names of the prompts that changed.

    Raises:
        InputError: the gate did not accept the prompts, or the files have changed since the optimization began.
    """
    said = found(folder)
    if not said["gate"]["accepted"]:
        raise InputError(str(folder), "", f"the gate did not accept: {'; '.join(said['gate']['reasons'])}")
    changed = {name: text for name, text in said["after"].items() if said["before"][name] != text}
    for name, text in changed.items():
        file = _file(prompts, name)
        if file.exists() and file.read_bytes() == text.encode():
            continue  # an earlier, interrupted ``accept`` has written this file
        if file.exists() and file.read_bytes() != said["before"][name].encode():
            raise InputError(str(file), "", "is not the prompt with which the optimization began: start a new one")
    originals = folder / "originals"
    if not (originals / "kept.json").exists():
        originals.mkdir(exist_ok=True)
        for name in changed:
            file = _file(prompts, name)
            if file.exists():
                (originals / file.name).write_bytes(file.read_bytes())
        write(originals / "kept.json", {name: _digest(text.encode()) for name, text in changed.items()})
    for name, text in changed.items():
        _replace(_file(prompts, name), text.encode())
    return sorted(changed)


def rollback(folder: Path, prompts: Path) -> list[str]:
    """Restore the prompts' files from before ``accept``.

    Returns:
        The names of the prompts.

    Raises:
        InputError: no prompts were accepted, or a file was changed since.
    """
    originals = folder / "originals"
    if not (originals / "kept.json").exists():
        raise InputError(str(folder), "", "nothing was accepted from this optimization")
    kept: Mapping[str, str] = json.loads((originals / "kept.json").read_text("utf-8"))
    for name, digest in kept.items():
        file, original = _file(prompts, name), originals / f"{name}{SUFFIX}"
        now = file.read_bytes() if file.exists() else None
        was = original.read_bytes() if original.exists() else None
        if now != was and (now is None or _digest(now) != digest):
            raise InputError(str(file), "", "was changed since it was accepted: bring it back by hand from originals/")
    for name in kept:
        file, original = _file(prompts, name), originals / f"{name}{SUFFIX}"
        if original.exists():
            _replace(file, original.read_bytes())
        else:
            file.unlink(missing_ok=True)
    (originals / "kept.json").unlink()
    return sorted(kept)


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}{SUFFIX}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _replace(path: Path, data: bytes) -> None:
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_bytes(data)
    unfinished.replace(path)
