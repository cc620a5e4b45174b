"""Rights to the files that a command makes."""

from __future__ import annotations

import os

_OWNER = 0o700


def keep_own_rights() -> None:
    """Let the owner of new files read and write them, even if the umask of the process says otherwise.

    Under a umask such as 0277, a server could not open its own files a second time.
    """
    mask = os.umask(0o077)
    os.umask(mask & ~_OWNER)
