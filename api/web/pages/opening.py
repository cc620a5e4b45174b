"""Signs one browser in without a key: the browser of the user who starts the server on their own machine.

The browser opens an address with a code after ``#``. Browsers don't send this part to servers; the page's script posts
the code. A code works once and for a short time, so it is worthless in a browser's history.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from secrets import token_urlsafe

SECONDS = 300.0


class Opening:
    """A code, and the key that it stands for; only this process knows both."""

    def __init__(self, key: str, show: Callable[[str], None], page: str = "/ui", seconds: float = SECONDS) -> None:
        """Make a code.

        Args:
            key: the key that the browser gets for the code.
            show: called with the address, including the code, when the server listens.
            page: the path of the page that the browser sees first.
            seconds: how long the code is valid.
        """
        self.code = token_urlsafe(32)
        self.page = page
        self._show = show
        self._key: str | None = key
        self._until = time.monotonic() + seconds

    def tell(self, url: str) -> None:
        """Call ``show`` with the address at the server at ``url``."""
        self._show(f"{url}/ui/open#{self.code}")

    def take(self, code: str) -> str | None:
        """Return the key for the right code, once and in time; else None."""
        if time.monotonic() > self._until:
            self._key = None
        if self._key is None or not hmac.compare_digest(code.encode("utf-8", "replace"), self.code.encode()):
            return None
        key, self._key = self._key, None
        return key
