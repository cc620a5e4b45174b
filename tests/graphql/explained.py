"""Explains failures in this process; tests/server/test_explaining.py has the child processes of a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from api.auth.access import Access, Principal
from attribution.why_not.find import why_not
from attribution.why_not.model import WhyNot
from store.contract.answers import Label
from store.contract.protocol import Database


class Explained:
    """Has the method of ``api.http.explaining.Explaining``."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def why_nots(
        self, principal: Principal, project_id: str, failure_ids: Sequence[str], most_bytes: int
    ) -> dict[str, list[WhyNot]]:
        store = Access(self._database, principal).project(project_id).store
        failures: list[Any] = await store.get(Label.FAILURE, failure_ids)
        return await why_not(store, failures, most_bytes)


def explained(database: Database) -> Any:
    """For ``Platform.explaining``."""
    return cast("Any", Explained(database))
