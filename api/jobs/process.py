"""The runner's side of its child; see ``api.jobs.child``."""

from __future__ import annotations

from asyncio.subprocess import Process
from collections.abc import Callable
from contextlib import suppress

import msgspec

from api.jobs import messages
from api.jobs.messages import Broken, End, Refused, Start, Stop, Told
from api.processes.children import GONE, heard, kill, say
from api.settings import Settings
from api.settings.child import start_with_settings
from schema.control import Job

_decoder = msgspec.json.Decoder(messages.FromChild)


class JobProcess:
    """A process that does one job at a time. It is started with the first one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: Process | None = None

    async def run(self, job: Job, tell: Callable[[Told], None]) -> End:
        """Have a job done, and return how it ended: ``Broken`` if the process died.

        If the call is cancelled, the process is killed.
        """
        try:
            process = await self._started()
            say(process, Start(job.id, job.project_id, job.kind.value, job.arguments))
            while True:
                message: messages.FromChild = _decoder.decode(await heard(process))
                if not isinstance(message, Told):
                    break
                tell(message)
        except GONE:
            await self.kill()
            return Broken(is_store=False)
        except BaseException:
            await self.kill()
            raise
        if isinstance(message, Broken) or (isinstance(message, Refused) and message.is_spent):
            await self.kill()
        return message

    def stop(self) -> None:
        """Ask to stop the job; ``run`` returns when it has stopped."""
        if self._process is not None:
            with suppress(*GONE):
                say(self._process, Stop())

    async def kill(self) -> None:
        """End the process at once. A write under way is stored whole or not at all."""
        process, self._process = self._process, None
        if process is not None:
            await kill(process)

    async def _started(self) -> Process:
        if self._process is not None and self._process.returncode is None:
            return self._process
        await self.kill()
        self._process = process = await start_with_settings("api.jobs.child", self._settings)
        return process
