"""Explaining failures while a reader waits, in child processes that a time limit can end.

How long an explanation takes depends on the recorded texts, which anybody who may write can choose.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from api.auth.access import Access, Principal
from api.errors import TooLongError, TooManyError
from api.processes.helper import HelperPool
from api.settings import Settings

if TYPE_CHECKING:
    from attribution.why_not.model import WhyNot
    from store.contract.protocol import Database

_AT_A_TIME = 2
"""Number of explanations that are worked out at the same time, at most one for each project."""

_INSTEAD = "run memtrace why-not, which has no time limit"

_runner = cache(asyncio.Runner)
_databases: list[Database] = []
"""The store of the server, once a child has opened it."""


class Explaining:
    """Works out the explanations of one server."""

    def __init__(self, settings: Settings) -> None:
        """Prepare; no process is started yet."""
        self._settings = {name: getattr(settings, name) for name in type(settings).model_fields}
        self._seconds = settings.explain_seconds
        self._memory_bytes = settings.job_memory_bytes
        self._helpers = HelperPool(_AT_A_TIME, settings.job_memory_bytes)

    async def why_nots(
        self, principal: Principal, project_id: str, failure_ids: Sequence[str], most_bytes: int
    ) -> dict[str, list[WhyNot]]:
        """What the memory had and did not choose; see ``attribution.why_not.find.why_not``.

        Args:
            principal: who asks; verdicts that are withheld from the principal are not told.
            project_id: the project.
            failure_ids: failures of the project.
            most_bytes: failures of traces with more text to search are left out.

        Raises:
            TooLongError: this took longer than the time limit.
            TooManyError: this needs too much memory.
            StoreError: the store can't be used, or the process was killed.
        """
        try:
            return await self._helpers.run(
                project_id,
                self._seconds,
                _why_nots,
                self._settings,
                principal,
                project_id,
                list(failure_ids),
                most_bytes,
            )
        except TimeoutError:
            raise TooLongError(self._seconds, _INSTEAD) from None
        except MemoryError:
            raise TooManyError("bytes of memory needed to explain this", self._memory_bytes, _INSTEAD) from None

    async def close(self) -> None:
        """Explain no more."""
        await self._helpers.close()


def _why_nots(
    settings: dict[str, Any], principal: Principal, project_id: str, failure_ids: list[str], most_bytes: int
) -> dict[str, list[WhyNot]]:
    """The explanations, in the child."""
    return _runner().run(_found(settings, principal, project_id, failure_ids, most_bytes))


async def _found(
    settings: dict[str, Any], principal: Principal, project_id: str, failure_ids: list[str], most_bytes: int
) -> dict[str, list[WhyNot]]:
    from attribution.why_not.find import why_not
    from schema.models import Failure
    from store.contract.answers import Label

    store = Access(await _opened(settings), principal).any_project(project_id).store
    failures = [one for one in await store.get(Label.FAILURE, failure_ids) if isinstance(one, Failure)]
    return await why_not(store, failures, most_bytes)


async def _opened(settings: dict[str, Any]) -> Database:
    from api.settings.loading import open_store

    if not _databases:
        _databases.append(await open_store(Settings.model_construct(**settings)))
    return _databases[0]
