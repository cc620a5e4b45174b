"""The child that does jobs in turn: ``python -m api.jobs.child``.

Work may use the processor for minutes; in a child it delays no request. The child ends with its runner, even if the
runner was killed. Nobody ever sees half-done work.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import TYPE_CHECKING

import msgspec
import structlog

from api.jobs import messages
from api.jobs.messages import Broken, Done, End, Refused, Start, Stop, Stopped, Told
from api.logs import set_up_logs
from api.processes import memory
from api.processes.children import Parent
from api.settings.child import begin
from schema.control import JobKind
from schema.errors import MemTraceError, StoreError

if TYPE_CHECKING:
    from api.jobs.uploads import Uploads
    from api.settings import Settings
    from store.contract.protocol import Database

_TELL_SECONDS = 0.1
_NO_MEMORY = "this needs more memory than the limit of {:,} bytes of a job's process (job_memory_bytes)"
_log = structlog.get_logger("memtrace.jobs")


class JobExecutor:
    """Does the jobs that the runner sends, and reports how they end."""

    def __init__(self, settings: Settings, parent: Parent) -> None:
        self._settings = settings
        self._parent = parent
        self._starts: asyncio.Queue[Start] = asyncio.Queue()
        self._is_stopping = False
        self._can_interrupt = False
        self._work: asyncio.Task[End] | None = None
        self._next_told = 0.0

    async def run(self) -> None:
        """Do jobs until the runner is gone."""
        from api.jobs.uploads import Uploads, uploads_uri
        from api.settings.loading import open_store

        loop = asyncio.get_running_loop()
        self._parent.listen(lambda data: self._take(data, loop))
        async with await open_store(self._settings) as database:
            uploads = Uploads(uploads_uri(self._settings))
            while True:
                start = await self._starts.get()
                self._next_told = 0.0
                with structlog.contextvars.bound_contextvars(project=start.project_id, job=start.job_id):
                    self._work = asyncio.create_task(self._do(start, database, uploads))
                    self._parent.say(await self._work)

    def _take(self, data: bytes, loop: asyncio.AbstractEventLoop) -> None:
        """Take a message, on the thread that listens."""
        message = msgspec.json.decode(data, type=messages.ToChild)
        if isinstance(message, Stop):
            self._is_stopping = True
            loop.call_soon_threadsafe(self._interrupt)
        else:
            # Reset here and not when the work begins: a request to stop the work may have come by then.
            self._is_stopping = False
            loop.call_soon_threadsafe(self._starts.put_nowait, message)

    def _interrupt(self) -> None:
        """Cancel the work if that is safe. An import checks for itself whether it should stop."""
        if self._work is not None and self._can_interrupt:
            self._work.cancel()

    async def _do(self, start: Start, database: Database, uploads: Uploads) -> End:
        from api.jobs.work import run
        from api.jobs.work.context import Cancelled, Context

        kind = JobKind(start.kind)
        # The threads of an import would go on if its task were cancelled, so an import ends by itself.
        self._can_interrupt = kind is not JobKind.IMPORT
        limits = (self._settings.max_inflated_bytes, self._settings.max_inflated_ratio)
        context = Context(
            database.project(start.project_id), database.records(start.project_id), uploads, self._tell, *limits
        )
        try:
            return Done(msgspec.json.encode(await run(kind, start.arguments, context)).decode())
        except (Cancelled, asyncio.CancelledError):
            return Stopped()
        except StoreError as error:
            _log.warning("the store could not be used", reason=str(error))
            return Broken(is_store=True)
        except MemTraceError as error:
            return Refused(str(error))
        except MemoryError:
            # Another attempt would need as much memory.
            memory.spare(self._settings.job_memory_bytes)
            _log.warning("job needs more memory than it may take", limit=self._settings.job_memory_bytes)
            return Refused(_NO_MEMORY.format(self._settings.job_memory_bytes), is_spent=True)
        except Exception:
            _log.exception("job failed unexpectedly")
            return Broken(is_store=False)

    def _tell(self, stage: str, done: int, total: int) -> None:
        from api.jobs.work.context import Cancelled

        if self._is_stopping:
            raise Cancelled
        now = time.monotonic()
        if now >= self._next_told or done == total:
            self._next_told = now + _TELL_SECONDS
            self._parent.say(Told(stage, done, total))


def main() -> None:
    """Take the settings, then jobs."""
    begun = begin()
    if begun is None:
        return
    settings, parent = begun
    set_up_logs(settings.log_level, settings.log_format)
    memory.hold_little()
    memory.bound(settings.job_memory_bytes)
    try:
        asyncio.run(JobExecutor(settings, parent).run())
    except BrokenPipeError:
        sys.exit(0)


if __name__ == "__main__":
    main()
