"""Reads a folder of prompts: each file ``NAME.txt`` is a prompt, byte for byte."""

from __future__ import annotations

from pathlib import Path

from schema.errors import InputError

SUFFIX = ".txt"


def read_prompts(folder: Path) -> dict[str, str]:
    """The prompts of a folder, by name.

    Raises:
        InputError: there is no such folder, the folder has no prompt, or a file is not UTF-8.
    """
    if not folder.is_dir():
        raise InputError(str(folder), "", "is no folder of prompts")
    found = {}
    for file in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            found[file.name.removesuffix(SUFFIX)] = file.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            raise InputError(str(file), "", "is no text in UTF-8") from None
    if not found:
        raise InputError(str(folder), "", f"holds no prompt (files NAME{SUFFIX})")
    return found
