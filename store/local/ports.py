"""Ports of this machine."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterable


def is_free(port: int) -> bool:
    """Whether nothing listens on a port of this machine."""
    with socket.socket() as probe:
        if sys.platform != "win32":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # closed connections in TIME_WAIT don't count
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def first_free_port(liked: Iterable[int | None], reserved: int | None) -> int:
    """The first of some ports that nothing listens on now; any such port where there is none among them.

    Args:
        liked: in the order in which they are tried; None and 0 are none.
        reserved: the one that something else is about to use, if any.
    """
    free = (port for port in liked if port and port != reserved and is_free(port))
    return next(free, None) or any_free_port()


def any_free_port() -> int:
    """A port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
