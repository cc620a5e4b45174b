"""Folders that only their owner can read, whatever the umask is."""

from __future__ import annotations

from pathlib import Path


def make_private_folder(folder: Path) -> None:
    """Make a folder and its missing parents, all readable for their owner only; existing folders stay as they are.

    ``Path.mkdir`` makes missing parents without the given mode.

    Raises:
        OSError: A folder can't be made.
    """
    for one in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
        one.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
