"""Files and folders that only their owner can read, whatever the umask is; free room on the disk."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable
from pathlib import Path

FILE_MODE = 0o600
FOLDER_MODE = 0o700
_LEAST_FREE_BYTES = 1 << 20


def has_room(folder: Path) -> bool:
    """Whether the disk of a folder has at least 1 MiB free.

    Raises:
        OSError: the folder does not exist.
    """
    return shutil.disk_usage(folder).free >= _LEAST_FREE_BYTES


def make_private(path: Path) -> None:
    """Make an empty file that only its owner can read; an existing file stays unchanged.

    SQLite gives its further files the same rights. No error is raised: opening the file gives a better message.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))
    except OSError:
        return


def make_folders(folder: Path, root: Path | None = None) -> None:
    """Make the missing folders from ``root`` down to ``folder``, readable for their owner only.

    Args:
        folder: the folder to make.
        root: folders above it are not made; None makes all missing parents.

    Raises:
        OSError: a folder can't be made.
    """
    wanted = (one for one in (folder, *folder.parents) if root is None or one.is_relative_to(root))
    missing = [one for one in wanted if not one.is_dir()]
    for one in reversed(missing):
        one.mkdir(FOLDER_MODE, exist_ok=True)


def opened_to_others(paths: Iterable[Path]) -> list[str]:
    """A warning for each file or folder that other users can read; no warnings on Windows."""
    if os.name == "nt":
        return []
    found = []
    for path in paths:
        try:
            mode = path.stat().st_mode
        except OSError:
            continue
        if mode & (stat.S_IRGRP | stat.S_IROTH) and not _is_in_private(path):
            private = FOLDER_MODE if stat.S_ISDIR(mode) else FILE_MODE
            found.append(
                f"{path} can be read by others of this machine (mode {stat.S_IMODE(mode):o}): chmod {private:o}"
            )
    return found


def _is_in_private(path: Path) -> bool:
    """Whether other users can't enter the folder of ``path``."""
    return not path.absolute().parent.stat().st_mode & (stat.S_IXGRP | stat.S_IXOTH)
