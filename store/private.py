"""Files and folders of this machine: for their owner only, whatever the umask says, and with room for more."""

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
    """Whether a folder's disk can take anything more.

    Raises:
        OSError: there is no such folder.
    """
    return shutil.disk_usage(folder).free >= _LEAST_FREE_BYTES


def make_private(path: Path) -> None:
    """Make an empty file for its owner only; one that is there stays as it is.

    What SQLite keeps beside its file has the file's rights. A file that can't be made is left to who opens it.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE_MODE))
    except OSError:
        return  # it is there, or SQLite says better what is wrong


def make_folders(folder: Path, root: Path) -> None:
    """Make a folder below ``root``, and those that lead to it, for their owner only; those that are there stay.

    Raises:
        OSError: one can't be made.
    """
    missing = [one for one in (folder, *folder.parents) if one.is_relative_to(root) and not one.exists()]
    for one in reversed(missing):
        one.mkdir(FOLDER_MODE, exist_ok=True)


def opened_to_others(paths: Iterable[Path]) -> list[str]:
    """What to say of each of these files and folders that others of the machine can read; nothing on Windows."""
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
    """Whether the folder of a file keeps others out already."""
    return not path.absolute().parent.stat().st_mode & (stat.S_IXGRP | stat.S_IXOTH)
