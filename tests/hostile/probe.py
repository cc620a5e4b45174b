"""Asks a server for ``/healthz`` all the time: ``python -m tests.hostile.probe HOST PORT``.

Each line says when a request began, by the clock that all processes of the machine share, and how long it took. Only
the standard library is used: this process must be ready quickly and take little of the processor.
"""

from __future__ import annotations

import http.client
import sys
import time

PAUSE_SECONDS = 0.02


def main() -> None:
    """Ask until the process is killed or the server is gone."""
    connection = http.client.HTTPConnection(sys.argv[1], int(sys.argv[2]), timeout=600)
    while True:
        began = time.monotonic()
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        took = time.monotonic() - began
        sys.stdout.write(f"{began} {took}\n")
        sys.stdout.flush()
        time.sleep(max(0.0, PAUSE_SECONDS - took))


if __name__ == "__main__":
    main()
