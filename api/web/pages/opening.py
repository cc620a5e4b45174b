"""Signing one browser in without typing a key: for who starts the server on their own machine.

The address that the browser is sent to holds a code after ``#``, which browsers send to nobody; the page's script posts
it. It is good once, and not for long, so it is worth nothing to who finds it in a history.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from secrets import token_urlsafe

SECONDS = 300.0


class Opening:
    """A code, and the key that it stands for. Both are known to this process alone."""

    def __init__(self, key: str, show: Callable[[str], None], seconds: float = SECONDS) -> None:
        """Make a code.

        Args:
            key: what who has the code is given.
            show: is given the address with the code once the server listens.
            seconds: for how long the code is good.
        """
        self.code = token_urlsafe(32)
        self._show = show
        self._key: str | None = key
        self._until = time.monotonic() + seconds

    def tell(self, url: str) -> None:
        """Show the address with the code, of the server that listens at ``url``."""
        self._show(f"{url}/ui/open#{self.code}")

    def take(self, code: str) -> str | None:
        """The key, once, for the right code in time; else None."""
        if time.monotonic() > self._until:
            self._key = None
        if self._key is None or not hmac.compare_digest(code.encode("utf-8", "replace"), self.code.encode()):
            return None
        key, self._key = self._key, None
        return key
