"""A runner's end of the process that does its work; see ``api.jobs.child``."""

from __future__ import annotations

import asyncio
import pickle
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from contextlib import suppress

import msgspec

from api.jobs import messages
from api.jobs.messages import HEADER, Broken, End, Refused, Start, Stop, Told
from api.settings import Settings
from schema.control import Job

_decoder = msgspec.json.Decoder(messages.FromChild)
_BROKEN = (ConnectionError, asyncio.IncompleteReadError)


class JobProcess:
    """A process that does one job at a time. It is started with the first one."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: Process | None = None

    async def run(self, job: Job, tell: Callable[[Told], None]) -> End:
        """Have a job done, and return how it ended: ``Broken`` if the process died.

        When this is cancelled the process is killed.
        """
        try:
            process = await self._started()
            self._say(process, Start(job.id, job.project_id, job.kind.value, job.arguments))
            while True:
                message = await self._heard(process)
                if not isinstance(message, Told):
                    break
                tell(message)
        except _BROKEN:
            await self.kill()
            return Broken(is_store=False)
        except BaseException:
            await self.kill()
            raise
        if isinstance(message, Broken) or (isinstance(message, Refused) and message.is_spent):
            await self.kill()
        return message

    def stop(self) -> None:
        """Ask to stop the job; ``run`` comes back when it has."""
        if self._process is not None:
            with suppress(*_BROKEN):
                self._say(self._process, Stop())

    async def kill(self) -> None:
        """End the process at once. Whatever it was writing is stored whole or not at all."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.kill()
        # Also closes the pipes, whatever is still in them.
        with suppress(*_BROKEN):
            await process.communicate()

    async def _started(self) -> Process:
        if self._process is not None and self._process.returncode is None:
            return self._process
        await self.kill()
        # A session of its own: this process handles interrupts from a terminal, and the child does not see them. What
        # the child says for the log goes where this process's log goes.
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "api.jobs.child"), stdin=PIPE, stdout=PIPE, stderr=1, start_new_session=True
        )
        self._process = process
        pickled = pickle.dumps({name: getattr(self._settings, name) for name in type(self._settings).model_fields})
        assert process.stdin is not None
        process.stdin.write(HEADER.pack(len(pickled)) + pickled)
        return process

    def _say(self, process: Process, message: messages.Message) -> None:
        assert process.stdin is not None
        process.stdin.write(messages.encode(message))

    async def _heard(self, process: Process) -> messages.FromChild:
        assert process.stdout is not None
        (length,) = HEADER.unpack(await process.stdout.readexactly(HEADER.size))
        message: messages.FromChild = _decoder.decode(await process.stdout.readexactly(length))
        return message
