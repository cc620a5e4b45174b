"""Waiting until a started server answers a query."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable

import neo4j
from neo4j.exceptions import AuthError, DriverError, Neo4jError

from api.local_servers.neo4j.errors import LocalNeo4jError

_POLL = 0.25
_EXIT_CODES = {
    1: "it could not start",
    2: "its data folder is in use by another process",
    3: "its settings are refused, or its memory did not suffice",
}


def wait_until_ready(port: int, user: str, password: str, ended: Callable[[], str | None], timeout: float) -> None:
    """Polls until the server answers `RETURN 1`.

    Args:
        port: Where the server listens on 127.0.0.1.
        user: The name to log in with.
        password: The user's password.
        ended: Returns how the server's process ended, in words after "The server ended ..."; None while it runs.
        timeout: Seconds after which no further attempt is made.

    Raises:
        LocalNeo4jError: The process ended, refused the password, or did not answer in time.
    """
    # Straight to the one server: routing would log each of the refused attempts.
    uri = f"bolt://127.0.0.1:{port}"
    limit = time.monotonic() + timeout
    while True:
        reason = _refusal(uri, user, password)
        if reason is None:
            return
        end = ended()
        if end is not None:
            raise LocalNeo4jError(f"The server ended {end}.")
        if time.monotonic() > limit:
            raise LocalNeo4jError(f"The server did not answer at {uri} within {timeout:.0f} s ({reason}).")
        time.sleep(_POLL)


def explain(code: int | None) -> str | None:
    """What an exit code of the server's process means; None for None."""
    if code is None:
        return None
    if code < 0:
        return f"by signal {signal.Signals(-code).name}"
    return f"with exit code {code}: {_EXIT_CODES.get(code, 'unknown to us')}"


def _refusal(uri: str, user: str, password: str) -> str | None:
    try:
        with neo4j.GraphDatabase.driver(uri, auth=(user, password), max_transaction_retry_time=0) as driver:
            driver.execute_query("RETURN 1", database_="neo4j")
    except AuthError:
        raise LocalNeo4jError(f"The server at {uri} refuses the password of the home's password file.") from None
    except (DriverError, Neo4jError) as error:
        return type(error).__name__
    return None
