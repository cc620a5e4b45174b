"""Finds free ports of this machine, for the local servers of Neo4j and NATS."""

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


def problem_of_ports(*ports: int | None) -> str | None:
    """A sentence with the name of a port that another program uses; None if all ports are free.

    None and 0 are skipped.
    """
    for port in ports:
        if port and not is_free(port):
            return f"Port {port} of 127.0.0.1 is taken by another program; choose another one."
    return None


def first_free_port(liked: Iterable[int | None], reserved: int | None) -> int:
    """The first free port of some preferred ports; any free port if none is free.

    Args:
        liked: preferred ports, the most preferred first; None and 0 are skipped.
        reserved: a port that something else is about to use; None if there is none.
    """
    free = (port for port in liked if port and port != reserved and is_free(port))
    return next(free, None) or any_free_port()


def any_free_port() -> int:
    """Any port on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
